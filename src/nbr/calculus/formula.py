"""A question as a propositional formula, for engines that count or search instead of going through points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch import Tensor

Clause = tuple[int, ...]
UNIONS = ("yes", "no", "all")  # points for the question, points against it, all points


@dataclass(frozen=True)
class Shared:
    """Independent numbers with their probabilities, and for each rule literals that are all true where it is there.

    None where it never is.
    """

    chance: dict[int, float]
    guards: list[list[int] | None]

    def clauses(self, selectors: Sequence[int]) -> list[Clause]:
        """Where its literals are true, so is the selector of a rule."""
        told = zip(selectors, self.guards, strict=True)
        return [(*(-literal for literal in guard), selector) for selector, guard in told if guard is not None]

    def literals(self, rules: Iterable[int]) -> frozenset[int] | None:
        """What is true where all of some rules are there; None where they never are."""
        guards = [self.guards[rule] for rule in rules]
        found = frozenset(literal for guard in guards for literal in guard or ())
        return None if None in guards or any(-literal in found for literal in found) else found


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
    beliefs: Tensor  # (rules,): how likely each is to be there
    shared: Shared | None = None  # where rules are not there each for itself
    monotone: bool = True  # whether a world allows all that one with more rules does
    settled: bool = False  # whether a world has at most one point

    @property
    def chance(self) -> dict[int, float]:
        """Independent numbers, and how likely each is to be true: all else hangs on these."""
        if self.shared is not None:
            return self.shared.chance
        return dict(zip(self.selectors, self.beliefs.tolist(), strict=True))

    def extra(self, union: str) -> list[int]:
        """The literals that must be true at a point of a union."""
        return {"yes": [self.question], "no": [-self.question], "all": []}[union]

    def asking(self, union: str) -> list[Clause]:
        """The clauses for the points of a union, and when rules are there."""
        there = [] if self.shared is None else self.shared.clauses(self.selectors)
        return [*self.clauses, *there, *((literal,) for literal in self.extra(union))]
