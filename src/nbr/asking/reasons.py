"""Minimal sets of rules that leave a condition no point (conflicts), or none against the question (supports).

Both are minimal sets U that no point satisfies together. By points: U must contain a rule that z breaks, for every
point z, so they are the minimal hitting sets of what the points break. By a solver: a map of all sets is explored from
its top (Liffiton and others' MARCO): a set that some point satisfies is grown as far as possible and blocked, another
one is shrunk to a minimal one and blocked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nbr import clock
from nbr.calculus import Deciding, Flags, Formula
from nbr.clock import OutOfTime

Sets = list[frozenset[int]]
Families = dict[str, Sets]  # of each union of points, the minimal sets that allow none of it
MOST = 200  # sets of each kind that are looked for
WIDEST = 20_000  # partial hitting sets held at a time


@dataclass(frozen=True)
class Reasons:
    """Minimal sets of rules, and whether these are all."""

    supports: Sets
    against: Sets
    conflicts: Sets
    supports_complete: bool
    conflicts_complete: bool
    families: Families | None = None
    """What allows no point of the condition, none for and none against the question; None where not all is known.

    E f of each is the probability that none of its sets is there.
    """

    @property
    def mattering(self) -> frozenset[int] | None:
        """The rules in any of these sets: without any other a crisp model answers the same."""
        if self.families is None:
            return None
        return frozenset(rule for sets in self.families.values() for each in sets for rule in each)


NOTHING = Reasons([], [], [], False, False)


def by_points(satisfied: Flags, holds: Flags) -> Reasons:
    """From the rules that each point of the condition satisfies, and whether the question holds there."""
    rows = {"all": satisfied, "no": satisfied[~holds], "yes": satisfied[holds]}
    told = {union: _hitting_sets(flags) for union, flags in rows.items()}
    conflicts, all_conflicts = told["all"]

    def consistent(sets: Sets) -> Sets:
        return [each for each in sets if not any(conflict <= each for conflict in conflicts)]

    families = {union: sets for union, (sets, _) in told.items()} if all(done for _, done in told.values()) else None
    supports, against = consistent(told["no"][0]), consistent(told["yes"][0])
    return Reasons(supports, against, conflicts, told["no"][1] and all_conflicts, all_conflicts, families)


def _hitting_sets(satisfied: Flags) -> tuple[Sets, bool]:
    """The minimal sets of rules of which every point breaks one, by Berge's algorithm; whether these are all."""
    found: Sets = [frozenset()]
    for row in _maximal(satisfied):
        broken = frozenset(np.flatnonzero(~row).tolist())
        hit = [each for each in found if each & broken]
        grown = [each | {rule} for each in found if not each & broken for rule in broken]
        found = hit + [each for each in dict.fromkeys(grown) if not any(other <= each for other in hit)]
        if len(found) > WIDEST:
            return [], False
    return minimal(found), True


def _maximal(satisfied: Flags) -> Flags:
    rows = np.unique(satisfied, axis=0)
    rows = rows[np.argsort(-rows.sum(axis=1), kind="stable")]
    kept: list[Flags] = []
    for row in rows:
        if not any(bool((row <= other).all()) for other in kept):
            kept.append(row)
    return np.array(kept, dtype=bool).reshape(len(kept), satisfied.shape[1])


def minimal(sets: Iterable[frozenset[int]]) -> Sets:
    """Those that no other one is a part of."""
    kept: Sets = []
    for each in sorted(set(sets), key=len):
        if not any(other <= each for other in kept):
            kept.append(each)
    return kept


def by_solver(formula: Formula, usable: Flags, deadline: float, both: bool = False) -> Reasons:
    """The same from a formula, where not all sets are found; only the rules that are usable may be in a set.

    Sets against the question are looked for where `both` is true.
    """
    deciding = Deciding(formula)
    told: dict[str, tuple[Sets, bool]] = {"yes": ([], False)}
    unions = ("all", "no", "yes") if both else ("all", "no")
    try:
        for left, union in zip(range(len(unions), 0, -1), unions, strict=True):
            until = clock.now() + (deadline - clock.now()) / (left + (not both))
            found, complete = explored(deciding, union, usable, until)
            told[union] = found, complete
            if union != "all":
                consistent: Sets = []
                try:
                    consistent += (each for each in found if deciding.consistent(each, until))
                except OutOfTime:
                    complete = False
                told[union] = consistent, complete
    finally:
        deciding.close()
    return Reasons(told["no"][0], told["yes"][0], told["all"][0], told["no"][1], told["all"][1])


def explored(deciding: Deciding, union: str, usable: Flags, deadline: float) -> tuple[Sets, bool]:
    """Minimal sets of usable rules that allow no point of a union, and whether these are all."""
    from pysat.solvers import Solver

    rules = np.flatnonzero(usable).tolist()
    found: Sets = []
    with Solver(name="g4") as chart:
        chart.set_phases([rule + 1 for rule in rules])  # from the top: as many rules as are not ruled out
        try:
            while len(found) < MOST:
                if not chart.solve_limited(expect_interrupt=True):
                    return found, True
                left_out = {-literal - 1 for literal in chart.get_model() or () if literal < 0}
                seed = {rule for rule in rules if rule not in left_out}
                if deciding.grows(seed, union, deadline):
                    top = deciding.grown(seed, rules, union, deadline)
                    chart.add_clause([rule + 1 for rule in rules if rule not in top])
                else:
                    core = deciding.shrunk(union, deadline)
                    found.append(core)
                    chart.add_clause([-(rule + 1) for rule in core])
                    if not core:
                        return found, True
        except OutOfTime:
            pass
    return found, False
