"""What to observe next: the mean gap between belief and plausibility once a variable is observed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from nbr.asking.asked import Memo
from nbr.asking.by_sets import Observed
from nbr.asking.components import components, is_crisp
from nbr.asking.explanation import Observation
from nbr.asking.question import AskSettings, Proposition, ask
from nbr.asking.ranking import classes
from nbr.calculus import sat
from nbr.encodings import Set, StatementEncoding
from nbr.errors import NbrError
from nbr.language import And, Atom, Expression, Not, conjuncts
from nbr.model import Model
from nbr.ways import SHARES, Limits

OUTCOMES = 12  # of observing a variable, up to which each is looked at

Weighed = list[tuple[Expression, int]]  # what may be observed, each for so many values of which nothing tells it apart


@dataclass(frozen=True)
class Gaps:
    """The mean gap after observing each variable that the question depends on; values weighted by their plausibility.

    Where the model says what can be observed, only that, by what it narrows for its cost. Where all minimal sets of
    rules are `known`, nothing is asked again.
    """

    model: Model
    question: Proposition
    proposition: Set
    condition: Set | None
    known: bool
    settings: AskSettings
    limits: Limits
    memo: Memo

    def ranked(self, gap_now: float) -> list[Observation]:
        """The smallest gap first."""
        if not isinstance(self.proposition, Expression) or not (
            self.condition is None or isinstance(self.condition, Expression)
        ):
            return []
        costs = self.model.aims.observable
        values = {name: self._values(name, self.condition) for name in self._names(self.proposition, self.condition)}
        outcomes = {name: told for name, told in values.items() if told is not None}
        found, sets = [], self._by_sets(outcomes, self.proposition, self.condition)
        for name, told in outcomes.items():
            if self.limits.left <= 0:
                break
            gap = self._mean(told, sets)
            if gap is not None:
                found.append(Observation(name, gap, None if costs is None else costs[name]))
        return sorted(found, key=lambda each: each.order(gap_now))

    def _by_sets(
        self, outcomes: dict[str, Weighed], proposition: Expression, condition: Expression | None
    ) -> Observed | None:
        rules = self.model.rules
        if not self.known or not sat.available() or not all(map(is_crisp, rules)):
            return None
        if StatementEncoding.unfit(self.model, condition) or self.model.closed:
            return None
        values = [value for told in outcomes.values() for value, _ in told]
        with suppress(NbrError):  # comparisons may tie too many numbers to one another
            given = [] if condition is None else conjuncts(condition)
            return Observed(self.model, proposition, list(given), values)
        return None

    def _mean(self, told: Weighed, sets: Observed | None) -> float | None:
        weight = total = 0.0
        for value, times in told:
            bounds = None if sets is None else sets.bounds(value, self.limits.share(SHARES["one observation"]).deadline)
            if bounds is None:
                both = value if self.condition is None else And((self.condition, value))  # type: ignore[arg-type]
                settings = replace(self.settings, budget=max(self.limits.share(SHARES["one observation"]).left, 1e-3))
                try:
                    bounds = ask(self.model, self.question, both, settings, self.memo).bounds
                except NbrError:  # the condition rules this value out
                    continue
            share = times * (1 - bounds.conflict[0])  # Pl of the value, but for a factor
            weight, total = weight + share, total + share * (bounds.plausibility[1] - bounds.belief[0])
            if self.limits.left <= 0:
                return None
        return total / weight if weight > 0 else None

    def _names(self, proposition: Expression, condition: Expression | None) -> list[str]:
        """Those that rules of the question read; that share a rule with it first, then that share one with these."""
        asked, *_ = components(self.model, proposition, condition)
        known = {name for part in ([] if condition is None else conjuncts(condition)) for name in _fixed(part)}
        read = {name for rule in asked.model.rules for name in rule.inputs}
        costs = self.model.aims.observable
        names = [
            name
            for name in asked.model.world.names
            if name in read - known - proposition.names() and (costs is None or name in costs)
        ]
        distance = dict.fromkeys(proposition.names(), 0)
        frontier = set(distance)
        while frontier:
            near = [rule for rule in asked.model.rules if frontier & set(rule.inputs)]
            step = {name for rule in near for name in rule.inputs if name not in distance}
            distance |= {name: 1 + max(distance.values()) for name in step}
            frontier = step
        return sorted(names, key=lambda name: distance.get(name, len(distance)))

    def _values(self, name: str, condition: Expression | None) -> Weighed | None:
        """What may come of observing a variable: its values, or the pieces that statements cut a number into."""
        variable = self.model.world.variables[name]
        if not variable.numeric and len(variable.labels) > OUTCOMES:
            return None
        found = classes(self.model, name, () if condition is None else (condition,))
        if not variable.numeric:
            return [(value, len(labels)) for value, labels in found]
        return [(value, 1) for value, _ in found] if len(found) <= OUTCOMES and self.model.aims.observable else None


def _fixed(part: Expression) -> frozenset[str]:
    """The variable that a part of the condition settles, if it does."""
    plain = part.part if isinstance(part, Not) else part
    settled = isinstance(plain, Atom) and (plain.operator in ("", "=") and (plain is part or not plain.operator))
    return part.names() if settled else frozenset()
