"""Sums of whole numbers by what is left after division: `(d1 + 2*d2 + 3*d3) mod 11 = 0`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from nbr.errors import NbrError, suggest
from nbr.language.expressions import COMPARE, Atom, Expression, quoted, with_atoms
from nbr.language.linear import times, written
from nbr.world import World

LARGEST = 1000  # modulus, and values of a variable: all of them are told apart


@dataclass(frozen=True)
class Modulo(Expression):
    """A sum of whole weights times variables, and of counted statements, modulo a whole number, against a number.

    >>> from nbr.language import parse
    >>> print(parse("(d1 + 3*d2 - 1) mod 10 = 0"))
    (d1 + 3*d2 - 1) mod 10=0
    """

    sums = True
    weights: tuple[tuple[int, str], ...]
    counted: tuple[tuple[int, Expression], ...]
    offset: int
    modulus: int
    operator: str
    number: float
    at: int = field(default=0, compare=False)

    @property
    def parts(self) -> tuple[Expression, ...]:
        return tuple(part for _, part in self.counted)

    def names(self) -> frozenset[str]:
        return super().names() | {name for _, name in self.weights}

    def check(self, world: World) -> None:
        super().check(world)
        try:
            for _, name in self.weights:
                if name not in world.variables:
                    raise NbrError(f"{name!r} is not a number and not a variable" + suggest(name, world.names))
                whole_values(name, world)
        except NbrError as error:
            raise NbrError(f"{error} (at character {self.at + 1})", at=self.at + 1) from None

    def cuts(self, world: World) -> dict[str, set[float]]:
        """Every value of a number that it adds is told apart from every other."""
        found = super().cuts(world)
        for _, name in self.weights:
            if world.variables[name].numeric:
                found.setdefault(name, set()).update(whole_values(name, world))
        return found

    def holds(self, world: World, points: Tensor) -> Tensor:
        total = points.new_full((len(points),), float(self.offset))
        for weight, name in self.weights:
            total = total + weight * points[:, world.column(name)]
        for weight, part in self.counted:
            total = total + weight * part.holds(world, points).to(points.dtype)
        return COMPARE[self.operator](torch.remainder(total.round(), self.modulus), self.number)

    def fits(self) -> list[bool]:
        """Which of the remainders 0, 1 .. are as asked for."""
        found: list[bool] = COMPARE[self.operator](torch.arange(self.modulus).double(), self.number).tolist()
        return found

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        return replace(self, counted=tuple((weight, change(part)) for weight, part in self.counted))

    def replaced(self, atom: Callable[[Atom], Expression]) -> Expression:
        moved = [(weight, atom(Atom(name, at=self.at))) for weight, name in self.weights]
        weights = tuple((weight, each.name) for weight, each in moved if isinstance(each, Atom))
        counted = tuple((weight, with_atoms(part, atom)) for weight, part in self.counted)
        return replace(self, weights=weights, counted=counted)

    def __str__(self) -> str:
        terms = [(weight, quoted(name)) for weight, name in self.weights]
        for weight in dict.fromkeys(weight for weight, _ in self.counted):
            same = ", ".join(str(part) for other, part in self.counted if other == weight)
            terms.append((weight, f"count({same})"))
        said = [(weight < 0, times(abs(weight), what)) for weight, what in terms]
        if self.offset:
            said.append((self.offset < 0, written(abs(self.offset))))
        first = "-1*" if said[0][0] else ""
        rest = "".join(f" {'-' if below else '+'} {words}" for below, words in said[1:])
        return f"({first}{said[0][1]}{rest}) mod {self.modulus}{self.operator}{written(self.number)}"


def whole_values(name: str, world: World) -> list[float]:
    """The values of a variable, which must be whole numbers and not too many."""
    variable = world.variables[name]
    if not variable.adds:
        raise NbrError(f"{name!r} is {variable.noun}, and mod needs whole numbers, bits and counts")
    if not variable.numeric:
        return [0.0, 1.0]
    if not variable.step or not float(variable.step).is_integer() or not float(variable.low).is_integer():
        raise NbrError(f"{name!r} is not a whole number, and mod needs whole numbers: give it a step of 1")
    assert variable.size is not None
    if variable.size > LARGEST:
        raise NbrError(f"{name!r} has {variable.size:,} values, and mod takes up to {LARGEST:,}")
    return [variable.low + place * variable.step for place in range(variable.size)]


def modulo(
    weights: dict[str, float],
    counted: list[tuple[float, Expression]],
    offset: float,
    modulus: float,
    operator: str,
    number: float,
    at: int,
) -> Modulo:
    """From what was written; an error where that is not whole."""
    if not (modulus.is_integer() and 2 <= modulus <= LARGEST):
        raise NbrError(f"mod takes a whole number from 2 to {LARGEST}, at character {at + 1}", at + 1)
    added = (*weights.values(), offset, *(weight for weight, _ in counted))
    if not all(math.isfinite(each) and each.is_integer() for each in added):
        raise NbrError(f"before mod only whole numbers multiply and add, at character {at + 1}", at + 1)
    kept = tuple((int(weight), name) for name, weight in weights.items() if weight)
    parts = tuple((int(weight), part) for weight, part in counted if weight)
    if not kept and not parts:
        raise NbrError(f"the comparison at character {at + 1} contains no variable", at + 1)
    return Modulo(kept, parts, int(offset), int(modulus), operator, number, at)


def modulos(statement: Expression) -> list[Modulo]:
    """The sums with a remainder in a statement."""
    return [part for part in statement.summed if isinstance(part, Modulo)]
