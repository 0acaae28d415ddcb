"""Expectations by counting: the probability of the worlds that allow a point, without a list of points.

At a level t of grade every rule is a statement, and the worlds that allow a point with all present grades at least t
are the projections of the models of one formula onto its selectors. By the layer-cake formula

    E max over z of mu_Y(z) = sum over levels t_j of (t_j - t_(j-1)) P(some point reaches t_j),

and the probability falls as the level rises: levels that were not counted lie between their neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import torch

from nbr.inference import ganak
from nbr.inference.formula import Formula
from nbr.inference.problem import Estimate, Limits

UNIONS = ("yes", "no", "all")
LEAST = 0.05  # seconds that a count may always take


@dataclass
class Counted:
    """P(some point reaches a level) for the levels counted so far, and what follows for the expectations."""

    levels: Sequence[float]
    known: dict[int, tuple[float, ...]] = field(default_factory=dict)

    def bounds(self) -> tuple[list[float], list[float]]:
        """Expectations of each union from below and from above."""
        low, high = [0.0] * len(UNIONS), [0.0] * len(UNIONS)
        for left, right in self._gaps():
            roof = (1.0,) * len(UNIONS) if left < 0 else self.known[left]
            floor = self.known[right] if right < len(self.levels) else (0.0,) * len(UNIONS)
            start, end = (self.levels[at] if at >= 0 else 0.0 for at in (left, right - 1))
            last = self.levels[right] - end if right < len(self.levels) else 0.0
            for union in range(len(UNIONS)):
                low[union] += (end - start + last) * floor[union]
                high[union] += (end - start) * roof[union] + last * floor[union]
        return low, high

    def _gaps(self) -> list[tuple[int, int]]:
        """Neighbours among the levels counted, from before the first to behind the last."""
        edges = [-1, *sorted(self.known), len(self.levels)]
        return [(a, b) for a, b in pairwise(edges) if a + 1 < len(self.levels)]

    def next(self) -> int | None:
        """The level that would narrow the bounds most: in the middle of the widest and highest gap."""
        if not self.known:
            return len(self.levels) - 1
        best, gain = None, 0.0
        for left, right in self._gaps():
            if right - left < 2:
                continue
            roof = (1.0,) * len(UNIONS) if left < 0 else self.known[left]
            start = 0.0 if left < 0 else self.levels[left]
            drop = max(a - b for a, b in zip(roof, self.known[right], strict=True))
            worth = drop * (self.levels[right - 1] - start)
            if worth > gain:
                middle = (start + self.levels[right - 1]) / 2
                inside = range(left + 1, right)
                best, gain = min(inside, key=lambda number: abs(self.levels[number] - middle)), worth
        return best


def solve(levels: Sequence[float], formula: Callable[[float], Formula], limits: Limits) -> Estimate:
    """Count level after level until all are known, the bounds are narrow, or time is up."""
    counted = Counted(levels)
    while (number := counted.next()) is not None:
        found = _counts(formula(levels[number]), limits.deadline)
        if found is None:
            break
        counted.known[number] = found
        low, high = counted.bounds()
        if len(counted.known) < len(levels) and _narrow(low, high, limits.tolerance):
            break
    low, high = counted.bounds()
    exact = counted.next() is None
    ends = [torch.tensor(low if exact else end, dtype=torch.float64) for end in (low, high)]
    return Estimate(ends[0], ends[1], "counting")


def _narrow(low: Sequence[float], high: Sequence[float], tolerance: float) -> bool:
    whole = low[-1]
    return whole > 0 and max(b - a for a, b in zip(low, high, strict=True)) <= tolerance * whole / 2


def _counts(formula: Formula, deadline: float) -> tuple[float, ...] | None:
    """P(some point for the question), P(some point against it), P(some point)."""
    found = []
    for union in UNIONS:
        value = probability(formula, union, max(deadline, time.monotonic() + LEAST))
        if value is None:
            return None
        found.append(value)
    return tuple(found)


def probability(formula: Formula, union: str, deadline: float) -> float | None:
    """The probability of the worlds that allow a point of a union."""
    clauses = formula.asking(union)
    weights, spare = [], formula.variables + 1  # the spare one keeps the list of what is counted from being empty
    for selector, belief in zip(formula.selectors, formula.beliefs.tolist(), strict=True):
        if belief in (0.0, 1.0):
            clauses.append((selector if belief else -selector,))
        else:
            weights.append((selector, belief))
    counted = None if formula.determined else [*(selector for selector, _ in weights), spare]
    value = ganak.count(clauses, spare, [*weights, (spare, 0.5)], counted, deadline)
    return None if value is None else min(max(value, 0.0), 1.0)
