"""Where an engine gets what it needs for one question.

A source offers some of three things. *Rows* are grades that points attain, and covers for all points not gone through.
A *formula* holds, at a level of grade, exactly where the rules that are present can hold together: it can be counted.
To *decide* is to find a point at which some rules hold, or a core: rules among them that no point satisfies together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from nbr.calculus import Formula
from nbr.encodings.rows import Rows
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.rules import Rule
from nbr.ways import Limits

Set = Expression | Rule


@dataclass(frozen=True)
class Decision:
    """A point at which some rules hold, or a core that leaves none; neither where it is not known."""

    point: dict[str, float] | None = None
    core: frozenset[int] | None = None


class Encoding(ABC):
    """What is offered for a proposition under a condition: rows, or a formula, or both."""

    model: Model  # points are points of its world; rows have its rules, and a fuzzy condition as one more

    @classmethod
    @abstractmethod
    def of(cls, model: Model, proposition: Set, condition: Set | None) -> Self:
        """The source for a question, or an error that says why it cannot take it."""

    def rows(self, limits: Limits) -> Rows | None:
        """Witnesses and covers, as many as time allows; None where a source goes through no points."""
        return None

    @property
    def levels(self) -> list[float]:
        """Ascending grades between which the formula stays the same."""
        return [1.0]

    def formula(self, level: float) -> Formula:
        """Where the rules that are present have a grade of at least the level."""
        raise NbrError(f"{type(self).__name__} offers no formula")

    def decide(self, rules: Collection[int], level: float, union: str, limits: Limits) -> Decision:
        """Whether a point for the question ("yes"), against it ("no") or any ("all") has a level in some rules."""
        rows = self.rows(limits)
        return Decision() if rows is None else _from_rows(rows, self.model, rules, level, union)


def _from_rows(rows: Rows, model: Model, rules: Collection[int], level: float, union: str) -> Decision:
    inside = {"yes": rows.member > 0, "no": rows.member < 1, "all": rows.member >= 0}[union]
    chosen = sorted(rules)
    attained = (rows.witnesses[:, chosen] >= level).all(dim=1) & inside
    if bool(attained.any()):
        point = rows.points[int(attained.int().argmax())]
        return Decision(point=dict(zip(model.world.names, point.tolist(), strict=True)))
    open_ = {"yes": rows.member_most > 0, "no": rows.member_least < 1, "all": rows.member_most >= 0}[union]
    reached = rows.most[open_] >= level

    def empty(some: list[int]) -> bool:
        return not bool(reached[:, some].all(dim=1).any())

    if not empty(chosen):
        return Decision()
    for rule in list(chosen):
        others = [each for each in chosen if each != rule]
        chosen = others if empty(others) else chosen
    return Decision(core=frozenset(chosen))
