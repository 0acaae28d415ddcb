"""The largest share P(Q and C) / P(C) over all distributions with given parts.

N - u D, with N the mass of Q and C and D that of C, is linear in a distribution, and the largest ratio is the u at
which its maximum is 0 (Dinkelbach 1967); Charnes and Cooper's linear program has the same value. The maximum over all
couplings of two sides is a greedy one where a side has two classes, and a linear program else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nbr.errors import NbrError

Floats = np.ndarray
ROUNDS = 100
LEAST = 1e-12  # of mass that is more than rounding
AT_ONCE = 1 << 15  # unknowns of one linear program


class Family(ABC):
    """All distributions with given parts over cells; Q and C are told for every cell."""

    question: Floats  # 1 where Q and C hold
    condition: Floats  # 1 where C holds

    @abstractmethod
    def best(self, payoff: Floats) -> Floats:
        """The member with the largest total payoff: a mass for each cell."""

    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest P(Q | C) among members with P(C) > 0; None if there are none."""
        if (self.best(self.condition) * self.condition).sum() <= LEAST:
            return None
        return 1 - self._highest(self.condition - self.question), self._highest(self.question)

    def _highest(self, wanted: Floats) -> float:
        share = 0.0
        for _ in range(ROUNDS):
            mass = self.best(wanted - share * self.condition)
            yes, whole = float((mass * wanted).sum()), float((mass * self.condition).sum())
            if yes - share * whole <= LEAST * whole or whole <= LEAST or yes / whole <= share:
                break
            share = yes / whole
        return min(share, 1.0)


@dataclass(frozen=True)
class Couplings(Family):
    """Two sides that share z: the mass of (z, x) and of (z, y) is given, and how x and y go together is not."""

    left: Floats  # (z, x)
    right: Floats  # (z, y)
    question: Floats  # (z, x, y)
    condition: Floats

    def best(self, payoff: Floats) -> Floats:
        if self.right.shape[1] <= 2:
            return _greedy(self.left, self.right, payoff)
        if self.left.shape[1] <= 2:
            return _greedy(self.right, self.left, payoff.swapaxes(1, 2)).swapaxes(1, 2)
        size = max(1, AT_ONCE // payoff[0].size)
        parts = [slice(at, at + size) for at in range(0, len(payoff), size)]
        return np.concatenate([_transport(self.left[at], self.right[at], payoff[at]) for at in parts])


def _greedy(left: Floats, right: Floats, payoff: Floats) -> Floats:
    """With two classes on the right, what is in the second goes where it gains most."""
    mass = np.zeros_like(payoff)
    if right.shape[1] == 1:
        mass[:, :, 0] = left
        return mass
    order = np.argsort(payoff[:, :, 0] - payoff[:, :, 1], axis=1, kind="stable")
    room = np.take_along_axis(left, order, axis=1)
    before = np.cumsum(room, axis=1) - room
    second = np.clip(right[:, 1:] - before, 0.0, room)
    np.put_along_axis(mass[:, :, 1], order, second, axis=1)
    mass[:, :, 0] = np.maximum(left - mass[:, :, 1], 0.0)
    return mass


def _transport(left: Floats, right: Floats, payoff: Floats) -> Floats:
    """One linear program for many z, each with its own sides."""
    _, rows, columns = payoff.shape
    z, x, y = (index.ravel() for index in np.indices(payoff.shape))
    scale = left.sum(axis=1)
    scale = np.where(scale > 0, scale, 1.0)[:, None]  # so that rare z are solved as closely as others
    groups = [z * rows + x, z * columns + y]
    found = _solve(payoff.ravel(), groups, [(left / scale).ravel(), (right / scale).ravel()])
    return found.reshape(payoff.shape) * scale[:, :, None]


@dataclass(frozen=True)
class Joint(Family):
    """All distributions over listed cells for which sums over groups of them are given."""

    groups: tuple[Floats, ...]  # for each part, the group of every cell
    sums: tuple[Floats, ...]  # for each part, the mass of every group
    question: Floats  # (cells,)
    condition: Floats

    def best(self, payoff: Floats) -> Floats:
        return _solve(payoff, self.groups, self.sums)


def _solve(payoff: Floats, groups: Sequence[Floats], sums: Sequence[Floats]) -> Floats:
    """The masses with the largest payoff whose sums over groups of cells are as given."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, vstack

    cells, ones = np.arange(len(payoff)), np.ones(len(payoff))
    rows = [
        coo_array((ones, (group, cells)), shape=(len(total), len(payoff)))
        for group, total in zip(groups, sums, strict=True)
    ]
    found = linprog(-payoff, A_eq=vstack(rows).tocsr(), b_eq=np.concatenate(sums), bounds=(0, None), method="highs")
    if found.x is None:
        raise NbrError(f"the linear program for what stays open was not solved: {found.message}")
    mass: Floats = np.maximum(found.x, 0.0)
    return mass
