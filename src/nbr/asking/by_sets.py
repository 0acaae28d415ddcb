"""What all minimal sets of rules tell: answers without a rule, or after an observation, without asking again.

E f of some points is the probability that no set of rules is there that allows none of them. Without a rule the sets
are those that it is not in; after an observation they are those of before, and others that are soon found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from nbr.asking.answer import Bounds
from nbr.asking.minimal import Minimal
from nbr.asking.question import tidy
from nbr.asking.reasons import Families, Sets
from nbr.calculus import UNIONS, Shared, all_selectors, detached, probability_of_no_core, selector_guards
from nbr.encodings import StatementEncoding
from nbr.language import Expression
from nbr.model import Model


class Told:
    """The answers that families of minimal sets give, each worked out once."""

    def __init__(self, model: Model) -> None:
        self.shared = Shared(*selector_guards(all_selectors(detached(model.presence)), count(1).__next__))
        self.known: dict[frozenset[frozenset[int]], float | None] = {}

    def none_of(self, sets: Iterable[frozenset[int]]) -> float | None:
        """The probability that no set is there; None where that takes many steps."""
        there = (self.shared.literals(each) for each in sets)
        asked = frozenset(literals for literals in there if literals is not None)
        if asked not in self.known:
            self.known[asked] = probability_of_no_core(asked, self.shared.chance)
        return self.known[asked]

    def bounds(self, families: Mapping[str, Sets]) -> Bounds | None:
        """An answer; None where it takes many steps or there is none."""
        values = [self.none_of(families[union]) for union in UNIONS]
        yes, no, whole = (value or 0.0 for value in values)
        if None in values or not whole:
            return None
        plausibility = min(1.0, yes / whole)
        belief = min(max(0.0, 1 - no / whole), plausibility)
        return Bounds(tidy(belief, belief), tidy(plausibility, plausibility), tidy(1 - whole, 1 - whole), "proved")

    def without(self, families: Families, rule: int) -> Bounds | None:
        """The answer if a rule were not there."""
        return self.bounds({union: [each for each in sets if rule not in each] for union, sets in families.items()})


class Observed:
    """The answers of a question under a condition, and after one of some observations beside."""

    def __init__(
        self, model: Model, question: Expression, conditions: Sequence[Expression], values: Iterable[Expression] = ()
    ) -> None:
        values = list(values)
        formula, encoder = StatementEncoding(model, question, conditions, values).encoded(1.0)
        self.literal = {value: encoder.literal(value) for value in values}
        usable = np.array([rule.degree > 0 for rule in model.rules], dtype=bool)
        self.minimal = Minimal(replace(formula, clauses=encoder.clauses, variables=encoder.count), usable)
        self.told = Told(model)

    def families(self, deadline: float, value: Expression | None = None) -> Families | None:
        """All minimal sets, where a value was observed; None where time is up."""
        observed = [] if value is None else [self.literal[value]]
        found: Families = {}
        for union in UNIONS:
            sets = self.minimal.sets([*observed, *self.minimal.formula.extra(union)], deadline)
            if sets is None:
                return None
            found[union] = sets
        return found

    def bounds(self, value: Expression, deadline: float) -> Bounds | None:
        """The answer where a value was observed; None where it cannot be, or where there is no time."""
        families = self.families(deadline, value)
        return None if families is None else self.told.bounds(families)
