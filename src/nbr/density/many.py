"""How often, for many questions: points are weighed once for all where they can be listed, else summed in batches."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nbr.density.contracted import Asked, contracted
from nbr.density.single import probability
from nbr.density.weighted import listed
from nbr.errors import NbrError
from nbr.factors import taken_apart
from nbr.language import Expression
from nbr.language import as_statements as read
from nbr.model import Model
from nbr.ways import SHARES

SEARCH = 10.0  # seconds for an order of summing, at the most

Often = tuple[float, float] | None  # P(Q | C) and half of its 95% interval; None where none is known


def probabilities(model: Model, questions: Sequence[tuple[str, str | None]], budget: float, seed: int) -> list[Often]:
    """P(Q | C) of each question, in order; the budget is that of each."""
    if model.closed:
        return [_alone(model, *pair, budget, seed) for pair in questions]
    graded = {given: "@" in (given or "") and model.observing(given)[0] is not model for _, given in questions}
    if any(graded.values()):
        plain = [pair for pair in questions if not graded[pair[1]]]
        found = iter(probabilities(model, plain, budget, seed))
        return [_alone(model, *pair, budget, seed) if graded[pair[1]] else next(found) for pair in questions]
    statements = read([said for pair in questions for said in pair if said is not None], model.world, "question")
    points = listed(model, frozenset().union(*(statement.names() for statement in statements.values())))
    if points is None:
        asked = [(statements[question], None if given is None else statements[given]) for question, given in questions]
        shares = _together(model, asked, budget)
        if shares is not None:
            return [None if share is None else (share, 0.0) for share in shares]
        return [_alone(model, *pair, budget, seed) for pair in questions]
    table = _Weighted(model, *points, statements)
    return [table.often(*pair) for pair in questions]


def _together(model: Model, asked: Sequence[Asked], budget: float) -> list[float | None] | None:
    """All questions by contraction: those that read the same several variables at once in one batch.

    What is said of several variables becomes tables of its own, and those of all questions together would be wide.
    """
    groups: dict[object, list[int]] = {}
    for place, (question, condition) in enumerate(asked):
        said = [question] if condition is None else [question, condition]
        groups.setdefault(taken_apart(model.world, said)[0], []).append(place)
    found: list[float | None] = [None] * len(asked)
    for places in groups.values():
        seconds = min(SEARCH, SHARES["order of sums"] * budget * len(places))  # one order serves all
        shares = contracted(model, [asked[place] for place in places], seconds)
        if shares is None:
            return None
        for place, share in zip(places, shares, strict=True):
            found[place] = share
    return found


def _alone(model: Model, question: str, given: str | None, budget: float, seed: int) -> Often:
    try:
        found = probability(model, question, given, budget=budget, seed=seed)
    except NbrError:  # the condition has probability 0, or nothing could be drawn within it
        return None
    return None if found.value is None or found.error is None else (found.value, found.error)


class _Weighted:
    """All points and their weights, and where each statement holds."""

    def __init__(self, model: Model, rows: Tensor, logs: Tensor, statements: dict[str, Expression]) -> None:
        self.model, self.rows, self.statements = model, rows, statements
        self.weights = (logs - logs.max()).exp() if bool((logs > -torch.inf).any()) else torch.zeros_like(logs)
        self.known: dict[str, Tensor] = {}
        self.within: dict[str | None, tuple[Tensor, float]] = {}

    def holds(self, said: str) -> Tensor:
        if said not in self.known:
            self.known[said] = self.statements[said].holds(self.model.world, self.rows).to(self.weights.dtype)
        return self.known[said]

    def often(self, question: str, given: str | None) -> Often:
        if given not in self.within:
            inside = self.weights if given is None else self.weights * self.holds(given)
            self.within[given] = inside, float(inside.sum())
        inside, whole = self.within[given]
        return (min(1.0, float(inside @ self.holds(question)) / whole), 0.0) if whole > 0 else None
