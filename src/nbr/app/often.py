"""How often, beside an answer: for models with a prior."""

from __future__ import annotations

from nbr.asking.answer import Answer
from nbr.density.probability import Probability, often
from nbr.reasoner import Reasoner

SHARE = 0.3  # of the time that an answer may take


def probability(
    reasoner: Reasoner, question: str, given: str | None, budget: float, seed: int
) -> Probability | str | None:
    """The probability, or the reason why there is none; None for a model without a prior."""
    if reasoner.model.prior is None:
        return None
    return often(reasoner.model, question, given, budget, seed)


def as_json(answer: Answer, found: Probability | str | None) -> dict[str, object]:
    """An answer as plain data, with the probability or null."""
    told = answer.as_json()
    if isinstance(found, str):
        told["notes"] = [*answer.notes, f"there is no probability: {found}"]
    return {**told, "probability": found.as_json() if isinstance(found, Probability) else None}
