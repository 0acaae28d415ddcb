"""A statement with a degree, which stands in conditions only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from torch import Tensor

from nbr.errors import NbrError
from nbr.language.expressions import Atom, Expression, with_atoms
from nbr.world import World


@dataclass(frozen=True)
class Graded(Expression):
    """Evidence with a degree: not a set of points, but a rule for one question, so that only a condition has it."""

    part: Expression
    degree: float
    at: int = field(default=0, compare=False)  # where the degree stands in what the user wrote
    rank = 8

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.part,)

    def holds(self, world: World, points: Tensor) -> Tensor:
        raise self.misplaced()

    def check(self, world: World) -> None:
        raise self.misplaced()

    def misplaced(self) -> NbrError:
        what = "a degree, as in 'cough @ 0.8', can only follow a whole part of a condition, not stand inside | or ~"
        return NbrError(f"{what} or in a question (at character {self.at + 1})", at=self.at + 1)

    def mapped(self, change: Callable[[Expression], Expression]) -> Expression:
        return replace(self, part=change(self.part))

    def replaced(self, atom: Callable[[Atom], Expression]) -> Expression:
        return replace(self, part=with_atoms(self.part, atom))

    def __str__(self) -> str:
        return f"{self.part if self.part.rank >= self.rank else f'({self.part})'} @ {self.degree:g}"
