"""Expected answers, written beside the rules: the tests of a rule base.

[[expect]]
ask = "rain"
given = "grass=wet"
belief = 0.7
plausibility = [0.9, 1.0]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nbr.asking.question import AskSettings, as_set, ask
from nbr.asking.ranking import bare_name, rank
from nbr.calculus import Interval
from nbr.density import probability
from nbr.errors import NbrError, suggest
from nbr.model import Model
from nbr.rules import spec_number, spec_text

FIGURES = ("belief", "plausibility", "conflict", "probability")
KEYS = ("ask", "given", *FIGURES, "best", "tolerance")
TOLERANCE = 0.01
ROUNDING = 1e-9


@dataclass(frozen=True)
class Expectation:
    """A question, and between which numbers each figure of its answer should lie."""

    question: str
    given: str | None
    figures: Mapping[str, Interval]
    best: str | None = None  # of a choice or a number: which value comes first

    @property
    def asked(self) -> str:
        return self.question + (f" | {self.given}" if self.given else "")


@dataclass(frozen=True)
class ExpectationResult:
    """What was expected and what came of it; `says` is empty where all is as expected."""

    expectation: Expectation
    says: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.says

    def as_json(self) -> dict[str, object]:
        expected = {figure: list(ends) for figure, ends in self.expectation.figures.items()}
        return {
            "ask": self.expectation.question,
            "given": self.expectation.given,
            "expected": {**expected, **({"best": self.expectation.best} if self.expectation.best else {})},
            "passed": self.passed,
            "says": list(self.says),
        }


def read(model: Mapping[str, Any]) -> list[Expectation]:
    """The [[expect]] entries of a model written by hand."""
    entries = model.get("expect", [])
    if not isinstance(entries, list):
        raise NbrError("expected answers must be a list: write [[expect]] above each one")
    found = []
    for position, entry in enumerate(entries, 1):
        try:
            found.append(_read(entry))
        except NbrError as error:
            raise NbrError(f"expect {position}: {error}") from None
    return found


def _read(entry: object) -> Expectation:
    if not isinstance(entry, dict):
        raise NbrError("must be a table: write [[expect]] above it")
    for key in entry:
        if key not in KEYS:
            raise NbrError(f"unknown entry {key!r}" + suggest(key, KEYS))
    if "ask" not in entry:
        raise NbrError('has no ask = "..."')
    tolerance = spec_number(entry, "tolerance") if "tolerance" in entry else TOLERANCE
    figures = {figure: _range(entry, figure, tolerance) for figure in FIGURES if figure in entry}
    if not figures and "best" not in entry:
        raise NbrError(f"says nothing of the answer; write one of {', '.join(FIGURES)} or best")
    best = str(entry["best"]) if "best" in entry else None
    return Expectation(spec_text(entry, "ask"), spec_text(entry, "given") if "given" in entry else None, figures, best)


def _range(entry: Mapping[str, Any], figure: str, tolerance: float) -> Interval:
    """A number with the tolerance around it, or two numbers as they are."""
    value = entry[figure]
    if isinstance(value, list):
        if len(value) != 2:
            raise NbrError(f"{figure!r} must be a number or two, such as [0.9, 1.0]")
        low, high = (spec_number({figure: end}, figure) for end in value)
        if low > high:
            raise NbrError(f"{figure!r}: the lower number comes first")
        return low - ROUNDING, high + ROUNDING
    middle = spec_number(entry, figure)
    return middle - tolerance - ROUNDING, middle + tolerance + ROUNDING


def judged(model: Model, expectations: list[Expectation], settings: AskSettings) -> Iterator[ExpectationResult]:
    """Ask each question; what cannot be asked at all is an error, what has no answer a failure."""
    for position, each in enumerate(expectations, 1):
        try:
            if each.given is not None:
                as_set(each.given, model.world, "condition")
            variable = bare_name(model.world, each.question)
            if variable is None:
                as_set(each.question, model.world, "question")
                if each.best is not None:
                    raise NbrError(f"best is for a choice or a number, and {each.question} is neither")
            else:
                if each.figures.keys() - {"conflict"}:
                    raise NbrError(f"{variable} has many values: say which one comes first, as in best = ...")
        except NbrError as error:
            raise NbrError(f"expect {position}: {error}") from None
        yield ExpectationResult(each, tuple(_failures(model, each, variable, settings)))


def _failures(model: Model, each: Expectation, variable: str | None, settings: AskSettings) -> Iterator[str]:
    try:
        if variable is None:
            bounds = ask(model, each.question, each.given, settings).bounds
        else:
            ranking = rank(model, variable, each.given, settings)
            bounds = ranking.values[0].answer.bounds
            first = ranking.values[0].answer
            ties = [v.value for v in ranking.values if v.answer.plausibility == first.plausibility]
            ties = [v.value for v in ranking.values if v.value in ties and v.answer.belief == first.belief]
            if each.best is not None and ties != [each.best]:
                yield f"the first is {' and '.join(ties)}, not {each.best}"
    except NbrError as error:
        yield str(error)
        return
    for figure, (low, high) in each.figures.items():
        least, most = _often(model, each, settings) if figure == "probability" else getattr(bounds, figure)
        if not low <= least <= most <= high:
            is_ = f"is {least:.4f}" if least == most else f"is only known to lie between {least:.4f} and {most:.4f}"
            yield f"{figure} {is_}, expected {_told(low, high)}"


def _often(model: Model, each: Expectation, settings: AskSettings) -> Interval:
    """Between which numbers the probability lies."""
    found = probability(model, each.question, each.given, budget=settings.budget, seed=settings.seed)
    if found.value is None or found.error is None:
        return 0.0, 1.0
    return max(0.0, found.value - found.error), min(1.0, found.value + found.error)


def often(expectations: list[Expectation]) -> list[tuple[str, str | None, float]]:
    """The probabilities that are expected: of two ends the middle."""
    return [
        (each.question, each.given, min(1.0, max(0.0, sum(each.figures["probability"]) / 2)))
        for each in expectations
        if "probability" in each.figures
    ]


def _told(low: float, high: float) -> str:
    return f"{low + ROUNDING:.4g} to {high - ROUNDING:.4g}"
