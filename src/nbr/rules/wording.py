"""A statement with words of degree as a rule: a fuzzy set.

`and` is the smallest grade, `or` the largest, `not` 1 minus the grade, and `a -> b` is `~a | b`. A count reaches a
number to the degree of its part in that place, the highest first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.language import Expression, holds_within, resolved
from nbr.language import expressions as ex
from nbr.rules.base import Rule
from nbr.rules.clause import Clause
from nbr.rules.levels import Turns, reached, turns
from nbr.variables import Word
from nbr.world import World

Ends = tuple[Tensor, Tensor]  # the least and the largest grade; the same for points
Leaf = Callable[[Expression], Ends]


class Worded(Rule):
    """The degree to which a statement holds; it knows its words, so that it can go to smaller worlds."""

    text: str
    unless: str | None

    def __init__(self, clause: Clause, world: World) -> None:
        self.__dict__.update(clause.__dict__)
        self.expression, self._said = None, resolved(clause.expression, world)  # with degrees: no classical statement
        self._words = {name: world.words[name] for name in sorted(self._said.names() & world.words.keys())}
        names = set(self._said.names() - self._words.keys())
        self._reads = {curve.name for word in self._words.values() for curve in word.curves}
        self._inputs = tuple(sorted(names | self._reads))

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._inputs

    @property
    def smooth(self) -> tuple[str, ...]:
        return tuple(name for name in self._inputs if name in self._reads and self.world.variables[name].numeric)

    @property
    def bounded(self) -> bool:
        return True

    def cuts(self) -> dict[str, set[float]]:
        found: dict[str, set[float]] = {}
        for atom in self._said.atoms():
            if atom.name not in self._words and self.world.variables[atom.name].numeric:
                found.setdefault(atom.name, set()).update(atom.codes(self.world))
        for curve in (curve for word in self._words.values() for curve in word.curves if curve.numeric):
            found.setdefault(curve.name, set()).update(curve.places)
        return found

    def grades(self, points: Tensor) -> Tensor:
        def leaf(part: Expression) -> Ends:
            grade = self._graded(part, points, points)
            if grade is None:
                held = part.holds(self.world, points).to(points.dtype)
                grade = held, held
            return grade

        return _degree(self._said, self._words, leaf)[0]

    def bounds(self, low: Tensor, high: Tensor) -> Ends:
        def leaf(part: Expression) -> Ends:
            grade = self._graded(part, low, high)
            if grade is None:
                surely, possibly = holds_within(part, self.world, low, high)
                grade = surely.to(low.dtype), possibly.to(low.dtype)
            return grade

        return _degree(self._said, self._words, leaf)

    def _graded(self, part: Expression, low: Tensor, high: Tensor) -> Ends | None:
        """The grade of a word, from one point to another; None if the part is not a word."""
        if not isinstance(part, ex.Atom) or part.name not in self._words:
            return None
        columns = [(curve, self.world.column(curve.name)) for curve in self._words[part.name].curves]
        ends = [curve.within(low[:, column], high[:, column]) for curve, column in columns]
        return torch.stack([end[0] for end in ends]).amin(dim=0), torch.stack([end[1] for end in ends]).amin(dim=0)

    def cut(self, level: float) -> Expression | None:
        return reached(self._said, self._words, self.world, level)

    def turns(self) -> Turns | None:
        return turns(self._said, self._words, self.world)

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        excepted = {} if self.unless is None else {"unless": self.unless}
        return {"rule": self.text, **self._common_spec(), **excepted}, {}

    def describe(self) -> str:
        return " ".join(self.text.split())

    def _check(self) -> None:
        super()._check()
        for atom in self._said.atoms():
            if atom.name in self._words and atom.operator:
                raise NbrError(
                    f"{atom.name!r} is a word with degrees: say {atom.name} or ~{atom.name} in {self.text!r}"
                )
            if atom.name not in self._words:
                atom.check(self.world)


def spelled(rule: Rule, world: World) -> Rule:
    """A rule as it is, or a fuzzy one where it is a statement with words that the world knows."""
    has_words = isinstance(rule, Clause) and bool(rule.expression.names() & world.words.keys())
    return Worded(rule, world) if isinstance(rule, Clause) and has_words else rule


def worded(statement: Expression, world: World, belief: float = 1.0) -> Rule | None:
    """A statement with words of a world as a fuzzy set; None if it has none."""
    if not statement.names() & world.words.keys():
        return None
    return Worded(Clause(statement, belief), world).bind(world)


def _degree(part: Expression, words: Mapping[str, Word], leaf: Leaf) -> Ends:
    if not part.names() & words.keys():
        return leaf(part)
    inner = [_degree(each, words, leaf) for each in part.parts]
    match part:
        case ex.Not():
            return _not(inner[0])
        case ex.And():
            return _each(inner, torch.minimum)
        case ex.Or():
            return _each(inner, torch.maximum)
        case ex.Implies():
            return _each([_not(inner[0]), inner[1]], torch.maximum)
        case ex.Iff():
            return reduce(_alike, inner)
        case ex.Majority():
            return _reaches(inner, len(inner) // 2 + 1)
        case ex.Count():
            return _counted(inner, part)
        case ex.Atom():
            return leaf(part)
    raise NbrError(f"words with degrees cannot be used in {part}")


def _not(ends: Ends) -> Ends:
    return 1 - ends[1], 1 - ends[0]


def _each(several: list[Ends], together: Callable[[Tensor, Tensor], Tensor]) -> Ends:
    return reduce(together, [low for low, _ in several]), reduce(together, [high for _, high in several])


def _alike(one: Ends, other: Ends) -> Ends:
    first = _each([_not(one), other], torch.maximum)
    return _each([first, _each([_not(other), one], torch.maximum)], torch.minimum)


def _reaches(several: list[Ends], number: int) -> Ends:
    """The degree to which so many hold: that of the part in this place, the highest first."""
    if number <= 0 or number > len(several):
        sure = torch.full_like(several[0][0], float(number <= 0))
        return sure, sure
    low, high = (torch.stack([ends[side] for ends in several]).sort(dim=0, descending=True)[0] for side in (0, 1))
    return low[number - 1], high[number - 1]


def _counted(several: list[Ends], part: ex.Count) -> Ends:
    number = part.number
    whole = int(number) if number.is_integer() else None
    least = int(-(-number // 1))  # the smallest count of at least the number
    match part.operator:
        case ">=":
            return _reaches(several, least)
        case ">":
            return _reaches(several, least if whole is None else whole + 1)
        case "<":
            return _not(_reaches(several, least))
        case "<=":
            return _not(_reaches(several, least if whole is None else whole + 1))
    if whole is None:
        never = torch.full_like(several[0][0], float(part.operator == "!="))
        return never, never
    exactly = _each([_reaches(several, whole), _not(_reaches(several, whole + 1))], torch.minimum)
    return exactly if part.operator == "=" else _not(exactly)
