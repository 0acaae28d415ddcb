"""All values of a variable in one call, the most plausible first.

Values that no rule and no condition tells apart share one answer: of a choice the labels that all statements treat
alike, of a number the pieces between the numbers that statements name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import torch

from nbr import clock
from nbr.asking import question as asking
from nbr.asking.answer import Answer
from nbr.asking.asked import Memo
from nbr.asking.question import AskSettings, Proposition
from nbr.errors import NbrError
from nbr.language import Atom, Expression, conjunction, parse
from nbr.model import Model
from nbr.plots import html, intervals
from nbr.rules import Rule
from nbr.world import Bit, Variable, World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIECES = 8  # of a number that a rule reads smoothly
BIT = Bit()
SLACK = 1e-9  # of a step
LEAST = 0.02  # seconds that a value may always take


@dataclass(frozen=True)
class Value:
    """A value of a variable, or a piece of a number, with its answer."""

    value: str
    answer: Answer

    def as_json(self) -> dict[str, object]:
        told = self.answer.as_json()
        return {"value": self.value, **{key: told[key] for key in ("belief", "plausibility", "exact", "bounds")}}


@dataclass(frozen=True)
class Ranking:
    """The values of a variable, the most plausible first; equally plausible ones by belief."""

    variable: str
    given: str | None
    values: tuple[Value, ...]

    @property
    def best(self) -> str:
        return self.values[0].value

    @property
    def conflict(self) -> float:
        return min(each.answer.conflict for each in self.values)

    @property
    def exact(self) -> bool:
        return all(each.answer.exact for each in self.values)

    def as_json(self) -> dict[str, object]:
        return {
            "variable": self.variable,
            "given": self.given,
            "values": [each.as_json() for each in self.values],
            "conflict": self.conflict,
            "exact": self.exact,
        }

    def bars(self) -> list[intervals.IntervalBar]:
        """The most plausible value first, the others beside it."""
        return [each.answer.bar(each.value, beside=place > 0) for place, each in enumerate(self.values)]

    @property
    def title(self) -> str:
        given = f"given   {self.given},   " if self.given else ""
        return f"{self.variable}   {given}conflict {self.conflict:.2f}"

    def plot(self) -> Figure:
        """Draw the intervals of all values as a matplotlib figure."""
        return intervals.show(self.bars(), self.title)

    def _repr_html_(self) -> str:
        rows = [
            html.row(
                html.said(each.value),
                html.bar(each.answer.bounds.belief, each.answer.bounds.plausibility),
                f"[{each.answer.belief:.4f}, {each.answer.plausibility:.4f}]",
            )
            for each in self.values
        ]
        return f"<p><b>{html.said(self.title)}</b></p><table>{''.join(rows)}</table>"

    def __str__(self) -> str:
        width = max(len(each.value) for each in self.values)
        asked = self.variable + (f" | {self.given}" if self.given else "")
        lines = [
            f"  {each.value:<{width}}  [{each.answer.belief:.4f}, {each.answer.plausibility:.4f}]"
            for each in self.values
        ]
        return "\n".join([f"{asked}, conflict {self.conflict:.4f}", *lines])


def bare_name(world: World, question: object) -> str | None:
    """The choice or number that a question names without a word about it, if that is all it does."""
    said = parse(question, world) if isinstance(question, str) else question
    if not isinstance(said, Atom) or said.operator or world.variables.get(said.name, BIT).boolean:
        return None
    return said.name


def rank(model: Model, variable: str, given: Proposition | None, settings: AskSettings) -> Ranking:
    """Ask about every value of a variable; the budget is for all of them together."""
    deadline, world = clock.now() + settings.budget, model.world
    if not isinstance(variable, str):
        raise NbrError(f"a ranking is of a variable by its name, not of {type(variable).__name__}")
    world.column(variable)
    words = None if given is None else asking.words_of(given)
    model, given = asking.under_condition(model, given)
    kind = world.variables[variable]
    told_apart = classes(model, variable, () if given is None else (given,))
    found: list[Value] = []
    memo: Memo = {}
    for number, (statement, values) in enumerate(told_apart):
        left = max(LEAST, (deadline - clock.now()) / (len(told_apart) - number))
        with clock.until(deadline + asking.GRACE):
            answer = asking.ask(model, statement, given, replace(settings, budget=left), memo)
        found += [Value(value, answer) for value in values]
    if not kind.numeric:
        found.sort(key=lambda each: kind.code(each.value))  # ties stay in the order of the labels
    found.sort(key=lambda each: (-each.answer.plausibility, -each.answer.belief))
    return Ranking(variable, words, tuple(found))


Class = tuple[Expression, list[str]]  # a statement about one of some values that have the same answer
Conditions = Sequence[Expression | Rule]


def classes(model: Model, name: str, conditions: Conditions) -> list[Class]:
    """The values of a variable, those together that neither rules nor conditions tell apart; of a number its pieces."""
    kind = model.world.variables[name]
    return (_pieces if kind.numeric else _labels)(model, name, conditions)


def _labels(model: Model, name: str, conditions: Conditions) -> list[Class]:
    variable = model.world.variables[name]
    assert variable.size is not None
    codes = torch.arange(variable.size, dtype=torch.float64)
    shown = [variable.show(code) for code in codes.tolist()]
    alike: dict[object, list[str]] = {}
    atoms, apart = _told_apart(model, name, conditions)
    truths = [atom.holds_among(model.world, codes).tolist() for atom in atoms]
    for number, label in enumerate(shown):
        alike.setdefault(number if apart else tuple(truth[number] for truth in truths), []).append(label)
    return [(Atom(name, "=", (labels[0],)), labels) for labels in alike.values()]


def _pieces(model: Model, name: str, conditions: Conditions) -> list[Class]:
    """Stretches of a number: the numbers that are named and the open pieces between them, joined where all agrees."""
    world, variable = model.world, model.world.variables[name]
    assert variable.numeric
    atoms, apart = _told_apart(model, name, conditions)
    cuts = {code for atom in atoms for code in atom.codes(world)}
    if apart:
        cuts |= set(torch.linspace(variable.low, variable.high, PIECES + 1, dtype=torch.float64).tolist())
    edges = sorted({variable.low, variable.high, *(cut for cut in cuts if variable.low < cut < variable.high)})
    places = [Stretch(edges[0], edges[0])]
    for low, high in pairwise(edges):
        places += [Stretch(low, high, True, True), Stretch(high, high)]
    places = [place for place in (place.within(variable.step) for place in places) if place is not None]
    points = torch.tensor([(place.low + place.high) / 2 for place in places], dtype=torch.float64)
    truths = [atom.holds_among(world, points).tolist() for atom in atoms]
    truths += [(points >= cut).tolist() for cut in edges[1:-1]] if apart else []
    pieces = places[:1]
    for at, place in enumerate(places[1:], 1):
        if any(truth[at] != truth[at - 1] for truth in truths):
            pieces.append(place)
        else:
            pieces[-1] = replace(pieces[-1], high=place.high, above=place.above)
    return [(piece.statement(name, variable), [piece.shown(variable)]) for piece in pieces]


@dataclass(frozen=True)
class Stretch:
    """The numbers from one to another; `below` and `above` say whether the ends themselves are left out."""

    low: float
    high: float
    below: bool = False
    above: bool = False

    def within(self, step: float) -> Stretch | None:
        """The same from its first to its last multiple of a step, if it has any."""
        if not step:
            return self
        first = math.floor(self.low / step + SLACK) + 1 if self.below else math.ceil(self.low / step - SLACK)
        last = math.ceil(self.high / step - SLACK) - 1 if self.above else math.floor(self.high / step + SLACK)
        return Stretch(first * step, last * step) if first <= last else None

    def statement(self, name: str, variable: Variable) -> Expression:
        if self.low == self.high:
            return Atom(name, "=", (repr(self.low),))
        parts = [Atom(name, ">" if self.below else ">=", (repr(self.low),))] if self.low > variable.low else []
        parts += [Atom(name, "<" if self.above else "<=", (repr(self.high),))] if self.high < variable.high else []
        return conjunction(parts) or Atom(name, ">=", (repr(variable.low),))

    def shown(self, variable: Variable) -> str:
        low, high = variable.show(self.low), variable.show(self.high)
        if self.low == self.high:
            return low
        return f"{'above' if self.below else 'from'} {low} {'below' if self.above else 'to'} {high}"


def _told_apart(model: Model, name: str, conditions: Conditions) -> tuple[list[Atom], bool]:
    """The atoms about a variable in rules and conditions, and whether something else reads it."""
    atoms: dict[Atom, None] = {}
    apart = model.codec is not None
    for part in _parts(model, name, conditions):
        if isinstance(part, Expression):
            atoms.update((atom, None) for atom in part.atoms() if atom.name == name)
        else:
            apart = apart or name in part.inputs
    return list(atoms), apart


def _parts(model: Model, name: str, conditions: Conditions) -> Iterable[Expression | Rule]:
    for part in (*model.readers.get(name, ()), *conditions):
        statement = part.at_least(1.0) if isinstance(part, Rule) and part.levels() == [1.0] else None
        yield part if statement is None else statement
