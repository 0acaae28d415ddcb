"""The rows behind an answer: how many rest under its condition, n P(C), counted by how much each of them weighs."""

from __future__ import annotations

import itertools
import math

from nbr import clock
from nbr.density import ranges
from nbr.density.sums import Ratio, value
from nbr.language import Expression
from nbr.language.expressions import Not, conjunction
from nbr.model import Model

GRADED = 3  # pieces of evidence with a degree, up to which their combinations are gone through


def behind(model: Model, observing: Model, asked: Ratio, budget: float) -> float | None:
    """How many rows rest under the condition, n P(C); None where the model does not know its rows.

    Evidence with a degree weighs rows: they are worth n (sum of p w)^2 / (sum of p w^2), which is n P(C) where every
    weight is 0 or 1. Where that would take too many sums, it is at least n P(C) times the smallest weight.

    Args:
        model: without the evidence that has a degree
        observing: the same with it, as rules after its own
        asked: of the observing model
        budget: seconds
    """
    rows = ranges.rows_of(model.seen, _names(model, observing, asked))
    graded = observing.rules[len(model.rules) :]
    if rows is None or (asked.condition is None and not graded):
        return rows
    weighed = [(rule.expression, 1 - rule.degree) for rule in graded]  # type: ignore[attr-defined]
    if len(weighed) > GRADED:
        return rows * _least(model, asked.condition, asked, budget) * math.prod(weight for _, weight in weighed)
    deadline, first, second = clock.now() + budget, 0.0, 0.0
    for broken in itertools.product((False, True), repeat=len(weighed)):
        weight = math.prod(each for (_, each), off in zip(weighed, broken, strict=True) if off)
        parts = [Not(part) if off else part for (part, _), off in zip(weighed, broken, strict=True)]
        condition = conjunction(parts if asked.condition is None else [asked.condition, *parts])
        share = _least(model, condition, asked, (deadline - clock.now()) / 2)
        first, second = first + share * weight, second + share * weight**2
    return rows * first**2 / second if second > 0 else 0.0


def together(model: Model, observing: Model, asked: Ratio) -> bool:
    """Whether some rows show all that is asked about at once."""
    names = _names(model, observing, asked)
    return model.seen is not None and any(names <= frozenset(view) for view in model.seen.views)


def _names(model: Model, observing: Model, asked: Ratio) -> frozenset[str]:
    return asked.names.union(*(rule.inputs for rule in observing.rules[len(model.rules) :]))


def _least(model: Model, condition: Expression | None, asked: Ratio, budget: float) -> float:
    """P(C) as far as it is known: of what is not, the least."""
    if condition is None:
        return 1.0
    found = value(Ratio(model, condition, None, asked.generator), budget)
    return 0.0 if found.value is None or found.error is None else max(0.0, found.value - found.error)
