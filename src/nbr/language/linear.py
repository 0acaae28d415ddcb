"""Comparisons between numbers: a weighted sum of variables and of counts against a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import permutations

from torch import Tensor

from nbr.errors import NbrError, suggest
from nbr.language.expressions import Atom, Count, Expression, Not, quoted, rebuilt, with_atoms
from nbr.language.ranges import counted as written_out
from nbr.world import World

ROUNDING = 1e-9  # of the numbers added up: what counts as equal, since sums are rounded
TURNED = {"=": "=", "!=": "!=", ">=": "<=", "<=": ">=", ">": "<", "<": ">"}


@dataclass(frozen=True)
class Linear(Expression):
    """`income >= 3*rent` as 1 income - 3 rent >= 0; a counted statement adds its weight where it holds.

    >>> from nbr.language import parse
    >>> print(parse("3*rent + 100 <= income"))
    3*rent + 100<=income
    """

    weights: tuple[tuple[float, str], ...]
    counted: tuple[tuple[float, Expression], ...]
    operator: str
    number: float
    at: int = field(default=0, compare=False)
    sums = True

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
                if not world.variables[name].adds:
                    noun = world.variables[name].noun
                    raise NbrError(f"{name!r} is {noun}, and only numbers, bits and counts can be added and compared")
        except NbrError as error:
            raise NbrError(f"{error} (at character {self.at + 1})", at=self.at + 1) from None

    def holds(self, world: World, points: Tensor) -> Tensor:
        total, size = points.new_zeros(len(points)), points.new_full((len(points),), abs(self.number))
        for weight, name in self.weights:
            share = weight * points[:, world.column(name)]
            total, size = total + share, size + share.abs()
        for weight, part in self.counted:
            share = weight * part.holds(world, points).to(points.dtype)
            total, size = total + share, size + share.abs()
        return compare(self.operator, total - self.number, ROUNDING * size)

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        return replace(self, counted=tuple((weight, change(part)) for weight, part in self.counted))

    def replaced(self, atom: Callable[[Atom], Expression]) -> Expression:
        moved = [(weight, atom(Atom(name, at=self.at))) for weight, name in self.weights]
        weights = tuple((weight, each.name) for weight, each in moved if isinstance(each, Atom))
        return replace(
            self, weights=weights, counted=tuple((weight, with_atoms(part, atom)) for weight, part in self.counted)
        )

    def __str__(self) -> str:
        left: list[str] = []
        right: list[str] = []
        for weight, name in self.weights:
            (left if weight > 0 else right).append(times(abs(weight), quoted(name)))
        for weight in dict.fromkeys(weight for weight, _ in self.counted):
            same = ", ".join(str(part) for other, part in self.counted if other == weight)
            (left if weight > 0 else right).append(times(abs(weight), f"count({same})"))
        if self.number:
            (right if self.number > 0 else left).append(written(abs(self.number)))
        return f"{' + '.join(left) or '0'}{self.operator}{' + '.join(right) or '0'}"


def compare(operator: str, gap: Tensor, near: Tensor) -> Tensor:
    """Whether a gap is as the operator asks; what is near 0 is equal."""
    equal = gap.abs() <= near
    match operator:
        case "=":
            return equal
        case "!=":
            return ~equal
        case ">=" | ">":
            return (gap > 0) | equal if operator == ">=" else (gap > 0) & ~equal
    return (gap < 0) | equal if operator == "<=" else (gap < 0) & ~equal


def linears(statement: Expression) -> list[Linear]:
    """The comparisons between numbers in a statement."""
    return [part for part in statement.summed if isinstance(part, Linear)]


def resolved(statement: Expression, world: World) -> Expression:
    """The same statement where the names in it are those of a world: in `grade < high`, high may be a label.

    >>> import nbr
    >>> print(resolved(nbr.parse("grade < high"), nbr.World(grade=nbr.Ordered("low", "high"))))
    grade<high
    """

    def change(part: Expression) -> Expression | None:
        return _against_label(part, world) if isinstance(part, Linear) else None

    return rebuilt(statement, change) if linears(statement) else statement


def _against_label(line: Linear, world: World) -> Expression | None:
    """A variable against one of its labels, if that is what a comparison of two names says."""
    if len(line.weights) == 2 and not line.counted and not line.number:
        for (weight, name), (other, label) in permutations(line.weights):
            variable = world.variables.get(name)
            if variable is not None and not variable.adds and label not in world.variables and weight == -other:
                return Atom(name, line.operator if weight > 0 else TURNED[line.operator], (label,), line.at)
    return None


def compares_numbers(statements: Iterable[Expression | None]) -> bool:
    """Whether some of the statements compare numbers with each other."""
    return any(linears(each) for each in statements if each is not None)


def normal(
    weights: dict[str, float], counted: list[tuple[float, Expression]], operator: str, number: float, at: int
) -> Expression:
    """The simplest statement that says it: of one variable an atom, of whole counts alone a count."""
    kept = {name: weight for name, weight in weights.items() if weight}
    if not kept and counted and all(weight.is_integer() for weight, _ in counted):
        parts: list[Expression] = []
        for weight, part in counted:
            written_out(int(abs(weight)), at)
            parts += [part if weight > 0 else Not(part)] * int(abs(weight))
            number -= min(weight, 0.0)
        return Count(tuple(parts), operator, number)
    if len(kept) == 1 and not counted:
        ((name, weight),) = kept.items()
        return Atom(name, operator if weight > 0 else TURNED[operator], (written(number / weight),), at)
    ordered = tuple((weight, name) for name, weight in kept.items())
    return Linear(ordered, tuple(counted), operator, number, at)


def written(number: float) -> str:
    return str(int(number)) if float(number).is_integer() and abs(number) < 1e15 else repr(float(number))


def times(weight: float, what: str) -> str:
    return what if weight == 1 else f"{written(weight)}*{what}"
