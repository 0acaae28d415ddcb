"""Worlds that allow a point, drawn one rule at a time, and changed one rule at a time.

A world keeps a point that satisfies its rules. A rule that this point satisfies too can be added without asking; else
the solver looks for another point.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nbr.calculus.known import Floats, Known
from nbr.calculus.sat import Deciding, Flags

PARTS = 16  # of the rules, after each of which worlds may be drawn again


@dataclass(frozen=True)
class Tools:
    """What all worlds of a formula share."""

    deciding: Deciding
    known: Known
    random: np.random.Generator
    deadline: float

    @property
    def beliefs(self) -> Floats:
        return self.known.beliefs


class Walk:
    """A world and a point of it; steps from world to world keep p(y | some point) as it is."""

    def __init__(self, tools: Tools, present: Flags, satisfied: Flags, holds: bool) -> None:
        self.tools, self.present = tools, present
        self.satisfied, self.holds = satisfied, holds  # the rules, and whether the question holds, at the point

    @classmethod
    def empty(cls, tools: Tools) -> Walk | None:
        """The world without rules; None if not even that has a point."""
        rules = tools.deciding.rules
        walk = cls(tools, np.zeros(rules, bool), np.zeros(rules, bool), False)
        return walk if walk._allowed("all") else None

    def copy(self) -> Walk:
        return Walk(self.tools, self.present.copy(), self.satisfied, self.holds)

    def extend(self, rules: list[int]) -> float:
        """Draw whether each of some more rules is there; the weight has 1 - b of every rule that cannot be."""
        beliefs, weight = self.tools.beliefs, 1.0
        order = np.array(rules, dtype=np.int64)
        there = self.tools.random.random(len(order)) < beliefs[order]
        start = 0
        while start < len(order):
            doubtful = ~self.satisfied[order[start:]]
            stop = start + int(doubtful.argmax()) if doubtful.any() else len(order)
            self.present[order[start:stop]] = there[start:stop]
            start = stop
            if start < len(order) and not self._allowed("all", order[start]):
                weight *= 1 - float(beliefs[order[start]])
                start += 1
        return weight

    def sweep(self) -> None:
        """Draw each rule again, in random order, given all the others (Gibbs sampling)."""
        random = self.tools.random
        there = random.random(len(self.present)) < self.tools.beliefs
        order = random.permutation(np.flatnonzero(there != self.present))
        for rule in order.tolist():
            if not there[rule]:
                self.present[rule] = False
            elif self.satisfied[rule] or self._allowed("all", rule):
                self.present[rule] = True

    def allows(self) -> tuple[bool, bool]:
        """Whether the world allows a point for the question, and one against it."""
        if self.holds:
            return True, self._allowed("no")
        return self._allowed("yes"), True

    def _allowed(self, union: str, rule: int | None = None) -> bool:
        """Whether there is a point of a union that satisfies one more rule; if so, it becomes the point."""
        tools, wanted = self.tools, self.present
        if rule is not None:
            wanted = wanted.copy()
            wanted[rule] = True
        if tools.deciding.allows(wanted, union, tools.deadline):
            model = tools.deciding.model()
            question = tools.deciding.formula.question
            self.satisfied = model[tools.deciding.selectors - 1]
            self.holds = bool(model[abs(question) - 1]) == (question > 0)
            tools.known.model(self.satisfied, self.holds)
            return True
        tools.known.core(tools.deciding, union, tools.deadline)
        return False


def drawn(tools: Tools, count: int) -> tuple[float, Walk | None]:
    """An unbiased estimate of E f from a number of worlds drawn side by side, and one of them.

    Where few worlds carry most of the weight they are drawn again by their weights (sequential Monte Carlo).
    """
    first = Walk.empty(tools)
    if first is None:
        return 0.0, None
    worlds, weight, total = [first.copy() for _ in range(count)], np.ones(count), 1.0
    # The firmest first: what cannot hold beside them is left out, and costs little.
    order = [int(rule) for rule in np.argsort(-tools.beliefs, kind="stable") if tools.beliefs[rule] > 0]
    for part in np.array_split(np.array(order, dtype=np.int64), PARTS):
        weight *= [world.extend(part.tolist()) for world in worlds]
        if weight.sum() == 0:
            return 0.0, None
        if weight.sum() ** 2 < count / 2 * (weight**2).sum():
            total *= float(weight.mean())
            # One offset for all: each world is drawn as often as its weight says, up to one.
            places = (tools.random.random() + np.arange(count)) / count
            chosen = np.searchsorted(weight.cumsum() / weight.sum(), places).clip(max=count - 1)
            worlds, weight = [worlds[each].copy() for each in chosen], np.ones(count)
    pick = int(tools.random.choice(count, p=weight / weight.sum()))
    return total * float(weight.mean()), worlds[pick]
