"""A variable as a row of places: the values of a bit or a choice, or the pieces of a number between cuts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nbr.language import And, Atom, Constant, Expression, Not, Or
from nbr.world import Variable, World

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """A variable and its places; a number has one more than `cuts`, the piece from a cut on belongs to the right."""

    name: str
    variable: Variable
    cuts: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        return len(self.cuts) + 1 if self.variable.numeric else len(self.variable.labels)

    def places(self, column: Tensor) -> Places:
        """Where values of the variable stand."""
        if self.variable.numeric:
            found = np.searchsorted(np.array(self.cuts), column.numpy(), side="right")
        else:
            found = column.long().numpy()
        return found.astype(np.int64)

    def values(self) -> Tensor:
        """A value of the variable for each place."""
        if not self.variable.numeric:
            return torch.arange(self.size, dtype=torch.float64)
        edges = [self.variable.low, *self.cuts, self.variable.high]
        step = self.variable.step
        middles = [(low + high) / 2 for low, high in pairwise(edges)]
        if step:  # the cut itself is a value; the middle need not be
            middles = [min(high, low + step * ((high - low) / step // 2)) for low, high in pairwise(edges)]
        return torch.tensor(middles, dtype=torch.float64)

    def among(self, places: Collection[int]) -> Expression:
        """The statement that the variable is at one of some places."""
        chosen = sorted(set(places))
        if not chosen or len(chosen) == self.size:
            return Constant(bool(chosen))
        if self.variable.boolean:
            return Atom(self.name) if chosen == [1] else Not(Atom(self.name))
        if not self.variable.numeric:
            return self._labels(self.variable.labels, chosen)
        pieces = [self._piece(first, last) for first, last in _runs(chosen)]
        return pieces[0] if len(pieces) == 1 else Or(tuple(pieces))

    def _labels(self, labels: Sequence[str], chosen: list[int]) -> Expression:
        if len(chosen) == 1:
            return Atom(self.name, "=", (labels[chosen[0]],))
        if len(chosen) == len(labels) - 1:
            (left_out,) = set(range(len(labels))) - set(chosen)
            return Atom(self.name, "!=", (labels[left_out],))
        return Atom(self.name, "in", tuple(labels[place] for place in chosen))

    def _piece(self, first: int, last: int) -> Expression:
        assert self.variable.numeric
        step = self.variable.step
        if step and 0 < first == last < self.size - 1 and self.cuts[last] - self.cuts[first - 1] < 1.5 * step:
            return Atom(self.name, "=", (self.variable.show(self.cuts[first - 1]),))
        ends = []
        if first > 0:
            ends.append(Atom(self.name, ">=", (self.variable.show(self.cuts[first - 1]),)))
        if last < self.size - 1:
            ends.append(Atom(self.name, "<", (self.variable.show(self.cuts[last]),)))
        return ends[0] if len(ends) == 1 else And(tuple(ends))


def _runs(places: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place - 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found


def axes_of(world: World, names: Iterable[str], cuts: dict[str, tuple[float, ...]]) -> list[Axis]:
    return [Axis(name, world.variables[name], cuts.get(name, ())) for name in names]
