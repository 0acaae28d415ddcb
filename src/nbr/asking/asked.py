"""A part of a question as ways take it, with what several of them want to know of it."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from nbr.asking.components import Component, is_crisp
from nbr.asking.outcome import Outcome
from nbr.calculus import Selectors
from nbr.encodings import Listing, StatementEncoding, regions_missing, tied_variables
from nbr.language import Constant, Expression
from nbr.rules import Rule
from nbr.ways import SHARES, Limits

Memo = MutableMapping[object, Outcome]  # what was found out about parts that other questions share


@dataclass(frozen=True)
class AskedPart:
    """A part of a question, the pieces of a grid if someone asked for so many, and what is known already."""

    part: Component
    limits: Limits = field(default_factory=Limits)
    grid: int | None = None
    memo: Memo | None = None

    @cached_property
    def listing(self) -> Listing:
        """All points that matter, counted and not built."""
        return Listing.of(*self.part.question)

    @cached_property
    def crisp(self) -> bool:
        """Whether every rule is a statement."""
        return all(map(is_crisp, self.part.model.rules))

    @cached_property
    def sharing(self) -> str | None:
        """Why a way cannot take it that draws or goes through rules each for itself; None if it can."""
        if self.part.model.shares and isinstance(self.part.model.presence, Selectors):
            return "rules share a source, or exclude each other"
        return None

    @cached_property
    def folded(self) -> Component:
        """The part with a fuzzy condition as one more rule that is always there."""
        if not isinstance(self.part.condition, Rule) or self.part.model.codec is not None:
            return self.part
        rules = (*self.part.model.rules, self.part.condition.with_belief(1.0))
        return replace(self.part, model=self.part.model.with_rules(rules), condition=None)

    @cached_property
    def untold(self) -> str | None:
        """Why comparisons between numbers do not tell all that there is, in words for a user; None if they do."""
        if self.part.model.codec is not None:
            return None
        return regions_missing(tied_variables(*self.part.question, seconds=SHARES["comparisons"] * self.limits.left))

    @cached_property
    def unstated(self) -> str | None:
        """Why question, condition and rules are not all statements; None if they are."""
        if self.grid is not None:
            return "a grid was requested"
        if not isinstance(self.part.proposition, Expression):
            return "the question is fuzzy"
        return StatementEncoding.unfit(self.folded.model, self.folded.condition)

    @cached_property
    def no_statements(self) -> str | None:
        """Why they are not statements that can be counted, with all regions that comparisons make; None if they are."""
        return self.unstated or self.untold

    @property
    def stated(self) -> tuple[Expression, Expression | None]:
        """Question and condition, where both are statements."""
        asked, condition = self.folded.proposition, self.folded.condition
        assert isinstance(asked, Expression)
        assert condition is None or isinstance(condition, Expression)
        return asked, condition

    @property
    def whole(self) -> float | None:
        """E f_C, if an earlier question found it out."""
        known = None if self.memo is None else self.memo.get(key(replace(self.folded, proposition=Constant(True))))
        return None if known is None else known.whole[0]

    def remember(self, found: Outcome) -> None:
        """Keep E f_C for later questions under the same condition."""
        known = key(replace(self.folded, proposition=Constant(True)))
        if self.memo is not None and known is not None and found.exact:
            self.memo[known] = replace(found, plausibility=(1, 1), doubt=(0, 0))


def key(part: Component) -> object | None:
    """What tells one part from another, where that can be said: where all its rules are statements."""
    if any(rule.expression is None for rule in part.model.rules):
        return None
    if not all(each is None or isinstance(each, Expression) for each in (part.proposition, part.condition)):
        return None
    rules = tuple((rule.expression, rule.degree, rule.source, rule.choice) for rule in part.model.rules)
    return part.model.world, part.model.closed, rules, part.proposition, part.condition
