"""What stands on either side of a comparison, before it is known what is compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token

from nbr.errors import NbrError, suggest
from nbr.language.expressions import Expression
from nbr.language.linear import normal
from nbr.language.modulo import modulo


@dataclass(frozen=True)
class Names:
    """A name, or a range of them, each with where it starts."""

    names: list[tuple[str, int]]
    first: Token
    range: bool


@dataclass(frozen=True)
class Called:
    """A function such as count(..) of statements."""

    function: Token
    parts: tuple[Expression, ...]

    @property
    def at(self) -> int:
        return self.function.start_pos or 0

    def known(self, functions: Sequence[str]) -> str:
        name = self.function.lower()
        if name not in functions:
            said = f"unknown function {str(self.function)!r} at character {self.at + 1}"
            raise NbrError(said + suggest(name, functions), self.at + 1)
        return name


@dataclass(frozen=True)
class Sum:
    """Weights of numbers (None), names and counts."""

    terms: tuple[tuple[float, Names | Called | None], ...]
    at: int


@dataclass(frozen=True)
class Remainder:
    """What is left of a sum after division."""

    sum: Sum
    modulus: float


Side = Token | Names | Called | Sum | Remainder


def start(side: Side) -> int:
    """Where it starts in what the user wrote."""
    if isinstance(side, Token):
        return side.start_pos or 0
    if isinstance(side, Remainder):
        return side.sum.at
    return side.names[0][1] if isinstance(side, Names) else side.at


def remainder(side: Side, number: Token) -> Remainder:
    """A sum modulo a number."""
    return Remainder(_sum(side), float(number))


def _sum(side: Side) -> Sum:
    at = start(side)
    if isinstance(side, Token):
        if side.type != "NUMBER" or not math.isfinite(float(side)):
            raise NbrError(
                f"cannot read {str(side)!r} at character {at + 1}: it is neither a number nor a name", at + 1
            )
        return Sum(((float(side), None),), at)
    if isinstance(side, Names) and side.range:
        raise NbrError(f"a range cannot be added: write count(...), or the names, at character {at + 1}", at + 1)
    if isinstance(side, Remainder):
        raise NbrError(f"the result of mod can only be compared with a number, at character {at + 1}", at + 1)
    if isinstance(side, Called) and side.function.lower() != "count":
        raise NbrError(f"only count(...) can be added, at character {at + 1}", at + 1)
    return side if isinstance(side, Sum) else Sum(((1.0, side),), at)


def _scaled(side: Side, weight: float) -> Sum:
    made = _sum(side)
    return Sum(tuple((weight * each, what) for each, what in made.terms), made.at)


def times(one: Side, other: Side) -> Sum:
    """A product, one of whose factors is a number."""
    for number, rest in ((one, other), (other, one)):
        if isinstance(number, Token) and number.type == "NUMBER":
            return _scaled(rest, _sum(number).terms[0][0])
    at = start(other) + 1
    raise NbrError(f"only a number can multiply, as in 3*rent, at character {at}", at)


def over(one: Side, number: Token) -> Sum:
    if not float(number):
        at = start(number) + 1
        raise NbrError(f"division by 0 at character {at}", at)
    return _scaled(one, 1 / float(number))


def added(first: Side, others: Sequence[Token | Side]) -> Sum:
    """A sum; a number may bring its own sign."""
    terms, sign = list(_sum(first).terms), ""
    for each in others:
        if isinstance(each, Token) and each.type == "SIGN":
            sign = str(each)
            continue
        if not sign and not (isinstance(each, Token) and each[0] in "+-"):
            at = start(each) + 1
            raise NbrError(f"an operator is missing before {each} at character {at}", at)
        terms += _scaled(each, -1.0 if sign == "-" else 1.0).terms
        sign = ""
    return Sum(tuple(terms), start(first))


def _gathered(
    terms: Sequence[tuple[float, Names | Called | None]],
) -> tuple[dict[str, float], list[tuple[float, Expression]], float]:
    """The weights of variables, those of counted statements, and the number that is added."""
    weights: dict[str, float] = {}
    counted: list[tuple[float, Expression]] = []
    number = 0.0
    for weight, what in terms:
        if what is None:
            number += weight
        elif isinstance(what, Names):
            weights[what.names[0][0]] = weights.get(what.names[0][0], 0.0) + weight
        else:
            counted += [(weight, part) for part in what.parts]
    return weights, counted, number


def difference(left: Side, operator: str, right: Side) -> Expression:
    """What is left of a comparison when all that varies stands on the left, and the number on the right."""
    at = start(left)
    if isinstance(left, Remainder):
        weights, counted, offset = _gathered(left.sum.terms)
        free, others, number = _gathered(_sum(right).terms)
        if free or others:
            raise NbrError(f"the result of mod can only be compared with a number, at character {at + 1}", at + 1)
        return modulo(weights, counted, offset, left.modulus, operator, number, at)
    weights, counted, number = _gathered((*_sum(left).terms, *_scaled(right, -1.0).terms))
    number = -number
    if not any(weights.values()) and not counted:
        raise NbrError(f"the comparison at character {at + 1} contains no variable", at + 1)
    return normal(weights, counted, operator, number, at)
