"""Why a choice is ranked as it is: what speaks for each possibility, and what against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nbr import clock
from nbr.asking import verdict
from nbr.asking.explaining import explain
from nbr.asking.explanation import WORTH_TELLING, Explanation, joined
from nbr.asking.outcome import Outcome
from nbr.asking.question import AskSettings, Proposition, under_condition, words_of
from nbr.asking.ranking import LEAST, classes
from nbr.errors import NbrError
from nbr.model import Model
from nbr.plots import html, intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEW = 4  # rules that words name one by one
TOLD = 4  # possibilities of which the words tell what speaks for them and against them


@dataclass(frozen=True)
class Possibility:
    """Values that no rule and no condition tells apart, and the explanation of one of them."""

    values: tuple[str, ...]
    why: Explanation

    @property
    def said(self) -> str:
        return " or ".join(self.values)

    def words(self) -> str:
        """What is known of it, and which rules that rests on."""
        answer = self.why.answer
        told = f"{self.said}: believed to {answer.belief:.2f}, plausible to {answer.plausibility:.2f}"
        reasons = []
        if answer.belief >= WORTH_TELLING and (rules := self.why.favour):
            reasons.append(f"for it {self._brief(rules[0])}")
        if answer.plausibility <= 1 - WORTH_TELLING and (rules := self.why.opposed):
            reasons.append(f"against it {self._brief(rules[0])}")
        return f"{told} ({'; '.join(reasons)})" if reasons else told

    def _brief(self, rules: list[int]) -> str:
        return self.why.named(rules) if len(rules) <= FEW else f"{len(rules)} rules together"


@dataclass(frozen=True)
class Possibilities:
    """The possibilities of a choice, the most plausible first, each with its explanation."""

    variable: str
    given: str | None
    ranked: tuple[Possibility, ...]

    @property
    def first(self) -> Explanation:
        """The explanation of what comes first."""
        return self.ranked[0].why

    @property
    def conflict(self) -> float:
        return min(each.why.answer.conflict for each in self.ranked)

    @property
    def exact(self) -> bool:
        return all(each.why.answer.exact for each in self.ranked)

    def words(self) -> str:
        """The explanation as sentences that a person reads first."""
        answer = self.first.answer
        told = verdict.conflict(answer)
        if answer.bounds.conflict[0] >= verdict.HIGH:
            told += self.first.contradiction()
        if len({(each.why.answer.belief, each.why.answer.plausibility) for each in self.ranked}) == 1:
            told.append(f"Not known: nothing tells the values of {self.variable} apart.")
        else:
            told.append(f"First comes {self.ranked[0].words()}.")
            told += [f"Then {each.words()}." for each in self.ranked[1:TOLD]]
            if len(self.ranked) > TOLD:
                told.append(f"{len(self.ranked) - TOLD} more are less plausible.")
        if answer.bounds.conflict[0] < verdict.HIGH:
            told += self.first.contradiction()
        return " ".join([*told, *self.first.advice()])

    def as_json(self) -> dict[str, object]:
        values = []
        for each in self.ranked:
            why = each.why.as_json()
            answer: dict[str, object] = why["answer"]  # type: ignore[assignment]
            kept = {name: answer[name] for name in ("belief", "plausibility", "exact", "bounds")}
            told = {name: why[name] for name in ("rules", "supports", "against", "supports_complete")}
            values += [{"value": value, **kept, **told} for value in each.values]
        first = self.first.as_json()
        return {
            "variable": self.variable,
            "given": self.given,
            "values": values,
            "conflict": self.conflict,
            "exact": self.exact,
            **{name: first[name] for name in ("conflicts", "conflicts_complete", "witness", "about", "next")},
            "words": self.words(),
        }

    def bars(self) -> list[intervals.IntervalBar]:
        """The most plausible value first, the others beside it."""
        return [
            each.why.answer.bar(value, beside=place > 0)
            for place, each in enumerate(self.ranked)
            for value in each.values
        ]

    @property
    def title(self) -> str:
        given = f"given   {self.given},   " if self.given else ""
        return f"{self.variable}   {given}conflict {self.conflict:.2f}"

    def plot(self) -> Figure:
        """The intervals of all values as a figure of matplotlib."""
        return intervals.show(self.bars(), self.title)

    def _repr_html_(self) -> str:
        rows = [
            html.row(
                html.said(each.said),
                html.bar(each.why.answer.bounds.belief, each.why.answer.bounds.plausibility),
                f"[{each.why.answer.belief:.4f}, {each.why.answer.plausibility:.4f}]",
                html.said(joined([f"for: {each.why.named(some)}" for some in each.why.favour[:1]])),
                html.said(joined([f"against: {each.why.named(some)}" for some in each.why.opposed[:1]])),
            )
            for each in self.ranked
        ]
        return f"<p><b>{html.said(self.title)}</b></p><table>{''.join(rows)}</table><p>{html.said(self.words())}</p>"

    def __str__(self) -> str:
        lines = [f"  {each.words()}" for each in self.ranked]
        asked = self.variable + (f" | {self.given}" if self.given else "")
        return "\n".join([f"{asked}, conflict {self.conflict:.4f}", *lines])


def possibilities(model: Model, variable: str, given: Proposition | None, settings: AskSettings) -> Possibilities:
    """The values of a variable with labels, each explained; the budget is for all of them together."""
    deadline, memo, world = clock.now() + settings.budget, dict[object, Outcome](), model.world
    if not isinstance(variable, str):
        raise NbrError(f"values are explained of a variable by its name, not of {type(variable).__name__}")
    world.column(variable)
    if world.variables[variable].numeric:
        raise NbrError(f"{variable!r} is a number: explain a statement about it, or rank its pieces")
    _, condition = under_condition(model, given)
    told_apart = classes(model, variable, () if condition is None else (condition,))
    found = []
    for done, (statement, values) in enumerate(told_apart):
        left = max(LEAST, (deadline - clock.now()) / (len(told_apart) - done))
        found.append(Possibility(tuple(values), explain(model, statement, given, replace(settings, budget=left), memo)))
    found.sort(key=lambda each: (-each.why.answer.plausibility, -each.why.answer.belief))
    return Possibilities(variable, None if given is None else words_of(given), tuple(found))
