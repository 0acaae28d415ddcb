"""The rows behind an answer: how many rest under its condition, n P(C), counted by how much each of them weighs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from nbr import clock
from nbr.density import ranges
from nbr.density.contracted import contracted
from nbr.density.sums import Ratio, value
from nbr.language import Expression, Not, conjunction
from nbr.model import Model
from nbr.tables import Together

GRADED = 3  # pieces of evidence with a degree, up to which their combinations are gone through


@dataclass(frozen=True)
class Under:
    """What rests under a condition: which share of the rows, and which columns it reads."""

    seen: Together | None
    names: frozenset[str]
    share: float

    def rows(self, names: Iterable[str]) -> float | None:
        """How many rows that show these columns rest under the condition; None where that is not known."""
        rows = ranges.rows_of(self.seen, self.names.union(names))
        return None if rows is None else rows * self.share

    def together(self, names: Iterable[str]) -> bool:
        """Whether some rows show these columns and those of the condition at once."""
        whole = self.names.union(names)
        return self.seen is not None and any(whole <= frozenset(view) for view in self.seen.views)

    def range(self, value: float, names: Iterable[str]) -> ranges.Range | None:
        """What as many rows leave possible of a share; None too where columns were not seen together."""
        rows = self.rows(names)
        if rows is None or self.seen is None or not self.together(names):
            return None
        return ranges.wilson(value, value, rows / self.seen.dispersion)


def rows_under(
    model: Model, observing: Model, condition: Expression | None, generator: torch.Generator, budget: float
) -> Under:
    """What rests under a condition, n P(C) rows.

    Evidence with a degree weighs rows: they are worth n (sum of p w)^2 / (sum of p w^2), which is n P(C) where every
    weight is 0 or 1. Where that would take too many sums, it is at least n P(C) times the smallest weight.

    Args:
        model: without the evidence that has a degree
        observing: the same with it, as rules after its own
        condition: the rest, which is certain
        generator: for draws, where sums are not to be had
        budget: seconds
    """
    graded = observing.rules[len(model.rules) :]
    reads = [] if condition is None else [condition.names()]
    names = frozenset[str]().union(*reads, *(rule.inputs for rule in graded))
    if model.seen is None or (condition is None and not graded):
        return Under(model.seen, names, 1.0)
    weighed = [(rule.expression, 1 - rule.degree) for rule in graded if rule.expression is not None]
    if len(weighed) > GRADED:
        least = math.prod(weight for _, weight in weighed)
        return Under(model.seen, names, least * _least(model, condition, generator, budget))
    deadline, first, second = clock.now() + budget, 0.0, 0.0
    for broken in itertools.product((False, True), repeat=len(weighed)):
        weight = math.prod(each for (_, each), off in zip(weighed, broken, strict=True) if off)
        parts = [Not(part) if off else part for (part, _), off in zip(weighed, broken, strict=True)]
        whole = conjunction(parts if condition is None else [condition, *parts])
        share = _least(model, whole, generator, (deadline - clock.now()) / 2)
        first, second = first + share * weight, second + share * weight**2
    return Under(model.seen, names, first**2 / second if second > 0 else 0.0)


def rows_under_each(model: Model, conditions: Sequence[Expression | None], budget: float) -> list[Under]:
    """The same of many conditions without degrees, summed in one batch where that is possible."""
    if model.seen is None or model.seen.rows is None:
        return [Under(model.seen, frozenset(), 0.0) for _ in conditions]
    said = [each for each in conditions if each is not None]
    known = contracted(model, [(each, None) for each in said], budget / 2) if len(said) > 1 else None
    found, deadline, generator = [], clock.now() + budget, torch.Generator().manual_seed(0)
    for number, each in enumerate(said):
        share = None if known is None else known[number]
        if share is None:
            share = _least(model, each, generator, (deadline - clock.now()) / (len(said) - number))
        found.append(Under(model.seen, each.names(), share))
    each_of = iter(found)
    return [Under(model.seen, frozenset(), 1.0) if each is None else next(each_of) for each in conditions]


def _least(model: Model, condition: Expression | None, generator: torch.Generator, budget: float) -> float:
    """P(C) as far as it is known: of what is not, the least."""
    if condition is None:
        return 1.0
    if budget <= 0:
        return 0.0
    found = value(Ratio(model, condition, None, generator), budget)
    return 0.0 if found.value is None or found.error is None else max(0.0, found.value - found.error)
