"""The sample space: named variables, and points as rows of numbers.

A point is a row with one number for each variable: a bit is 0 or 1, a choice is the position of
its label, a real is itself, a date or a time the number of `nbr.dates`. Points come in tensors of shape
(points, variables).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from nbr.errors import NbrError, suggest
from nbr.variables import TRUE_WORDS, Bit, Choice, Ordered, Real, Variable, Word, read_variable
from nbr.variables import read_word as read_word

__all__ = ["TRUE_WORDS", "Bit", "Choice", "Ordered", "Real", "Variable", "World"]


class World:
    """The variables of a model, by name.

    Args:
        variables: A mapping from names to variables, for names that are not Python identifiers.
        **named: The same as keyword arguments.

    >>> world = World(rain=Bit(), grass=Choice("dry", "wet"))
    >>> world.point({"rain": 1, "grass": "wet"})
    tensor([1., 1.], dtype=torch.float64)
    >>> World.bits(3)
    World(x0=Bit(), x1=Bit(), x2=Bit())
    """

    def __init__(self, variables: Mapping[str, Variable] | None = None, /, **named: Variable) -> None:
        self.variables: dict[str, Variable] = {**(variables or {}), **named}
        if not self.variables:
            raise NbrError("a world needs at least one variable")
        for name, variable in self.variables.items():
            if not isinstance(name, str) or not name.strip() or '"' in name or "\n" in name:
                raise NbrError(f"{name!r} cannot be the name of a variable: a name has letters and no quotation marks")
            if not isinstance(variable, Variable):
                kinds = "a Bit(), a Choice(...), an Ordered(...) or a Real(low, high)"
                raise NbrError(f"variable {name!r} must be {kinds}")
        self.names = tuple(self.variables)
        self._column = {name: column for column, name in enumerate(self.names)}
        self.words: dict[str, Word] = {}  # with degrees, beside statements
        self.nbytes = 200 * len(self.names)  # about, without its variables, which worlds share

    @classmethod
    def bits(cls, count: int) -> World:
        """A world of bits called x0, x1 and so on.

        Args:
            count: The number of bits.
        """
        return cls({f"x{i}": Bit() for i in range(count)})

    @classmethod
    def from_spec(cls, spec: object) -> World:
        """Read the `[variables]` of a model file; the inverse of `spec`."""
        if not isinstance(spec, Mapping):
            raise NbrError("[variables] must be a table of names")
        return cls({name: _variable(name, item) for name, item in spec.items()})

    @property
    def spec(self) -> dict[str, object]:
        return {name: variable.spec for name, variable in self.variables.items()}

    def with_words(self, words: Mapping[str, object]) -> World:
        """The same world with words of degree, as in the [words] of a .toml file.

        Args:
            words: For each word a variable with two numbers, four numbers, or a grade for each label.

        >>> world = World(temperature=Real(-20, 45)).with_words({"hot": {"temperature": [25, 30]}})
        >>> list(world.words)
        ['hot']
        """
        found = World(self.variables)
        found.words = {name: read_word(name, said, self.variables) for name, said in words.items()}
        return found

    def column(self, name: str) -> int:
        """The position of a variable in a point."""
        if name in self.words:
            raise NbrError(f"{name!r} is a word with degrees; only a statement without degrees can be used here")
        if name not in self._column:
            raise NbrError(f"unknown variable {name!r}" + suggest(name, self.names))
        return self._column[name]

    def point(self, values: Mapping[str, object]) -> Tensor:
        """The point at which every variable has the value given.

        Args:
            values: A value for every variable, by name.

        Returns:
            The point, shape (variables,), in float64.
        """
        missing = [name for name in self.names if name not in values]
        if missing:
            raise NbrError(f"the point has no value for {missing[0]!r}")
        point = torch.zeros(len(self), dtype=torch.float64)
        for name, value in values.items():
            point[self.column(name)] = self.code(name, value)
        return point

    def code(self, name: str, value: object) -> float:
        """The number that stands for a value of a variable; an error names both."""
        variable = self.variables[self.names[self.column(name)]]
        try:
            return variable.code(value)
        except NbrError as error:
            raise NbrError(f"{name!r}: {error}") from None

    def show(self, point: Sequence[float] | Tensor) -> dict[str, str]:
        """A point in words, by the names of its variables.

        Args:
            point: The point, shape (variables,).
        """
        return {name: self.variables[name].show(float(code)) for name, code in zip(self.names, point, strict=True)}

    def encode(self, points: Tensor, names: Iterable[str]) -> Tensor:
        """The columns that a network reads: bits and reals unchanged, a choice as one column for each label.

        Args:
            points: Points, shape (points, variables).
            names: The variables to read.

        Returns:
            Columns, shape (points, width).
        """
        parts = [self.variables[name].encoded(points[:, self.column(name)]) for name in names]
        return torch.cat(parts, dim=1) if parts else points[:, :0]

    def snap(self, points: Tensor) -> Tensor:
        """The nearest points of this world to what a decoder gave: rounded, and kept within bounds.

        Args:
            points: Rows, shape (points, variables).
        """
        columns = zip(points.unbind(dim=1), self.variables.values(), strict=True)
        return torch.stack([variable.snapped(column) for column, variable in columns], dim=1)

    def outside(self, points: Tensor) -> Tensor:
        """Which cells are not a value of their variable; an empty cell (NaN) is not outside.

        Args:
            points: Rows, shape (points, variables).

        Returns:
            Booleans, shape (points, variables).
        """
        bounds = [(variable.low, variable.high) for variable in self.variables.values()]
        low, high = torch.tensor(bounds, dtype=points.dtype, device=points.device).T
        found: Tensor = (points < low) | (points > high)
        return found

    def __or__(self, other: World) -> World:
        for name in self.names:
            if name in other.variables and other.variables[name] != self.variables[name]:
                one, two = self.variables[name], other.variables[name]
                raise NbrError(f"variable {name!r} differs: {one} in one model, {two} in the other")
        found = World({**self.variables, **other.variables})
        for name in self.words.keys() & other.words.keys():
            if self.words[name] != other.words[name]:
                raise NbrError(f"the word {name!r} has different meanings in the two models")
        found.words = {**self.words, **other.words}
        return found

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, World) and list(self.variables.items()) == list(other.variables.items())

    def __hash__(self) -> int:
        return hash(tuple(self.variables.items()))

    def __repr__(self) -> str:
        return f"World({', '.join(f'{name}={variable}' for name, variable in self.variables.items())})"


def _variable(name: str, item: object) -> Variable:
    try:
        return read_variable(item)
    except NbrError as error:
        raise NbrError(f"variable {name!r}: {error}") from None
