"""What a kind of variable knows of itself; nobody else asks of which kind a variable is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from torch import Tensor

from nbr.errors import NbrError, suggest

EQUAL = frozenset({"=", "!=", "in"})
COMPARED = EQUAL | {">=", "<=", ">", "<"}


class Variable(ABC):
    """A kind of variable: which values it has, how they are written, and the number that stands for each in a point.

    Two families are told apart. A *number* has values between `low` and `high`, and statements cut its range into
    pieces; all others have `labels`, one for each value, whose codes are 0, 1 and so on.
    """

    kind: ClassVar[str]  # as programs say it: "bit", "choice", "ordered", "real"
    noun: ClassVar[str]  # as people say it: "a choice"
    numeric: ClassVar[bool] = False  # a number, which statements cut into pieces; else it has labels
    boolean: ClassVar[bool] = False  # its name alone is a statement
    adds: ClassVar[bool] = False  # whether its values may be added up and compared with other variables
    operators: ClassVar[frozenset[str]] = EQUAL  # by which a statement may compare it with values
    labels: tuple[str, ...] = ()
    low: float
    high: float
    step: float  # between neighbouring values; 0 where there is a value between any two
    unit: str

    @property
    @abstractmethod
    def size(self) -> int | None:
        """How many values it has; None where nobody can count them."""

    @property
    @abstractmethod
    def spec(self) -> object:
        """As files hold it."""

    @classmethod
    @abstractmethod
    def read(cls, item: object) -> Self | None:
        """The inverse of `spec`; None if that is of another kind."""

    @abstractmethod
    def code(self, value: object) -> float:
        """The number that stands for a value in a point; an error if it is no value."""

    @abstractmethod
    def show(self, code: float) -> str:
        """A value in words."""

    @abstractmethod
    def said(self) -> str:
        """What values it takes, for a person."""

    @property
    def width(self) -> int:
        """How many columns a network reads of it."""
        return 1

    def encoded(self, column: Tensor) -> Tensor:
        """What a network reads of values, shape (points,): (points, width)."""
        return column[:, None]

    def encoded_between(self, least: Tensor, most: Tensor) -> tuple[Tensor, Tensor]:
        """The smallest and the largest numbers that a network may read of values between two: (boxes, width) each."""
        return self.encoded(least), self.encoded(most)

    def snapped(self, column: Tensor) -> Tensor:
        """The nearest values to some numbers."""
        column = (column / self.step).round() * self.step if self.step else column
        return column.clamp(self.low, self.high)

    def apart(self, difference: Tensor) -> Tensor:
        """How far values are apart whose codes differ so much, from 0 to 1; it grows with the difference."""
        return difference / (self.high - self.low) if self.high > self.low else difference


class Labelled(Variable, ABC):
    """A variable that has a label for each value, with the codes 0, 1 and so on."""

    low, step, unit = 0.0, 1.0, ""

    @property
    def size(self) -> int:
        return len(self.labels)

    def show(self, code: float) -> str:
        return self.labels[int(code)] if code >= 0 else str(int(code))


class NamedLabels(Labelled, ABC):
    """Labels that someone chose."""

    position: dict[str, float]

    def __init__(self, *labels: object) -> None:
        words = tuple(str(label) for label in labels)
        if not words:
            raise NbrError("a choice needs at least one label")
        if any("\n" in word or ('"' in word and "'" in word) for word in words):
            raise NbrError("a label must be one line, without both kinds of quotation marks")
        position = {word: float(code) for code, word in enumerate(words)}
        if len(position) < len(words):
            twice = next(word for code, word in enumerate(words) if position[word] != code)
            raise NbrError(f"the label {twice!r} appears twice in one choice")
        for name, value in {"labels": words, "position": position, "high": len(words) - 1.0}.items():
            object.__setattr__(self, name, value)  # a value that is never changed afterwards

    def code(self, value: object) -> float:
        word = str(value)
        if word not in self.position:
            raise NbrError(f"{word!r} is not one of its labels" + suggest(word, self.labels))
        return self.position[word]

    def apart(self, difference: Tensor) -> Tensor:
        """Any two labels are as far apart as can be."""
        return (difference != 0).to(difference.dtype)
