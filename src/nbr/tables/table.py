"""Rows of codes with holes, and which columns they show together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nbr.world import World

TOGETHER = 30  # rows from which columns count as seen together
MOST_VIEWS = 24
SAMPLE = 1 << 18  # rows drawn from a table in which they cannot be counted


@dataclass(frozen=True)
class Table:
    """Rows of codes; NaN is a cell that was not observed; below 0, for a bit or choice, a value nobody knows."""

    world: World
    codes: Tensor  # (rows, variables), float64
    notes: tuple[str, ...] = ()  # what was inferred and left out, a line each
    counts: Tensor | None = None  # how often each row of codes was seen; None: once each

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def rows(self) -> int:
        """How many there are, counted ones as often as they were seen."""
        return len(self) if self.counts is None else int(self.counts.sum())

    def one_by_one(self, seed: int = 0) -> Table:
        """Rows that are not counted: of a counted table as many as can be kept, drawn at random."""
        if self.counts is None:
            return self
        held, _ = split_counts(self.counts, min(SAMPLE, self.rows), seed)
        note = f"{int(held.sum()):,} of {self.rows:,} rows, drawn at random"
        return Table(self.world, self.codes.repeat_interleave(held, dim=0), (*self.notes, note))

    @property
    def complete(self) -> bool:
        return not bool(self.codes.isnan().any())

    @property
    def together(self) -> int:
        """How many rows must show columns together: 30, or a tenth of the rows where there are fewer than 300."""
        return max(1, min(TOGETHER, self.rows // 10))

    def views(self, most: int = MOST_VIEWS) -> list[tuple[str, ...]]:
        """Sets of columns that enough rows show together, each as large as it can be, and every column in one.

        They are found from pairs, the most often seen first: each pair that no set has yet grows by the column that
        most rows show beside it, while `together` rows do. There are at most `most` of several columns: where holes
        are everywhere some pairs may be in none, but no set has columns that too few rows show together.
        """
        patterns, member = torch.unique(~self.codes.isnan(), dim=0, return_inverse=True)
        shown, weight = patterns.double(), torch.zeros(len(patterns), dtype=torch.float64)
        weight.index_add_(0, member, self._weights)
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
        return [max(1, int(shown[:, each].all(dim=1).double() @ self._weights)) for each in columns]

    def part(self, rows: Tensor) -> Table:
        return Table(self.world, self.codes[rows], self.notes, None if self.counts is None else self.counts[rows])

    @property
    def _weights(self) -> Tensor:
        ones = torch.ones(len(self), dtype=torch.float64)
        return ones if self.counts is None else self.counts.double()


def split_counts(counts: Tensor, some: int, seed: int) -> tuple[Tensor, Tensor]:
    """So many of counted rows drawn at random without putting them back, as counts, and the counts of the others."""
    source = np.random.default_rng(seed)
    held = torch.from_numpy(source.multivariate_hypergeometric(counts.numpy(), some, method="marginals"))
    return held, counts - held


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
