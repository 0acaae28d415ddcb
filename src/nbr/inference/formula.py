"""A question as a propositional formula, for engines that count or search instead of going through points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

Clause = tuple[int, ...]
UNIONS = ("yes", "no", "all")  # points for the question, points against it, all points


@dataclass(frozen=True)
class Formula:
    """Clauses over variables numbered from 1; where the selector of a rule is true, so is the rule.

    Each way to set the selectors is a world y, and it allows a point exactly if the clauses can be satisfied. The
    literal `question` is true exactly at the points where the question holds.
    """

    clauses: Sequence[Clause]
    variables: int
    selectors: tuple[int, ...]
    question: int
    beliefs: Tensor  # (rules,)

    def extra(self, union: str) -> list[int]:
        """The literals that must be true at a point of a union."""
        return {"yes": [self.question], "no": [-self.question], "all": []}[union]

    def asking(self, union: str) -> list[Clause]:
        """The clauses for the points of a union."""
        return [*self.clauses, *((literal,) for literal in self.extra(union))]
