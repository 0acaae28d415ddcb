"""What every rule is: grades in [0, 1] over points, and a belief."""

from __future__ import annotations

import copy
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Self

import torch
from torch import Tensor, nn

from nbr.errors import NbrError
from nbr.language import Expression
from nbr.rules.levels import Turns
from nbr.rules.linear import Region
from nbr.rules.source import OneOf, Source
from nbr.rules.support import Support
from nbr.world import World

CITED = ("quote", "date")  # what a rule may have beside its source
TABLE = 1 << 16  # combinations of values that a fuzzy rule may read to be a factor


class Rule(ABC):
    """A fuzzy set over points, and the degree to which it is believed.

    A rule is written without a world, and bound to one by the reasoner that takes it; `grades` needs a bound rule. A
    subclass says which variables it reads and gives grades; to be saved it also needs `spec` and `from_spec`.

    Args:
        belief: A number from 0 to 1, or a tensor while it is learned.
        name: A name to show instead of the description.
    """

    expression: Expression | None = None  # the statement that it is, where it is one
    adds: float | None = None  # what it adds to the mean log-likelihood of a row, in nats, where that was measured
    quote: str | None = None  # in which words its source says it
    date: str | None = None  # and when

    def __init__(self, belief: float | Tensor, name: str | None = None) -> None:
        self.belief = belief
        self.name = None if name is None else str(name)
        try:
            fits = 0.0 <= self.degree <= 1.0
        except (TypeError, ValueError, RuntimeError):
            fits = False
        if not fits:
            raise NbrError(f"a belief must be a number from 0 to 1, not {belief}")
        self.support: Support | None = None  # of a rule that was learned: the rows behind it
        self.source: Source | None = None  # who says it
        self.choice: OneOf | None = None  # what it shares with other possibilities, of which at most one is there
        self._world: World | None = None
        self._made: Hashable = object()  # which copies of the rule have too

    @property
    def degree(self) -> float:
        """The belief as a plain number."""
        return self.belief.item() if isinstance(self.belief, Tensor) else float(self.belief)

    @property
    def likeliest(self) -> float | Tensor:
        """The belief that frequencies are computed with: the most likely one, where `belief` is a lower limit."""
        return self.belief if self.support is None else self.support.likeliest

    def with_belief(self, belief: float | Tensor, support: Support | None = None) -> Self:
        """The same rule with another belief.

        Args:
            belief: The belief.
            support: The rows that the belief rests on, for a learned rule.
        """
        other = copy.copy(self)
        other.belief, other.support = belief, support
        return other

    @property
    def exceptions(self) -> frozenset[str]:
        """The variables that its exception reads, which must be closed."""
        return frozenset()

    def from_source(self, source: Source | str | None) -> Self:
        """The same rule, from a source.

        Args:
            source: A source, its name, or None.
        """
        other = copy.copy(self)
        other.source = Source.of(source)
        return other

    def one_of(self, choice: OneOf) -> Self:
        """The same rule, as one of several possibilities."""
        other = copy.copy(self)
        other.choice = choice
        return other

    @property
    def statement(self) -> Hashable:
        """What the rule states, apart from its belief; equal for rules that state the same in the same words."""
        try:
            spec, tensors = self.spec()
        except NbrError:
            return self._made  # a function is the same as itself only
        said = {key: entry for key, entry in spec.items() if key not in self._common_spec()}
        return json.dumps(said, sort_keys=True), *((key, part.numpy().tobytes()) for key, part in tensors.items())

    @property
    def world(self) -> World:
        if self._world is None:
            raise NbrError("this rule has no world yet: put it into a Reasoner, or call rule.bind(world)")
        return self._world

    def bind(self, world: World) -> Self:
        """The same rule, in a world that has all it names."""
        bound = copy.copy(self)
        bound._world = world
        bound._check()
        return bound

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """The variables it reads."""

    @abstractmethod
    def grades(self, points: Tensor) -> Tensor:
        """The grade of each point.

        Args:
            points: Points, shape (points, variables).

        Returns:
            Grades from 0 to 1, shape (points,).
        """

    def grades_beside(self, done: dict[object, Tensor], points: Tensor) -> Tensor:
        """The same, with a place to leave what other rules of the model can use for these points."""
        return self.grades(points)

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Proved bounds on the grades within boxes of points.

        Where no variable that the rule reads varies within a box, both bounds are the grade itself. A subclass that
        knows nothing better returns 0 and 1.

        Args:
            low: The lowest corner of each box, shape (boxes, variables); for a choice the position of a label.
            high: The highest corner, included, shape (boxes, variables).

        Returns:
            The lower and the upper bound, each of shape (boxes,).
        """
        fixed, grades = self._fixed(low, high), low.new_zeros(len(low))
        grades[fixed] = self.grades(low[fixed])
        return grades, torch.where(fixed, grades, 1.0)

    @property
    def bounded(self) -> bool:
        """Whether smaller boxes have narrower bounds."""
        return False

    def lines(self, region: Region) -> tuple[Tensor, Tensor] | None:
        """A linear function that its logit is never above within each part of a region, if it knows one.

        Slopes of shape (boxes, variables) and intercepts of shape (boxes,).
        """
        return None

    def at_least(self, level: float) -> Expression | None:
        """The points with a grade of at least `level` as a statement, if there is one; `level` is above 0."""
        return None

    def levels(self) -> list[float] | None:
        """The grades above 0 that it gives, if a statement for each is known."""
        return None

    def cut(self, level: float) -> Expression | None:
        """The same of rules with words too, whose levels are known only beside those of other rules: see `turns`."""
        return self.at_least(level)

    def turns(self) -> Turns | None:
        """Levels of grade, and numbers that move with them, at which what `cut` says changes, if that is known."""
        levels = self.levels()
        return None if levels is None else Turns(frozenset(levels), {})

    def factor(self, values: Mapping[str, Tensor]) -> Expression | Tensor | None:
        """What P_keep takes of it, where `values` has a few codes for each variable: the statement that it is, or its
        grade for each combination of the values it reads; None if it changes between these, or they are too many.
        """
        if self.levels() == [1.0]:
            return self.at_least(1.0)
        columns = [values[name] for name in self.inputs]
        if self.smooth or not columns or math.prod(map(len, columns)) > TABLE:
            return None
        world = World({name: self.world.variables[name] for name in self.inputs})
        points = torch.cartesian_prod(*columns).view(-1, len(columns))
        return self.bind(world).grades(points).view([len(column) for column in columns])

    @property
    def chain(self) -> tuple[list[nn.Module], int] | None:
        """The layers of a network that reads its inputs, and which output is the logit, if they are known."""
        return None

    def cuts(self) -> dict[str, set[float]]:
        """Numbers at which its grades jump as a real grows; a grid must not step over them."""
        return {}

    @property
    def smooth(self) -> tuple[str, ...]:
        """The reals along which its grades change between cuts, so that asking needs a grid."""
        return tuple(name for name in self.inputs if self.world.variables[name].numeric)

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        """The rule as plain data and tensors, for a file."""
        raise NbrError(f"the rule {self} is a Python function, which cannot be saved")

    @property
    def weights(self) -> object | None:
        """The network whose tensors it writes, which other rules may share."""
        return None

    def _check(self) -> None:
        for name in self.inputs:
            self.world.column(name)

    def _fixed(self, low: Tensor, high: Tensor) -> Tensor:
        columns = [self.world.column(name) for name in self.inputs]
        return (low[:, columns] == high[:, columns]).all(dim=1)

    def cite(self, spec: Mapping[str, object]) -> None:
        """Take over from a file in which words its source says it, and when."""
        self.quote, self.date = (spec_text(spec, key) if key in spec else None for key in CITED)

    def _common_spec(self) -> dict[str, object]:
        named = {"name": self.name} if self.name else {}
        said = {} if self.source is None else {"source": self.source.name}
        cited = {key: value for key, value in zip(CITED, (self.quote, self.date), strict=True) if value is not None}
        learned = {} if self.support is None else {"support": self.support.plain()}
        return {**named, "belief": self.degree, **said, **cited, **learned}

    def __str__(self) -> str:
        return self.name or self.describe()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.describe()!r}, belief={self.degree:g})"

    @abstractmethod
    def describe(self) -> str:
        """The rule in a few words."""


def listed(names: Iterable[str] | str) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def spec_text(spec: Mapping[str, object], key: str) -> str:
    value = spec[key]
    if not isinstance(value, str):
        raise NbrError(f"{key!r} must be text, not {value!r}")
    return value


def spec_number(spec: Mapping[str, object], key: str) -> float:
    value = spec[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NbrError(f"{key!r} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise NbrError(f"{key!r} is too large a number") from None
