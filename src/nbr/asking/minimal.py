"""All minimal sets of rules that allow no point, part by part.

A clause with a literal whose opposite stands in no other one can be satisfied whatever else holds, so that it is in no
such set, and what does not hang together is in none together. What is left are small parts, most of which many
questions have in common.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from nbr import clock
from nbr.asking.reasons import Families, Reasons, Sets, explored, minimal
from nbr.calculus import UNIONS, Clause, Deciding, Flags, Formula
from nbr.clock import OutOfTime

Ruled = tuple[int, Clause]  # the selector of a rule, 0 for what always holds, and what one clause of it says


class Minimal:
    """The minimal sets of a formula, under literals that are given; what several have in common is found once."""

    def __init__(self, formula: Formula, usable: Flags) -> None:
        self.formula = formula
        self.rule = {selector: rule for rule, selector in enumerate(formula.selectors)}
        self.clauses: list[Ruled] = []
        for clause in formula.clauses:
            selector = next((-literal for literal in clause if -literal in self.rule), 0)
            if not selector or usable[self.rule[selector]]:
                self.clauses.append((selector, tuple(literal for literal in clause if literal != -selector)))
        self.known: dict[frozenset[Ruled], Sets] = {}

    def sets(self, given: Sequence[int], deadline: float) -> Sets | None:
        """All minimal sets of rules that allow no point where these literals are true; None where time is up."""
        left = _given(self.clauses, given)
        if left is None:
            return [frozenset()]
        found: Sets = []
        try:
            for part in _parts(_lean(left)):
                clock.check()
                if part not in self.known:
                    self.known[part] = self._explored(part, deadline)
                found += self.known[part]
        except OutOfTime:
            return None
        return minimal(found)

    def _explored(self, part: frozenset[Ruled], deadline: float) -> Sets:
        selectors = tuple(sorted({selector for selector, _ in part if selector}))
        clauses = [(-selector, *said) if selector else said for selector, said in part]
        deciding = Deciding(replace(self.formula, clauses=clauses, selectors=selectors, shared=None))
        try:
            sets, complete = explored(deciding, "all", np.ones(len(selectors), dtype=bool), deadline)
        finally:
            deciding.close()
        if not complete:
            raise OutOfTime
        return [frozenset(self.rule[selectors[place]] for place in each) for each in sets]


def all_sets(formula: Formula, usable: Flags, deadline: float) -> Reasons | None:
    """Every minimal set for the question, against it and of the condition; None where time is up."""
    sought = Minimal(formula, usable)
    found: Families = {}
    for union in UNIONS:
        sets = sought.sets(formula.extra(union), deadline)
        if sets is None:
            return None
        found[union] = sets

    def consistent(sets: Sets) -> Sets:
        return [each for each in sets if not any(conflict <= each for conflict in found["all"])]

    return Reasons(consistent(found["no"]), consistent(found["yes"]), found["all"], True, True, found)


def _given(clauses: Iterable[Ruled], given: Sequence[int]) -> list[Ruled] | None:
    """What clauses say where literals are true, and all that follows without any rule; None if that cannot be."""
    true, left = set(given), list(clauses)
    while True:
        if any(-literal in true for literal in true):
            return None
        kept, units = [], set[int]()
        for selector, said in left:
            if not true.isdisjoint(said):
                continue
            short = tuple(literal for literal in said if -literal not in true)
            if not selector and len(short) < 2:
                if not short:
                    return None
                units.add(short[0])
            else:
                kept.append((selector, short))
        if not units:
            return kept
        true, left = units, kept


def _lean(clauses: list[Ruled]) -> list[Ruled]:
    """Without clauses that can be satisfied whatever else holds."""
    places: dict[int, list[int]] = {}
    for place, (_, said) in enumerate(clauses):
        for literal in said:
            places.setdefault(literal, []).append(place)
    often = {literal: len(own) for literal, own in places.items()}
    waiting = [literal for literal in often if not often.get(-literal)]
    gone = [False] * len(clauses)
    while waiting:
        for place in places[waiting.pop()]:
            if not gone[place]:
                gone[place] = True
                for literal in clauses[place][1]:
                    often[literal] -= 1
                    if not often[literal] and often.get(-literal):
                        waiting.append(-literal)
    return [clause for clause, out in zip(clauses, gone, strict=True) if not out]


def _parts(clauses: Collection[Ruled]) -> list[frozenset[Ruled]]:
    """Clauses that have a variable in common, directly or through others, together."""
    above: dict[int, int] = {}

    def top(variable: int) -> int:
        while above.setdefault(variable, variable) != variable:
            above[variable] = above[above[variable]]
            variable = above[variable]
        return variable

    for _, said in clauses:
        for literal in said[1:]:
            above[top(abs(literal))] = top(abs(said[0]))
    found: dict[int, list[Ruled]] = {}
    for clause in clauses:
        found.setdefault(top(abs(clause[1][0])) if clause[1] else -clause[0], []).append(clause)
    return [frozenset(part) for part in found.values()]
