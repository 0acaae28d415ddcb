"""Statements about a point, as small trees that can be printed and evaluated, never run as code."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.world import World

COMPARE: dict[str, Callable[[Tensor, float], Tensor]] = {
    "=": lambda column, value: column == value,
    "!=": lambda column, value: column != value,
    ">=": lambda column, value: column >= value,
    "<=": lambda column, value: column <= value,
    ">": lambda column, value: column > value,
    "<": lambda column, value: column < value,
}
INDEX = r"[^\[\]\"',\s]+( [^\[\]\"',\s]+)*"  # of words with single blanks between them, as in wet[living room]
PLAIN = re.compile(rf"[^\W\d]\w*(\.\w+)*(\[{INDEX}(,{INDEX})*\])?\Z")
NUMBER_PATTERN = re.compile(r"[-+]?(\d+(\.\d+)?|\.\d+)([eE][-+]?\d+)?\Z")
LABEL_PATTERN = re.compile(r"\d\w*([.:-]\w+)*\Z")
KEYWORDS = {"and", "or", "not", "in", "true", "false"}


def quoted(word: str) -> str:
    """A name or label as it must be written."""
    if PLAIN.match(word) and word.lower() not in KEYWORDS:
        return word
    return f"'{word}'" if '"' in word else f'"{word}"'


class Expression(ABC):
    """A statement: the set of points at which it holds."""

    rank: int = 9  # how tightly its own sign binds; a part that binds less tightly is printed in brackets
    sums: bool = False  # whether it adds numbers up by itself, as comparisons of numbers and remainders do

    @abstractmethod
    def holds(self, world: World, points: Tensor) -> Tensor:
        """Whether the statement holds at each point.

        Args:
            world: The variables.
            points: Points, shape (points, variables).

        Returns:
            Booleans, shape (points,).
        """

    @property
    def parts(self) -> tuple[Expression, ...]:
        return ()

    @cached_property
    def summed(self) -> tuple[Expression, ...]:
        """The statement and those parts of it, at any depth, that add numbers up."""
        below = tuple(inner for part in self.parts for inner in part.summed)
        return (self, *below) if self.sums else below

    @property
    def depth(self) -> int:
        return 1 + max((part.depth for part in self.parts), default=0)

    def atoms(self) -> Iterator[Atom]:
        for part in self.parts:
            yield from part.atoms()

    def names(self) -> frozenset[str]:
        """The variables that the statement reads."""
        return frozenset().union(*(part.names() for part in self.parts))

    def check(self, world: World) -> None:
        """Raise an error if the statement uses a name or a value that the world does not have.

        Args:
            world: The variables.
        """
        for part in self.parts:
            part.check(world)

    def cuts(self, world: World) -> dict[str, set[float]]:
        """The numbers that reals are compared with; the truth of the statement does not change between them.

        Args:
            world: The variables.
        """
        found: dict[str, set[float]] = {}
        for atom in self.atoms():
            if world.variables[atom.name].numeric:
                found.setdefault(atom.name, set()).update(atom.codes(world))
        return found

    def replaced(self, atom: Callable[[Atom], Expression]) -> Expression:
        """The same statement with another part in the place of each atom, for kinds that are made elsewhere."""
        return self

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        """The same statement with each of its parts changed."""
        return self

    def _wrap(self, part: Expression) -> str:
        return str(part) if part.rank > self.rank else f"({part})"


@dataclass(frozen=True)
class Atom(Expression):
    """One variable against some values; without values, a bit that is 1."""

    name: str
    operator: str = ""
    values: tuple[str, ...] = ()
    at: int = field(default=0, compare=False)  # where it starts in what the user wrote

    def atoms(self) -> Iterator[Atom]:
        yield self

    def names(self) -> frozenset[str]:
        return frozenset((self.name,))

    def codes(self, world: World) -> list[float]:
        return [world.code(self.name, value) for value in self.values or ("1",)]

    def check(self, world: World) -> None:
        try:
            if self.name in world.words and not self.operator:
                return  # whether a degree will do is for those to say who use it
            world.column(self.name)
            variable = world.variables[self.name]
            if variable.numeric and not self.operator:
                raise NbrError(f"{self.name!r} is a number: compare it, as in {self.name}>={variable.low:g}")
            other = next((v for v in self.values if variable.numeric and v in world.variables), None)
            if other is not None:
                raise NbrError(f"to compare {self.name} with {other}, write {self.name} - {other}{self.operator}0")
            if self.operator not in variable.operators and not (variable.boolean and not self.operator):
                said = f"{self.name}={quoted(variable.labels[0])}"
                raise NbrError(f"{self.name!r} is {variable.noun}: say {said} or use 'in'")
            self.codes(world)
        except NbrError as error:
            raise NbrError(f"{error} (at character {self.at + 1})", at=self.at + 1) from None

    def holds(self, world: World, points: Tensor) -> Tensor:
        return self.holds_among(world, points[:, world.column(self.name)])

    def holds_among(self, world: World, column: Tensor) -> Tensor:
        """Whether it is true of values of its variable."""
        codes = self.codes(world)
        if self.operator == "in":
            return torch.stack([column == code for code in codes]).any(dim=0)
        return COMPARE[self.operator or "="](column, codes[0])

    def __str__(self) -> str:
        words = [
            value if NUMBER_PATTERN.match(value) or LABEL_PATTERN.match(value) else quoted(value)
            for value in self.values
        ]
        if self.operator == "in":
            return f"{quoted(self.name)} in {{{', '.join(words)}}}"
        return quoted(self.name) + self.operator + "".join(words)


@dataclass(frozen=True)
class Constant(Expression):
    value: bool

    def holds(self, world: World, points: Tensor) -> Tensor:
        return torch.full(points.shape[:1], self.value, device=points.device)

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Not(Expression):
    part: Expression
    rank = 8

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.part,)

    def holds(self, world: World, points: Tensor) -> Tensor:
        return ~self.part.holds(world, points)

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        return Not(change(self.part))

    def __str__(self) -> str:
        return "~" + (str(self.part) if self.part.rank >= self.rank else f"({self.part})")


@dataclass(frozen=True)
class _Several(Expression):
    several: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        return self.several

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        return replace(self, several=tuple(map(change, self.several)))

    def truths(self, world: World, points: Tensor) -> Tensor:
        return torch.stack([part.holds(world, points) for part in self.several])


class And(_Several):
    rank = 7

    def holds(self, world: World, points: Tensor) -> Tensor:
        return self.truths(world, points).all(dim=0)

    def __str__(self) -> str:
        return " & ".join(self._wrap(part) for part in self.parts)


class Or(_Several):
    rank = 6

    def holds(self, world: World, points: Tensor) -> Tensor:
        return self.truths(world, points).any(dim=0)

    def __str__(self) -> str:
        return " | ".join(self._wrap(part) for part in self.parts)


@dataclass(frozen=True)
class Implies(Expression):
    premise: Expression
    conclusion: Expression
    rank = 5

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.premise, self.conclusion)

    def holds(self, world: World, points: Tensor) -> Tensor:
        return ~self.premise.holds(world, points) | self.conclusion.holds(world, points)

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        return Implies(change(self.premise), change(self.conclusion))

    def __str__(self) -> str:
        chained = self.conclusion.rank >= self.rank
        return f"{self._wrap(self.premise)} -> {self.conclusion if chained else self._wrap(self.conclusion)}"


class Iff(_Several):
    rank = 4

    def holds(self, world: World, points: Tensor) -> Tensor:
        # a <-> b <-> c reads from the left, and equivalence is associative: true when the number
        # of false parts is even.
        return (~self.truths(world, points)).sum(dim=0) % 2 == 0

    def __str__(self) -> str:
        return " <-> ".join(self._wrap(part) for part in self.parts)


@dataclass(frozen=True)
class Count(_Several):
    """How many of several statements hold, compared with a number."""

    operator: str
    number: float

    def holds(self, world: World, points: Tensor) -> Tensor:
        return COMPARE[self.operator](self.truths(world, points).sum(dim=0), self.number)

    def __str__(self) -> str:
        number = int(self.number) if self.number.is_integer() else self.number
        return f"count({', '.join(map(str, self.parts))}){self.operator}{number}"


class Majority(_Several):
    """More than half of several statements hold."""

    def holds(self, world: World, points: Tensor) -> Tensor:
        return 2 * self.truths(world, points).sum(dim=0) > len(self.parts)

    def __str__(self) -> str:
        return f"majority({', '.join(map(str, self.parts))})"


def conjuncts(statement: Expression) -> Iterator[Expression]:
    """The parts that must all hold for a statement to hold."""
    if isinstance(statement, And):
        for part in statement.parts:
            yield from conjuncts(part)
    else:
        yield statement


def rebuilt(statement: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The same statement with another part in the place of each that `change` has one for."""
    found = change(statement)
    return statement.mapped(lambda part: rebuilt(part, change)) if found is None else found


def with_atoms(statement: Expression, atom: Callable[[Atom], Expression]) -> Expression:
    """The same statement with another part in the place of each atom."""

    def change(part: Expression) -> Expression | None:
        if isinstance(part, Atom):
            return atom(part)
        return None if isinstance(part, Not | Implies | _Several) else part.replaced(atom)

    return rebuilt(statement, change)


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    """All parts together, or None if there are none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    return And(tuple(parts))
