"""The ways to P(Q | C), a ratio of sums of P_0 P_keep: each in turn exact where it fits, but for draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import torch

from nbr import clock
from nbr.calculus import ganak
from nbr.density.contracted import contracted
from nbr.density.counted import countable, counted
from nbr.density.draws import Draws
from nbr.density.estimate import Estimated, drawn, split
from nbr.density.weighted import listable, listed
from nbr.errors import NbrError, install
from nbr.language import Expression
from nbr.model import Model
from nbr.ways import SHARES, Cost, Limits, Unfit, Way, auto

CLOSED = "variables are closed"


@dataclass(frozen=True)
class Ratio:
    """What is asked: how often the question holds where the condition does."""

    model: Model
    question: Expression
    condition: Expression | None
    generator: torch.Generator = field(default_factory=torch.Generator)

    @cached_property
    def names(self) -> frozenset[str]:
        return self.question.names() | (frozenset() if self.condition is None else self.condition.names())

    @cached_property
    def draws(self) -> Draws:
        """It says where the prior rules out the condition."""
        return Draws.of(self.model, self.condition)

    def exactly(self, both: float, whole: float, method: str) -> Estimated:
        """The ratio of two sums; an error where the second is 0."""
        if whole <= 0:
            raise nothing(self.condition)
        return Estimated(min(1.0, both / whole), 0.0, method)


class ListedSum(Way[Ratio, Estimated]):
    """All points that matter, weighed one by one."""

    name = "listed"

    def unfit(self, asked: Ratio) -> str | None:
        if asked.model.closed:
            return CLOSED
        return None if listable(asked.model, asked.names) is not None else "there are too many points to list"

    def cost(self, asked: Ratio) -> Cost:
        rules = sum(len(body.rules) for body in asked.model.bodies)
        return Cost(2e-8 * (listable(asked.model, asked.names) or 0) * (rules + len(asked.model.world)), sure=True)

    def solve(self, asked: Ratio, limits: Limits) -> Estimated:
        points = listed(asked.model, asked.names)
        if points is None:
            raise Unfit("the prior has no score for points")
        rows, weights = points
        if asked.condition is not None:
            weights = weights.masked_fill(~asked.condition.holds(asked.model.world, rows), -torch.inf)
        whole = weights.logsumexp(0)
        if whole == -torch.inf:
            raise nothing(asked.condition)
        yes = weights.masked_fill(~asked.question.holds(asked.model.world, rows), -torch.inf).logsumexp(0)
        return asked.exactly(float((yes - whole).exp()), 1.0, self.name)


class ContractedSum(Way[Ratio, Estimated]):
    """Small tables, multiplied and summed along an order that is found once."""

    name = "contracted"

    def cost(self, asked: Ratio) -> Cost:
        return Cost(0.01)

    def solve(self, asked: Ratio, limits: Limits) -> Estimated:
        found = contracted(asked.model, [(asked.question, asked.condition)], SHARES["order of sums"] * limits.left)
        if found is None:
            raise Unfit("the tables would be too large")
        return asked.exactly(0.0 if found[0] is None else found[0], 0.0 if found[0] is None else 1.0, self.name)


class CountedSum(Way[Ratio, Estimated]):
    """By a counter of weighted models, if it finishes."""

    name = "counted"

    def unfit(self, asked: Ratio) -> str | None:
        return None if countable(asked.model, asked.question, asked.condition) else "rules or prior cannot be counted"

    def missing(self) -> str | None:
        return None if ganak.available() else f"counting needs pyganak: {install('solve')}"

    def cost(self, asked: Ratio) -> Cost:
        return Cost(0.05)

    def solve(self, asked: Ratio, limits: Limits) -> Estimated | None:
        _ = asked.draws  # says where the prior rules out the condition
        sums = counted(asked.model, asked.question, asked.condition, limits.deadline)
        return None if sums is None else asked.exactly(*sums, self.name)


class DrawnSum(Way[Ratio, Estimated]):
    """Draws of the prior inside the condition, weighed by what the rules keep."""

    name = "drawn"
    proves = False

    def unfit(self, asked: Ratio) -> str | None:
        return CLOSED if asked.model.closed else None

    def solve(self, asked: Ratio, limits: Limits) -> Estimated:
        what = asked.draws, asked.question, asked.condition, limits.deadline, asked.generator
        return split(*what) or drawn(*what)


SUMS: list[Way[Ratio, Estimated]] = [ListedSum(), ContractedSum(), CountedSum(), DrawnSum()]


def value(asked: Ratio, budget: float) -> Estimated:
    """P(Q | C) by all ways that fit, and in words what more time might do."""
    result = auto(SUMS, asked, Limits(clock.now() + budget, tolerance=0.0))
    found = result.found
    if found is None:
        found = Estimated(None, None, "not computed", "; ".join(result.unfit) or "there was no time to examine it")
    proving = [way.name for way in SUMS if way.proves and way.name in result.open]
    if found.value is None and proving:
        more = f"{' and '.join(proving)}: stopped when the time was up; with more time it may be exact"
        return Estimated(None, None, found.method, f"{found.reason}; {more}" if found.reason else more)
    return found


def nothing(condition: Expression | None) -> NbrError:
    """The error for a condition that has no probability."""
    if condition is None:
        return NbrError("there is no probability: no point that the prior allows agrees with the rules")
    return NbrError("the condition has probability 0 under the prior and the rules")
