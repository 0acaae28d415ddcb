"""All minimal sets of rules that allow no point, where they are few: then worlds are counted without a counter.

A set that allows none is shrunk to a minimal one by a SAT solver; every other one lacks some rule of it, so the set
without each of its rules in turn is looked at next.
"""

from __future__ import annotations

from collections.abc import Callable

from nbr.calculus.avoiding import probability_of_no_core
from nbr.calculus.formula import Formula
from nbr.calculus.sat import Deciding
from nbr.clock import OutOfTime

SETS = 64  # looked at, before it is left to others

Cores = list[frozenset[int]]


def probabilities(formula: Formula, unions: tuple[str, ...], share: Callable[[], float]) -> list[float] | None:
    """The probability of the worlds that allow a point, for each union; None if sets are many or time is up.

    `share` gives the deadline once the solver knows the formula, which takes most of the time where rules are many.
    """
    chance = {rule: belief for rule, belief in enumerate(formula.beliefs.tolist()) if 0 < belief < 1}
    certain = frozenset(rule for rule, belief in enumerate(formula.beliefs.tolist()) if belief == 1)
    deciding, values = Deciding(formula), []
    deadline = share()
    try:
        for union in unions:
            found = _cores(deciding, frozenset(chance), certain, union, deadline)
            value = None if found is None else _without_any(found, formula, chance)
            if value is None:
                return None
            values.append(value)
    except OutOfTime:
        return None
    finally:
        deciding.close()
    return values


def _without_any(found: Cores, formula: Formula, chance: dict[int, float]) -> float | None:
    """The probability that no core is wholly there."""
    if formula.shared is None:  # numbers from 1: a literal has a sign
        told = {rule + 1: belief for rule, belief in chance.items()}
        return probability_of_no_core([frozenset(rule + 1 for rule in core) for core in found], told)
    there = [formula.shared.literals(core) for core in found]
    return probability_of_no_core([literals for literals in there if literals is not None], formula.shared.chance)


def _cores(
    deciding: Deciding, rules: frozenset[int], certain: frozenset[int], union: str, deadline: float
) -> Cores | None:
    found: Cores = []
    allowed: Cores = []
    seen: set[frozenset[int]] = set()
    waiting = [rules]
    while waiting:
        some = waiting.pop()
        if some in seen or any(some <= other for other in allowed):
            continue
        if len(seen) >= SETS:
            return None
        seen.add(some)
        core = next((core for core in found if core <= some), None)
        if core is None:
            if deciding.grows({*some, *certain}, union, deadline):
                allowed.append(some)
                continue
            core = deciding.shrunk(union, deadline) - certain
            if not core:
                return [core]
            found.append(core)
        waiting += [some - {rule} for rule in sorted(core)]
    return found
