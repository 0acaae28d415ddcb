"""Answering by what is possible: rules and much evidence about single variables, such as that of pictures."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.asking import by_statements
from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome, of_formula
from nbr.calculus import Estimate
from nbr.clock import OutOfTime
from nbr.factors import Compiled, Forms, Structure, aligned, compiled, probability_possible, structure_of, too_wide
from nbr.language import conjuncts
from nbr.ways import Attempt, Cost, Limits, Unfit, Way

WHY = "rules and pictures leave few different sets of points possible"
KEPT = (64, 512, 4096)  # forms of a table, in turn
LEAST = 1e-16  # probability of forms that are left out even so, of what is left of all
ROUNDING = 1e-13  # of an expectation: bounds no further apart are rounding
RULES = 2000
ENTRIES, PRODUCTS = 1 << 16, 1 << 24  # of tables on the way, in each of their forms


class Relations(Way[AskedPart, Outcome]):
    """Exactly, or between bounds where forms are many."""

    name = "relations"

    def unfit(self, asked: AskedPart) -> str | None:
        if asked.unstated or asked.sharing:
            return asked.unstated or asked.sharing
        if not asked.crisp:
            return "the rules are fuzzy"
        rules = [rule for rule in asked.folded.model.rules if rule.degree > 0]
        alone = sum(len(rule.inputs) == 1 for rule in rules)
        if len(rules) > RULES or 2 * alone < len(rules):
            return f"it is for up to {RULES:,} rules of which half or more are about a single variable"
        return None

    def cost(self, asked: AskedPart) -> Cost:
        return Cost(0.02)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome | None:
        return self.attempt(asked)(limits)

    def attempt(self, asked: AskedPart) -> Attempt[Outcome]:
        """Called again, it goes on with more forms."""
        kept: list[RelationTables] = []
        left = list(KEPT)

        def run(limits: Limits) -> Outcome | None:
            if not kept:
                kept.append(RelationTables.of(asked))
            found: Outcome | None = None
            while left:
                try:
                    estimate = kept[0].estimate(left[0], asked.whole)
                except OutOfTime:
                    if found is None:
                        raise
                    break
                left.pop(0)
                if float(estimate.high[2]) == 0:
                    return by_statements.counted(asked, limits)  # says what contradicts what
                now = of_formula(estimate, why=WHY)
                asked.remember(now)
                found = now if found is None else found.narrowed(now)
                if found.exact:
                    break
            return found

        return run


@dataclass(frozen=True)
class RelationTables:
    """The rules, the condition and the question of a part as tables of truth."""

    made: Structure
    plan: Compiled
    beliefs: tuple[float, ...]  # of the statements; the question is the last one

    @classmethod
    def of(cls, asked: AskedPart) -> RelationTables:
        proposition, condition = asked.stated
        model = asked.folded.model
        said = [(rule.at_least(1.0), float(rule.degree)) for rule in model.rules]
        told = [(each, belief) for each, belief in said if each is not None and belief > 0]
        told += [(each, 1.0) for each in (() if condition is None else conjuncts(condition))]
        made = structure_of(model.world, [*(each for each, _ in told), proposition], [])
        if made.compared:
            raise Unfit("numbers are compared with each other")
        plan = compiled(made, [], {}, 0.1)
        reason = too_wide(plan.order, ENTRIES, PRODUCTS)
        if reason is not None:
            raise reason
        return cls(made, plan, tuple(belief for _, belief in told))

    def estimate(self, kept: int, whole: float | None) -> Estimate:
        """Bounds on E f_Q, E f_N and E f_C, the last of which may be known."""
        question = self.made.broken[-1][1]
        each = [self._between(asked, kept) for asked in (~question, question)]
        each.append(self._between(None, kept) if whole is None else (whole, whole))
        low, high = (torch.tensor(ends, dtype=torch.float64) for ends in zip(*each, strict=True))
        return Estimate(low, high, Relations.name)

    def _between(self, asked: Tensor | None, kept: int) -> tuple[float, float]:
        least = LEAST
        while True:
            low, high = probability_possible(self.plan.order, self._parts(asked, kept, least), kept, least)
            if high - low <= ROUNDING * low:
                return low, low
            few = least * (len(self.beliefs) + 2 * len(self.plan.order.steps) + 2)
            if least <= LEAST * low or high - low > few:  # nothing, or not the least probable ones alone, were too much
                return low, high
            least = LEAST * low

    def _parts(self, asked: Tensor | None, kept: int, least: float) -> list[Forms]:
        """A table for each of the order: of groups, then of single variables."""
        single = {name: place for place, name in enumerate(self.plan.open, len(self.plan.groups))}
        scopes = [*(group.scope for group in self.plan.groups), *((name,) for name in self.plan.open)]
        certain = [group.certain for group in self.plan.groups]
        certain += [torch.ones(self.made.sizes[name]) for name in self.plan.open]
        rules: list[list[tuple[Tensor, float]]] = [[] for _ in scopes]
        home = {number: place for place, group in enumerate(self.plan.groups) for number in group.rules.tolist()}
        *said, (about, _) = self.made.broken
        statements = [(names, ~broken, belief) for (names, broken), belief in zip(said, self.beliefs, strict=True)]
        if asked is not None:
            statements.append((about, asked, 1.0))
        for number, (names, allowed, belief) in enumerate(statements):
            place = single.get(names[0], home[number]) if len(names) == 1 else home[number]
            rules[place].append((aligned(allowed, names, scopes[place]), belief))
        return [Forms.of(table, own, kept, least) for table, own in zip(certain, rules, strict=True)]
