"""Variables that are 0 or 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from nbr.errors import NbrError
from nbr.variables.base import COMPARED, Labelled

TRUE_WORDS = {"1": 1.0, "true": 1.0, "yes": 1.0, "0": 0.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True)
class Bit(Labelled):
    """A variable that is 0 or 1."""

    kind: ClassVar[str] = "bit"
    noun: ClassVar[str] = "a bit"
    boolean: ClassVar[bool] = True
    adds: ClassVar[bool] = True
    operators: ClassVar[frozenset[str]] = COMPARED
    labels = ("0", "1")
    high = 1.0

    @property
    def spec(self) -> object:
        return "bit"

    @classmethod
    def read(cls, item: object) -> Self | None:
        return cls() if item == "bit" else None

    def code(self, value: object) -> float:
        word = str(int(value)) if isinstance(value, bool | float) and value in (0, 1) else str(value)
        if word.lower() not in TRUE_WORDS:
            raise NbrError(f"{word!r} is not a value of a bit: it is 0 or 1")
        return TRUE_WORDS[word.lower()]

    def said(self) -> str:
        return "bit"
