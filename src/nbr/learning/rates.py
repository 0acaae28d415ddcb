"""Base rates that rules leave as they are.

A prior in which every column is as often as rows have it is the first thing that rows say. Rules on top of it would
move what their columns are by themselves: `a -> b` makes b more common and a less so. So the columns that rules read
get weights for their values, of either sign, which are learned together with the beliefs of the rules, until every
column is again what it is by itself. In the end these weights are part of the prior.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from nbr.learning.coarse import Broken, Coarse
from nbr.learning.loglinear import Agreed, DrawSource, agree
from nbr.priors import Independent

WORDS = "prior: base rates, the frequencies of each column"


class Rates:
    """A source of draws whose columns of bits and labels keep their base rates, whatever rules join it."""

    def __init__(self, coarse: Coarse, source: DrawSource, masses: Sequence[np.ndarray], kept: Sequence[str]) -> None:
        self.coarse, self.source, self.masses = coarse, source, masses
        self.kept = {coarse.world.column(name) for name in kept}
        self.moved = {at: np.zeros(len(masses[at])) for at in self.kept}  # log of what a class has become rarer by

    def agree(self, rules: Sequence[Broken], seen: np.ndarray, rows: np.ndarray, start: np.ndarray) -> Agreed:
        """The weights of rules at which they are broken as often as rows break them, and columns stay as they are."""
        values = self._values({at for rule in rules for at in rule.columns})
        each = [_only(at, value, len(self.masses[at])) for at, value in values]
        found = agree(
            [*rules, *each],
            np.array([*seen, *(self.masses[at][value] for at, value in values)]),
            np.array([*rows, *[max(rows, default=0)] * len(values)]),
            np.array([*start, *(self.moved[at][value] for at, value in values)]),
            self.source,
            np.array([False] * len(rules) + [True] * len(values), dtype=bool),
        )
        count = len(rules)
        for (at, value), weight in zip(values, found.weights[count:], strict=True):
            self.moved[at][value] = weight
        return Agreed(found.weights[:count], found.broken[:count], found.draws, found.errors[:count])

    def prior(self, before: Independent) -> Independent:
        """The prior with the weights of columns in it."""
        columns = list(before.columns)
        for at in self.kept:
            values = torch.zeros(len(columns[at]), len(columns), dtype=torch.float64)
            values[:, at] = torch.arange(len(columns[at]))
            classes = self.coarse.columns[at].find(values)
            columns[at] = columns[at] * torch.from_numpy(np.exp(-self.moved[at]))[classes]
            columns[at] = columns[at] / columns[at].sum()
        return Independent(before.world, columns)

    def _values(self, columns: set[int]) -> list[tuple[int, int]]:
        """The classes that get a weight: of each column all but the most frequent one, and none that is never seen."""
        found = []
        for at in sorted(columns & self.kept):
            often = int(self.masses[at].argmax())
            found += [(at, value) for value in np.flatnonzero(self.masses[at]).tolist() if value != often]
        return found


def _only(column: int, value: int, size: int) -> Broken:
    return Broken((column,), (1,), np.arange(size) == value)
