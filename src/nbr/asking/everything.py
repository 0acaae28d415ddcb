"""Every value of every variable at once: how likely it is, and where asked for belief and plausibility.

A number has a value for each piece between the numbers that rules and conditions name, as in a ranking.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from nbr import clock
from nbr.asking import question as asking
from nbr.asking.answer import Answer
from nbr.asking.asked import Memo
from nbr.asking.question import AskSettings
from nbr.asking.ranking import LEAST, Class, classes
from nbr.calculus import Interval
from nbr.density import Under, marginals, rows_under, rows_under_each
from nbr.errors import NbrError, install
from nbr.language import Atom, Expression
from nbr.model import Model
from nbr.ways import SHARES

if TYPE_CHECKING:
    import pandas as pd

ANYTHING = (0.0, 1.0)

Given = str | Expression | None


@dataclass(frozen=True)
class Weighed:
    """One value of a variable; None where a number was not asked for or not computed."""

    value: str
    probability: float | None
    answer: Answer | None
    range: tuple[float, float] | None = None  # 95% range, from the rows that a learned model knows of

    @property
    def low(self) -> float | None:
        return None if self.range is None else self.range[0]

    @property
    def high(self) -> float | None:
        return None if self.range is None else self.range[1]

    @property
    def belief(self) -> float | None:
        return None if self.answer is None else _computed(self.answer.bounds.belief, self.answer.belief)

    @property
    def plausibility(self) -> float | None:
        return None if self.answer is None else _computed(self.answer.bounds.plausibility, self.answer.plausibility)

    def as_json(self) -> dict[str, object]:
        told: dict[str, object] = {
            "value": self.value,
            "belief": self.belief,
            "plausibility": self.plausibility,
            "probability": self.probability,
            "range": None if self.range is None else list(self.range),
        }
        return told if self.answer is None or self.answer.exact else {**told, "bounds": self.answer.bounds.as_json()}


@dataclass(frozen=True)
class Everything:
    """The values of all variables under one condition, and why some numbers are missing."""

    given: str | None
    variables: Mapping[str, tuple[Weighed, ...]]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        told = {name: [each.as_json() for each in values] for name, values in self.variables.items()}
        return {"given": self.given, "variables": told, "notes": list(self.notes)}


def every_value(
    model: Model, given: Sequence[Given], belief: bool, settings: AskSettings, wanted: Collection[str] | None = None
) -> list[Everything]:
    """All values under each condition. Probabilities of all conditions come first; beliefs have the rest of the time.

    What that leaves too little time for has no number. `wanted` names the variables, if not all are.
    """
    deadline, world = clock.now() + settings.budget, model.world
    observing = [model.observing(each) for each in given]
    if len(given) > 1 and any(with_evidence is not model for with_evidence, _ in observing):
        share = replace(settings, budget=settings.budget / len(given))
        return [found for each in given for found in every_value(model, [each], belief, share, wanted)]
    alone = model
    model, conditions = observing[0][0] if observing else model, [condition for _, condition in observing]
    said = [each for each in conditions if each is not None]
    names = [name for name in world.names if wanted is None or name in wanted]
    told_apart = {name: classes(model, name, said) for name in names}
    values = {name: _values(model, name, each) for name, each in told_apart.items()}
    statements = {name: [statement for _, statement in each] for name, each in values.items()}
    with torch.no_grad():
        part = SHARES["frequencies first"] if belief else 1.0
        shares, why = marginals(model, statements, conditions, settings.budget * part)
        behind = SHARES["rows behind"] * settings.budget
        if model is alone:
            rests = rows_under_each(model, conditions, behind)
        else:
            rests = [rows_under(alone, model, conditions[0], torch.Generator().manual_seed(0), behind)]
    if why and not shares and not belief:
        raise NbrError(f"not all values can be computed at once: {why}; ask for one variable alone")
    found = []
    for place, (each, condition) in enumerate(zip(given, conditions, strict=True)):
        left = (deadline - clock.now()) / (len(given) - place)
        answers = _answers(model, told_apart, condition, replace(settings, budget=max(LEAST, left))) if belief else {}
        rows = {name: shares[name][place].tolist() if name in shares else [None] * len(values[name]) for name in values}
        variables = {
            name: tuple(
                _weighed(name, value, share, answers.get((name, value)), rests[place])
                for (value, _), share in zip(values[name], rows[name], strict=True)
            )
            for name in values
        }
        unlikely = any(share is not None and math.isnan(share) for row in rows.values() for share in row)
        notes = [f"not all values can be computed at once: {why}"] if why else []
        notes += ["the condition has probability 0"] if unlikely else []
        found.append(Everything(None if each is None else str(each), variables, tuple(notes)))
    return found


def _weighed(name: str, value: str, share: float | None, answer: Answer | None, rest: Under) -> Weighed:
    if share is None or math.isnan(share):
        return Weighed(value, None, answer)
    return Weighed(value, share, answer, rest.range(share, [name]))


def table(model: Model, given: Given | Sequence[Given], belief: bool, settings: AskSettings) -> pd.DataFrame:
    """A row for each value of each variable under each condition; empty cells where there is no number.

    `low` and `high` are the 95% range of the probability, by the rows that the model was learned from.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError(f"a table of marginals needs pandas: {install('learn')}") from None
    conditions = [given] if given is None or isinstance(given, str | Expression) else list(given)
    columns = ("probability", "low", "high", *(("belief", "plausibility") if belief else ()))
    rows = [
        (each.given, name, value.value, *(_number(getattr(value, column)) for column in columns))
        for each in every_value(model, conditions, belief, settings)
        for name, values in each.variables.items()
        for value in values
    ]
    return pd.DataFrame(rows, columns=["given", "variable", "value", *columns])


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _computed(bounds: Interval, end: float) -> float | None:
    return None if bounds == ANYTHING else end


def _values(model: Model, name: str, told_apart: Sequence[Class]) -> list[tuple[str, Expression]]:
    """Each value in words and as a statement, in order."""
    variable = model.world.variables[name]
    if variable.numeric:
        return [(words, statement) for statement, (words,) in told_apart]
    assert variable.size is not None
    labels = [variable.show(code) for code in range(variable.size)]
    return [(label, Atom(name, "=", (label,))) for label in labels]


def _answers(
    model: Model, told_apart: Mapping[str, Sequence[Class]], condition: Expression | None, settings: AskSettings
) -> dict[tuple[str, str], Answer]:
    """Belief and plausibility of all values; what they share is found out once."""
    deadline = clock.now() + settings.budget
    asked = [(name, statement, values) for name, each in told_apart.items() for statement, values in each]
    memo: Memo = {}
    found: dict[tuple[str, str], Answer] = {}
    # The first values find out what all others use; what was not done in a share is tried again with all that is left.
    for share in (SHARES["first values"], 1.0):
        again = []
        for number, (name, statement, values) in enumerate(asked):
            if share == 1.0 and clock.now() > deadline:
                break
            left = max(LEAST, (deadline - clock.now()) * max(share, 1 / (len(asked) - number)))
            with clock.until(deadline + asking.GRACE):
                answer = asking.ask(model, statement, condition, replace(settings, budget=left), memo)
            known = found.get((name, values[0]))
            if known is None or answer.uncomputed < known.uncomputed:
                found |= {(name, value): answer for value in values}
            if not answer.exact:
                again.append((name, statement, values))
        asked = again
    return found
