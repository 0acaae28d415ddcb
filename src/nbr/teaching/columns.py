"""Columns of whole numbers that a statement about many rows names: `10*a1 + a0 + 10*b1 + b0 = s`.

A column is a variable that every row knows. Numbers of any length are taken digit by digit, so that a statement about
them is a chain of small tables: to be long costs no more than to have that many digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from nbr.errors import NbrError
from nbr.language import Expression, Linear, Modulo
from nbr.language import expressions as ex
from nbr.priors import HIDDEN
from nbr.world import Real

BASE = 10
WHOLE = 20  # different values up to which a number is not taken apart


@dataclass(frozen=True)
class DigitColumn:
    """Whole numbers as digits, the lowest first; the last one is what is left, below 0 too."""

    name: str
    lows: tuple[int, ...]  # the smallest value of each digit
    sizes: tuple[int, ...]
    codes: Tensor  # (rows, digits), from 0

    @classmethod
    def of(cls, name: str, numbers: Sequence[object]) -> DigitColumn:
        """From whole numbers of any size.

        >>> DigitColumn.of("s", [12, 345]).codes
        tensor([[2, 1, 0],
                [5, 4, 3]])
        """
        left = [_whole(name, row, number) for row, number in enumerate(numbers, 1)]
        digits: list[list[int]] = []
        while left and max(left) - min(left) >= WHOLE:
            digits.append([number % BASE for number in left])
            left = [number // BASE for number in left]
        low = min(left, default=0)
        codes = torch.tensor([*digits, [number - low for number in left]], dtype=torch.long).T
        lows, sizes = (0,) * len(digits), (BASE,) * len(digits)
        return cls(name, (*lows, low), (*sizes, max(2, max(left, default=0) - low + 1)), codes)

    @property
    def names(self) -> list[str]:
        """Of the variables that the digits are."""
        return [f"{HIDDEN}{self.name} {place}" for place in range(len(self.sizes))]

    @property
    def variables(self) -> dict[str, Real]:
        each = zip(self.names, self.lows, self.sizes, strict=True)
        return {name: Real(low, low + size - 1, step=1) for name, low, size in each}

    def known(self, rows: Tensor) -> dict[str, Tensor]:
        """A weight of 1 for the digit of each row: (rows, values)."""
        codes = self.codes[rows]
        each = enumerate(zip(self.names, self.sizes, strict=True))
        return {name: one_hot(codes[:, place], size).double() for place, (name, size) in each}

    def weights(self, weight: float) -> list[tuple[float, str]]:
        """A multiple of the number as a sum over its digits; scales are written, so that they stand for themselves."""
        scales = [float(f"1e{place}") for place in range(len(self.sizes))]
        return [(_times(weight, scale), name) for scale, name in zip(scales, self.names, strict=True)]


def _times(weight: float, scale: float) -> float:
    """A product as it would be written: 3 times 1e23 is 3e23, which plain floats miss."""
    return float(repr(weight) + repr(scale).removeprefix("1")) if scale >= 1e16 else weight * scale


def _whole(name: str, row: int, number: object) -> int:
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**53:
        return int(number)
    if isinstance(number, str) and number.strip().lstrip("+-").isdecimal():
        return int(number)
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise NbrError(
            f"row {row} of {name!r} is {number!r:.60}, and columns named in statements must hold whole numbers"
        )
    return int(number)


def spelled(statement: Expression, columns: Mapping[str, DigitColumn]) -> Expression:
    """The same statement about the digits of columns."""
    match statement:
        case ex.Atom(operator="=" | "", values=(other,)) if other in columns and statement.name not in columns:
            return Linear(((1.0, statement.name), *_signed(columns[other], -1.0)), (), "=", 0.0, statement.at)
        case ex.Atom() if statement.name in columns or any(value in columns for value in statement.values):
            name = statement.name if statement.name in columns else next(v for v in statement.values if v in columns)
            raise NbrError(f"{name!r} is a column of numbers, which statements add up and compare, not {statement}")
        case Linear():
            weights = [pair for weight, name in statement.weights for pair in _one(columns, weight, name)]
            counted = tuple((weight, spelled(part, columns)) for weight, part in statement.counted)
            return replace(statement, weights=tuple(weights), counted=counted)
        case Modulo():
            pairs = [pair for weight, name in statement.weights for pair in _one(columns, weight, name)]
            inside = tuple((int(weight) % statement.modulus, name) for weight, name in pairs)
            parts = tuple((weight, spelled(part, columns)) for weight, part in statement.counted)
            return replace(statement, weights=inside, counted=parts)
        case ex.Not():
            return ex.Not(spelled(statement.part, columns))
        case ex.Implies():
            return ex.Implies(spelled(statement.premise, columns), spelled(statement.conclusion, columns))
        case ex._Several():
            return replace(statement, several=tuple(spelled(part, columns) for part in statement.parts))
    return statement


def _one(columns: Mapping[str, DigitColumn], weight: float, name: str) -> Sequence[tuple[float, str]]:
    return columns[name].weights(weight) if name in columns else [(weight, name)]


def _signed(column: DigitColumn, weight: float) -> tuple[tuple[float, str], ...]:
    return tuple(column.weights(weight))
