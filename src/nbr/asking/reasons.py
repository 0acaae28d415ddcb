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
from nbr.clock import OutOfTime
from nbr.inference.formula import Formula
from nbr.inference.sat import Deciding, Flags

Sets = list[frozenset[int]]
MOST = 200  # sets of each kind that are looked for
WIDEST = 20_000  # partial hitting sets held at a time


@dataclass(frozen=True)
class Reasons:
    """Minimal sets of rules, and whether these are all."""

    supports: Sets
    conflicts: Sets
    supports_complete: bool
    conflicts_complete: bool
    mattering: frozenset[int] | None = None
    """The rules in any minimal set that leaves the condition no point, or none for or none against the question.

    E f of each is the probability that none of its sets is there, so without any other rule a crisp model answers the
    same. None where not all sets are known.
    """


def by_points(satisfied: Flags, holds: Flags) -> Reasons:
    """From the rules that each point of the condition satisfies, and whether the question holds there."""
    conflicts, all_conflicts = _hitting_sets(satisfied)
    against, all_against = _hitting_sets(satisfied[~holds])
    favour, all_favour = _hitting_sets(satisfied[holds])
    supports = [each for each in against if not any(conflict <= each for conflict in conflicts)]
    known = all_against and all_conflicts and all_favour
    mattering = _union(conflicts, against, favour) if known else None
    return Reasons(supports, conflicts, all_against and all_conflicts, all_conflicts, mattering)


def _union(*families: Sets) -> frozenset[int]:
    return frozenset(rule for family in families for each in family for rule in each)


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
    return _minimal(found), True


def _maximal(satisfied: Flags) -> Flags:
    rows = np.unique(satisfied, axis=0)
    rows = rows[np.argsort(-rows.sum(axis=1), kind="stable")]
    kept: list[Flags] = []
    for row in rows:
        if not any(bool((row <= other).all()) for other in kept):
            kept.append(row)
    return np.array(kept, dtype=bool).reshape(len(kept), satisfied.shape[1])


def _minimal(sets: Iterable[frozenset[int]]) -> Sets:
    kept: Sets = []
    for each in sorted(set(sets), key=len):
        if not any(other <= each for other in kept):
            kept.append(each)
    return kept


def by_solver(formula: Formula, usable: Flags, deadline: float) -> Reasons:
    """The same from a formula; only the rules that are usable may be in a set."""
    deciding = Deciding(formula)
    try:
        part = (deadline - clock.now()) / 3
        conflicts, all_conflicts = explored(deciding, "all", usable, deadline - 2 * part)
        against, all_against = explored(deciding, "no", usable, deadline - part)
        supports: Sets = []
        try:
            supports += (each for each in against if deciding.consistent(each, deadline - part))
        except OutOfTime:
            all_against = False
        favour, all_favour = explored(deciding, "yes", usable, deadline)
    finally:
        deciding.close()
    known = all_against and all_conflicts and all_favour
    mattering = _union(conflicts, against, favour) if known else None
    return Reasons(supports, conflicts, all_against, all_conflicts, mattering)


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
