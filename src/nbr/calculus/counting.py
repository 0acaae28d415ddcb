"""Expectations by counting: the probability of the worlds that allow a point, without a list of points.

At a level t of grade every rule is a statement, and the worlds that allow a point with all present grades at least t
are the projections of the models of one formula onto its selectors. By the layer-cake formula

    E max over z of mu_Y(z) = sum over levels t_j of (t_j - t_(j-1)) P(some point reaches t_j),

and the probability falls as the level rises: levels that were not counted lie between their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

import torch

from nbr import clock
from nbr.calculus import cores, ganak, sat
from nbr.calculus.avoiding import avoiding
from nbr.calculus.completion import completed
from nbr.calculus.formula import UNIONS, Clause, Formula
from nbr.calculus.problem import Estimate, Interval
from nbr.calculus.resolution import GROWTH, eliminated
from nbr.clock import OutOfTime
from nbr.ways import SHARES, Limits

LEAST = 0.05  # seconds that a count may always take
TAKEN = 0.25  # seconds that all around it may always take
MANY, DENSE = 30, 4  # variables left, and clauses for each, beyond which a counter hardly finishes ...


Weight = tuple[int, float]
Shares = tuple[Interval, ...]  # for each union, bounds on P(some point of it reaches a level)
NOTHING: Shares = ((0.0, 1.0),) * len(UNIONS)


@dataclass
class LevelCounts:
    """P(some point reaches a level) for the levels counted so far, and what follows for the expectations."""

    levels: Sequence[float]
    known: dict[int, Shares] = field(default_factory=dict)

    def bounds(self) -> tuple[list[float], list[float]]:
        """Expectations of each union from below and from above."""
        low, high = [0.0] * len(UNIONS), [0.0] * len(UNIONS)
        for left, right in self._gaps():
            roof = NOTHING if left < 0 else self.known[left]
            floor = self.known[right] if right < len(self.levels) else ((0.0, 0.0),) * len(UNIONS)
            start, end = (self.levels[at] if at >= 0 else 0.0 for at in (left, right - 1))
            last = self.levels[right] - end if right < len(self.levels) else 0.0
            for union in range(len(UNIONS)):
                low[union] += (end - start + last) * floor[union][0]
                high[union] += (end - start) * roof[union][1] + last * floor[union][1]
        return low, high

    def next(self) -> int | None:
        """The level that would narrow the bounds most: in the middle of the widest and highest gap."""
        if not self.known:
            return len(self.levels) - 1
        best, gain = None, 0.0
        for left, right in self._gaps():
            if right - left < 2:
                continue
            roof = NOTHING if left < 0 else self.known[left]
            floor = self.known[right] if right < len(self.levels) else ((0.0, 0.0),) * len(UNIONS)
            start, end = (self.levels[at] if at >= 0 else 0.0 for at in (left, right - 1))
            worth = (end - start) * max(a[1] - b[0] for a, b in zip(roof, floor, strict=True))
            if worth > gain:
                inside = range(left + 1, right)
                best, gain = min(inside, key=lambda number: abs(self.levels[number] - (start + end) / 2)), worth
        return best

    def _gaps(self) -> list[tuple[int, int]]:
        """Neighbours among the levels counted, from before the first to behind the last."""
        edges = [-1, *sorted(self.known), len(self.levels)]
        return [(a, b) for a, b in pairwise(edges) if a + 1 < len(self.levels)]


def solve(
    levels: Sequence[float], formula: Callable[[float], Formula], limits: Limits, whole: float | None = None
) -> Estimate:
    """Count level after level until all are known, the bounds are narrow, or time is up.

    `whole` is the probability that there is a point at all, if that is known and there is only one level.
    """
    counted, before = LevelCounts(levels), dict[object, Shares]()
    while (number := counted.next()) is not None:
        asked, found, finished = formula(levels[number]), NOTHING, False
        same = asked.question, asked.selectors, tuple(asked.clauses)
        if same in before:  # numbers are named otherwise, and tell the same apart
            found, finished = before[same], True
        else:
            with suppress(OutOfTime), clock.until(max(limits.deadline, clock.now() + TAKEN)):
                found, finished = _counts(asked, limits.deadline, whole if len(levels) == 1 else None)
        if finished and len(levels) > 1:
            before[same] = found
        counted.known[number] = found
        low, high = counted.bounds()
        if not finished or (len(counted.known) < len(levels) and _narrow(low, high, limits.tolerance)):
            break
    low, high = counted.bounds()
    return Estimate(torch.tensor(low, dtype=torch.float64), torch.tensor(high, dtype=torch.float64), "counting")


def _narrow(low: Sequence[float], high: Sequence[float], tolerance: float) -> bool:
    whole = low[-1]
    return whole > 0 and max(b - a for a, b in zip(low, high, strict=True)) <= tolerance * whole / 2


def _counts(formula: Formula, deadline: float, whole: float | None) -> tuple[Shares, bool]:
    """P(some point of a union) for each, and whether there was time for all."""
    if sat.available() and formula.monotone:
        unions = ("yes", "no", *(("all",) if whole is None else ()))
        few = cores.probabilities(formula, unions, lambda: _share(deadline, SHARES["few cores"]))
        if few is not None:
            values = (few[0], few[1], few[2] if whole is None else whole)
            return tuple((value, value) for value in values), True
    if not formula.monotone:
        return _closed(formula, deadline, whole)
    # What all unions share is done once.
    left = eliminated(formula.clauses, {*formula.selectors, *formula.chance, abs(formula.question)}, deadline)
    if left is None:
        return ((0.0, 0.0),) * len(UNIONS), True
    formula = replace(formula, clauses=left)
    if whole is None:
        whole = probability(formula, "all", max(deadline, clock.now() + LEAST))
    if whole is None:
        return NOTHING, False
    found: list[Interval] = []
    for union in ("yes", "no"):
        value = probability(formula, union, deadline) if whole > 0 else 0.0
        # Every world has a point of one or of the other, so what one has not the other must.
        least = max(0.0, whole - found[0][1]) if found else 0.0
        found.append((least, whole) if value is None else (value, value))
    shares = (*found, (whole, whole))
    return shares, all(low == high for low, high in shares)


def _closed(formula: Formula, deadline: float, whole: float | None) -> tuple[Shares, bool]:
    """With closed variables: they are told by so many numbers that resolution only blurs what defines them."""
    found: list[float | None] = []
    for union in ("yes", "no", *(() if formula.settled or whole is not None else ("all",))):
        found.append(_directly(formula, union, deadline))
    yes, no = found[0], found[1]
    if whole is None:
        whole = found[2] if len(found) > 2 else None if yes is None or no is None else yes + no
    ends = [(0.0, 1.0) if value is None else (value, value) for value in (yes, no, whole)]
    return tuple(ends), None not in (yes, no, whole)


def _directly(formula: Formula, union: str, deadline: float) -> float | None:
    """The clauses as they are, counted by what is independent."""
    chance = formula.chance
    certain = [(s if belief else -s,) for s, belief in chance.items() if belief in (0.0, 1.0)]
    spare = formula.variables + 1  # so that something is weighed
    weighed = {**{s: belief for s, belief in chance.items() if 0 < belief < 1}, spare: 0.5}
    number, clauses, weights = _renumbered([*formula.asking(union), *certain, (spare, -spare)], weighed)
    value = ganak.count(clauses, number, weights, [s for s, _ in weights], deadline)
    return None if value is None else min(max(value, 0.0), 1.0)


def probability(formula: Formula, union: str, deadline: float) -> float | None:
    """The probability of the worlds that allow a point of a union, or None if time is up."""
    chance = formula.chance
    certain = [(s if belief else -s,) for s, belief in chance.items() if belief in (0.0, 1.0)]
    chance = {s: belief for s, belief in chance.items() if 0 < belief < 1}
    left = eliminated([*formula.asking(union), *certain], chance, deadline)
    if left is None:
        return 0.0
    value = avoiding(left, chance)
    if value is None:
        value = _counted(left, chance, deadline)
    return None if value is None else min(max(value, 0.0), 1.0)


def _counted(clauses: list[Clause], chance: Mapping[int, float], deadline: float) -> float | None:
    """The same from clauses over selectors and variables that were not easily done without."""
    number, numbered, weights = _renumbered(clauses, chance)
    program = completed(numbered, number, [s for s, _ in weights])
    if program is not None:
        return ganak.count(program.clauses, program.variables, weights, None, deadline)
    if number > len(weights):
        grown = eliminated(clauses, chance, _share(deadline, SHARES["resolution"]), GROWTH[-1])
        value = 0.0 if grown is None else avoiding(grown, chance)
        if value is not None:
            return value
        if number - len(weights) > MANY and len(clauses) > DENSE * (number - len(weights)):
            deadline = _share(deadline, SHARES["hopeless count"])
        # Which of the two a counter takes more easily is hard to tell.
        value = ganak.count(numbered, number, weights, [s for s, _ in weights], _share(deadline, SHARES["first count"]))
        if value is not None:
            return value
        number, numbered, weights = _renumbered(grown or [], chance)
    return ganak.count(numbered, number, weights, [s for s, _ in weights], deadline)


def _renumbered(clauses: Sequence[Clause], chance: Mapping[int, float]) -> tuple[int, list[Clause], list[Weight]]:
    """How many variables are used, clauses over numbers from 1 to that, and the chances of those that have one."""
    number: dict[int, int] = {}
    numbered = [
        tuple(number.setdefault(abs(part), len(number) + 1) * (1 if part > 0 else -1) for part in clause)
        for clause in clauses
    ]
    return len(number), numbered, [(number[s], belief) for s, belief in chance.items() if s in number]


def _share(deadline: float, part: float) -> float:
    now = clock.now()
    return now + part * (deadline - now)
