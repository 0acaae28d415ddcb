"""What moves a probability from its base rate: the parts of its condition, each beside those before it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nbr import clock
from nbr.density.single import Probability, probability
from nbr.density.sums import Ratio, value
from nbr.errors import NbrError
from nbr.language import Expression, as_statement, conjunction, conjuncts, parse
from nbr.model import Model
from nbr.ways import SHARES

PARTS = 12  # of a condition, up to which the most telling next one is looked for


@dataclass(frozen=True)
class Moved:
    """The probability without a condition, and after each part of the condition that is added to those before it."""

    base: Probability
    steps: tuple[tuple[str, Probability], ...]

    def as_json(self) -> dict[str, object]:
        steps = [{"given": said, **found.as_json()} for said, found in self.steps]
        return {"base": self.base.as_json(), "steps": steps}


def moved(model: Model, question: str | Expression, given: str | Expression, budget: float, seed: int) -> Moved:
    """The way from the base rate to the probability under a condition.

    Next is always the part that moves the probability furthest beside those before it; in conditions of more than a
    dozen parts they come as they stand.

    Args:
        model: with a prior
        question: what is asked
        given: a condition, taken apart at its `&`
        budget: seconds for all of it
        seed: where randomness comes from
    """
    deadline = clock.now() + budget
    parts = list(conjuncts(parse(given, model.world) if isinstance(given, str) else given))
    order = parts if len(parts) > PARTS else _ordered(model, question, parts, SHARES["order of reasons"] * budget, seed)
    steps = [(str(part), conjunction(order[: place + 1])) for place, part in enumerate(order)]
    found = []
    for place, (_, condition) in enumerate([("", None), *steps]):
        left = max(0.01, deadline - clock.now()) / (len(steps) + 1 - place)
        found.append(probability(model, question, condition, budget=left, seed=seed))
    return Moved(found[0], tuple((said, each) for (said, _), each in zip(steps, found[1:], strict=True)))


def _ordered(
    model: Model, question: str | Expression, parts: list[Expression], budget: float, seed: int
) -> list[Expression]:
    deadline, chosen, left = clock.now() + budget, list[Expression](), list(parts)
    calls = len(parts) * (len(parts) + 1) // 2
    last = _value(model, question, [], budget / (calls + 1), seed)
    while len(left) > 1:
        share = max(0.01, deadline - clock.now()) / calls
        reached = [_value(model, question, [*chosen, part], share, seed) for part in left]
        furthest = max(range(len(left)), key=lambda at: abs(reached[at] - last))
        calls, last = max(1, calls - len(left)), reached[furthest]
        chosen.append(left.pop(furthest))
    return [*chosen, *left]


def _value(model: Model, question: str | Expression, parts: list[Expression], budget: float, seed: int) -> float:
    observing, condition = model.observing(conjunction(parts))
    asked = Ratio(
        observing, as_statement(question, model.world, "question"), condition, torch.Generator().manual_seed(seed)
    )
    try:
        found = value(asked, max(0.01, budget)).value
    except NbrError:  # it has probability 0, and so has the whole condition
        return 0.5
    return 0.5 if found is None else found
