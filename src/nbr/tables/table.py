"""Rows of codes with holes, and which columns they show together."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.world import World

TOGETHER = 30  # rows from which columns count as seen together
MOST_VIEWS = 24


@dataclass(frozen=True)
class Table:
    """Rows of codes; NaN is a cell that was not observed; below 0, for a bit or choice, a value nobody knows."""

    world: World
    codes: Tensor  # (rows, variables), float64
    notes: tuple[str, ...] = ()  # what was inferred and left out, a line each

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def complete(self) -> bool:
        return not bool(self.codes.isnan().any())

    @property
    def together(self) -> int:
        """How many rows must show columns together: 30, or a tenth of the rows where there are fewer than 300."""
        return max(1, min(TOGETHER, len(self) // 10))

    def views(self, most: int = MOST_VIEWS) -> list[tuple[str, ...]]:
        """Sets of columns that enough rows show together, each as large as it can be, and every column in one.

        They are found from pairs, the most often seen first: each pair that no set has yet grows by the column that
        most rows show beside it, while `together` rows do. There are at most `most` of several columns: where holes
        are everywhere some pairs may be in none, but no set has columns that too few rows show together.
        """
        patterns, counts = torch.unique(~self.codes.isnan(), dim=0, return_counts=True)
        shown, weight = patterns.double(), counts.double()
        pairs = (shown * weight[:, None]).T @ shown
        left = torch.triu(pairs, diagonal=1).masked_fill(pairs < self.together, 0.0)
        found: list[frozenset[int]] = []
        while len(found) < most and bool((left > 0).any()):
            first, second = divmod(int(left.argmax()), len(self.world))
            view = _grown([first, second], patterns, weight, self.together)
            members = torch.tensor(sorted(view))
            left[members[:, None], members] = 0.0
            found.append(view)
        alone = set(range(len(self.world))).difference(*found)
        sets = [sorted(view) for view in found] + [[column] for column in sorted(alone)]
        return [tuple(self.world.names[column] for column in view) for view in sorted(sets)]

    def view_rows(self) -> list[int]:
        """How many rows show each of `views`, in the same order."""
        shown = ~self.codes.isnan()
        columns = [[self.world.column(name) for name in view] for view in self.views()]
        return [max(1, int(shown[:, each].all(dim=1).sum())) for each in columns]

    def part(self, rows: Tensor) -> Table:
        return Table(self.world, self.codes[rows], self.notes)


def _grown(view: list[int], patterns: Tensor, weight: Tensor, need: int) -> frozenset[int]:
    inside = patterns[:, view].all(dim=1)
    while True:
        beside = (patterns & inside[:, None]).double().T @ weight
        beside[view] = 0.0
        best = int(beside.argmax())
        if beside[best] < need:
            return frozenset(view)
        view = [*view, best]
        inside = inside & patterns[:, best]
