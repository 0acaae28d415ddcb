"""A question as a propositional formula, for engines that count or search instead of going through points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

Clause = tuple[int, ...]


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
    determined: bool = False  # whether the selectors settle every other variable

    def asking(self, union: str) -> list[Clause]:
        """The clauses for the points for the question ("yes"), against it ("no"), or for all ("all")."""
        extra: dict[str, list[Clause]] = {"yes": [(self.question,)], "no": [(-self.question,)], "all": []}
        return [*self.clauses, *extra[union]]
