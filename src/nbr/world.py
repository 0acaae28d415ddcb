"""The sample space: named variables, and points as rows of numbers.

A point is a row with one number for each variable: a bit is 0 or 1, a choice is the position of
its label, a real is itself, a date or a time the number of `nbr.dates`. Points come in tensors of shape
(points, variables).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time

import torch
from torch import Tensor

from nbr import dates
from nbr.errors import NbrError, suggest

FINEST = 1e15  # steps: beyond, a number cannot tell one from the next
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
    position: dict[str, float] = field(repr=False, compare=False)

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
        object.__setattr__(self, "position", position)

    @property
    def size(self) -> int:
        return len(self.labels)

    @property
    def spec(self) -> object:
        return list(self.labels)

    def code(self, value: object) -> float:
        word = str(value)
        if word not in self.position:
            raise NbrError(f"{word!r} is not one of its labels" + suggest(word, self.labels))
        return self.position[word]

    def show(self, code: float) -> str:
        return self.labels[int(code)]


@dataclass(frozen=True)
class Real:
    """A variable that is a number between two bounds, both included.

    With a `step` it takes only multiples of it: 1 for counts. With a `unit` it is a "date", a "time" (with its date)
    or a "clock" (a time of day), written and shown as such.

    >>> Real("2021-01-01", "2021-12-31").show(18691)
    '2021-03-05'
    """

    low: float
    high: float
    step: float = 0.0
    unit: str = ""

    def __post_init__(self) -> None:
        (low, unit), (high, other) = _bound(self.low), _bound(self.high)
        unit = self.unit or unit
        if (other and other != unit) or unit not in ("", *dates.UNITS):
            raise NbrError(f"a real is a number, a date, a time or a clock throughout, not {unit!r} and {other!r}")
        step = _bound(self.step)[0] or (1.0 if unit == "date" else 0.0)
        if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
            raise NbrError(f"a real needs finite bounds, the lower one first, not {low} and {high}")
        count = [b / step for b in (low, high)] if step else []
        if not 0 <= step < math.inf or any(abs(each) > FINEST or abs(each - round(each)) > 1e-6 for each in count):
            raise NbrError(f"the bounds of a real are multiples of its step, not {low:g} and {high:g} of {step:g}")
        for name, value in {"low": low, "high": high, "step": step, "unit": unit}.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int | None:
        """How many values it has, if it has a step."""
        return round((self.high - self.low) / self.step) + 1 if self.step else None

    @property
    def spec(self) -> object:
        low, high = (self.show(b) if self.unit else b for b in (self.low, self.high))
        step = {"step": self.step} if self.step and self.unit != "date" else {}
        return {"from": low, "to": high, **step}

    def code(self, value: object) -> float:
        number, unit = _bound(value, self.unit)
        if unit and unit != self.unit:
            wanted = f"a {self.unit}, such as {dates.EXAMPLE[self.unit]}" if self.unit else "a number"
            raise NbrError(f"{value!r} is not {wanted}")
        if not math.isfinite(number):
            raise NbrError(f"{number} is not a finite number")
        return number

    def show(self, code: float) -> str:
        if self.unit:
            return dates.show(code, self.unit)
        return str(round(code)) if self.step and self.step.is_integer() else f"{code:g}"


def _bound(value: object, unit: str | None = None) -> tuple[float, str]:
    """A number and its unit; with a unit given, an error says what a value of it looks like."""
    if isinstance(value, date | time):
        return dates.number(value)
    try:
        return float(value), ""  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = dates.read(value) if isinstance(value, str) else None
        if found is not None and dates.ambiguous(str(value)):
            other = dates.read(str(value), month_first=True) or found
            first, last = sorted(dates.show(*each) for each in (found, other))
            raise NbrError(f"{value!r} may be two days: write {first} or {last}") from None
        if found is not None:
            return (found[0] * 86400, "time") if (found[1], unit) == ("date", "time") else found
        if unit is None:
            raise NbrError("the bounds of a real are two numbers that are not too large") from None
        wanted = f"a {unit}, such as {dates.EXAMPLE[unit]}" if unit else "a number"
        raise NbrError(f"{value!r} is not {wanted}") from None


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
        self.nbytes = 200 * len(self.names)  # about, without its variables, which worlds share

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
                step = variable.step
                column = torch.round(column / step) * step if step else column
                columns.append(column.clamp(variable.low, variable.high))
            else:
                columns.append(column.round().clamp(0, variable.size - 1))
        return torch.stack(columns, dim=1)

    def outside(self, points: Tensor) -> Tensor:
        """Which cells are no value of their variable: beyond its bounds, or not among its labels; a hole is not."""
        bounds = [(v.low, v.high) if isinstance(v, Real) else (0.0, v.size - 1.0) for v in self.variables.values()]
        low, high = torch.tensor(bounds, dtype=points.dtype, device=points.device).T
        found: Tensor = (points < low) | (points > high)
        return found

    def __or__(self, other: World) -> World:
        for name in self.names:
            if name in other.variables and other.variables[name] != self.variables[name]:
                one, two = self.variables[name], other.variables[name]
                raise NbrError(f"variable {name!r} differs: {one} in one model, {two} in the other")
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
        if isinstance(item, Mapping) and {"from", "to"} <= set(item) <= {"from", "to", "step"}:
            return Real(item["from"], item["to"], item.get("step", 0.0))
    except NbrError as error:
        raise NbrError(f"variable {name!r}: {error}") from None
    raise NbrError(
        f"variable {name!r}: {item!r} is not a kind of variable; "
        'write "bit", ["label", "label"] or { from = 0, to = 1 }'
    )
