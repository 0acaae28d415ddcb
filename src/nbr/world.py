"""The sample space: named variables, and points as rows of numbers.

A point is a row with one number for each variable: a bit is 0 or 1, a choice is the position of
its label, a real is itself. Points come in tensors of shape (points, variables).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from nbr.errors import NbrError, suggest

TRUE_WORDS = {"1": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class Bit:
    """A variable that is 0 or 1."""

    @property
    def size(self) -> int:
        return 2

    @property
    def spec(self) -> object:
        return "bit"

    def code(self, value: object) -> float:
        """The number that stands for a value in a point."""
        word = str(int(value)) if isinstance(value, bool | float) and value in (0, 1) else str(value)
        if word.lower() not in TRUE_WORDS:
            raise NbrError(f"{word!r} is not a value of a bit: it is 0 or 1")
        return TRUE_WORDS[word.lower()]

    def show(self, code: float) -> str:
        return str(int(code))


@dataclass(frozen=True, init=False)
class Choice:
    """A variable that takes one of several labels.

    >>> Choice("dry", "wet").code("wet")
    1.0
    """

    labels: tuple[str, ...]
    _position: dict[str, float] = field(repr=False, compare=False)

    def __init__(self, *labels: object) -> None:
        words = tuple(str(label) for label in labels)
        if not words:
            raise NbrError("a choice needs at least one label")
        if any("\n" in word or ('"' in word and "'" in word) for word in words):
            raise NbrError("a label is one line, and has not both kinds of quotation marks")
        position = {word: float(code) for code, word in enumerate(words)}
        if len(position) < len(words):
            twice = next(word for code, word in enumerate(words) if position[word] != code)
            raise NbrError(f"the label {twice!r} stands twice in one choice")
        object.__setattr__(self, "labels", words)
        object.__setattr__(self, "_position", position)

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def spec(self) -> object:
        return list(self.labels)

    def code(self, value: object) -> float:
        word = str(value)
        if word not in self._position:
            raise NbrError(f"{word!r} is not one of its labels" + suggest(word, self.labels))
        return self._position[word]

    def show(self, code: float) -> str:
        return self.labels[int(code)]


@dataclass(frozen=True)
class Real:
    """A variable that is a number between two bounds, both included."""

    low: float
    high: float

    def __post_init__(self) -> None:
        try:
            low, high = float(self.low), float(self.high)
        except (TypeError, ValueError, OverflowError):
            raise NbrError("the bounds of a real are two numbers that are not too large") from None
        if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
            raise NbrError(f"a real needs finite bounds, the lower one first, not {low} and {high}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def size(self) -> None:
        return None

    @property
    def spec(self) -> object:
        return {"from": self.low, "to": self.high}

    def code(self, value: object) -> float:
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            raise NbrError(f"{value!r} is not a number") from None
        if not math.isfinite(number):
            raise NbrError(f"{number} is not a finite number")
        return number

    def show(self, code: float) -> str:
        return f"{code:g}"


Variable = Bit | Choice | Real


class World:
    """Names the variables.

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
                raise NbrError(f"{name!r} cannot name a variable: a name has letters and no quotation mark")
            if not isinstance(variable, Bit | Choice | Real):
                raise NbrError(f"variable {name!r} must be a Bit(), a Choice(...) or a Real(low, high)")
        self.names = tuple(self.variables)
        self._column = {name: column for column, name in enumerate(self.names)}

    @classmethod
    def bits(cls, count: int) -> World:
        """A world of bits called x0, x1 and so on."""
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

    def column(self, name: str) -> int:
        if name not in self._column:
            raise NbrError(f"unknown variable {name!r}" + suggest(name, self.names))
        return self._column[name]

    def point(self, values: Mapping[str, object]) -> Tensor:
        """The point at which every variable has the value given."""
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
        """A point in words."""
        return {name: self.variables[name].show(float(code)) for name, code in zip(self.names, point, strict=True)}

    def encode(self, points: Tensor, names: Iterable[str]) -> Tensor:
        """The columns that a network reads: bits and reals as they are, a choice as one column a label."""
        parts = []
        for name in names:
            column, variable = points[:, self.column(name)], self.variables[name]
            if isinstance(variable, Choice):
                labels = torch.arange(variable.size, dtype=points.dtype, device=points.device)
                parts.append((column[:, None] == labels).to(points.dtype))
            else:
                parts.append(column[:, None])
        return torch.cat(parts, dim=1) if parts else points[:, :0]

    def snap(self, points: Tensor) -> Tensor:
        """The nearest points of this world: what a decoder gives is rounded and kept within bounds."""
        columns = []
        for column, variable in zip(points.unbind(dim=1), self.variables.values(), strict=True):
            if isinstance(variable, Real):
                columns.append(column.clamp(variable.low, variable.high))
            else:
                columns.append(column.round().clamp(0, variable.size - 1))
        return torch.stack(columns, dim=1)

    def __or__(self, other: World) -> World:
        for name in self.names:
            if name in other.variables and other.variables[name] != self.variables[name]:
                raise NbrError(
                    f"variable {name!r} differs: {self.variables[name]} in one model, "
                    f"{other.variables[name]} in the other"
                )
        return World({**self.variables, **other.variables})

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
        if item == "bit":
            return Bit()
        if isinstance(item, list):
            return Choice(*item)
        if isinstance(item, Mapping) and set(item) == {"from", "to"}:
            return Real(item["from"], item["to"])
    except NbrError as error:
        raise NbrError(f"variable {name!r}: {error}") from None
    raise NbrError(
        f"variable {name!r}: {item!r} is not a kind of variable; "
        'write "bit", ["label", "label"] or { from = 0, to = 1 }'
    )
