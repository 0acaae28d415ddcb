"""Rules that define variables from others: Clark's completion, which counters take far more easily.

Where every clause has at most one literal that is not denied, a world allows a point exactly if the least point that
its rules derive contradicts nothing. If no variable is derived from itself, that point is the only one at which each
variable is true just where something derives it. So the selectors settle every other variable, and counting needs no
projection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from nbr.calculus.formula import Clause


@dataclass(frozen=True)
class Completed:
    """Clauses whose models are as many as the worlds that allow a point."""

    clauses: list[Clause]
    variables: int


def completed(clauses: Sequence[Clause], variables: int, selectors: Collection[int]) -> Completed | None:
    """The completion of clauses, or None if they do not define variables from others."""
    for sign in (1, -1):
        program = _program(clauses, variables, set(selectors), sign)
        if program is not None:
            return program
    return None


def _program(clauses: Sequence[Clause], variables: int, selectors: set[int], sign: int) -> Completed | None:
    """With sign -1 every variable is taken for its opposite."""
    derived: dict[int, list[Clause]] = {v: [] for v in range(1, variables + 1) if v not in selectors}
    goals: list[Clause] = []
    for clause in clauses:
        turned = [literal if abs(literal) in selectors else sign * literal for literal in clause]
        heads = [literal for literal in turned if literal > 0 and literal not in selectors]
        if len(heads) > 1:
            return None
        reasons = tuple(-literal for literal in turned if literal not in heads)
        if heads:
            derived[heads[0]].append(reasons)
        else:
            goals.append(tuple(turned))
    needs = {head: {v for each in reasons for v in each if v in derived} for head, reasons in derived.items()}
    try:
        tuple(TopologicalSorter(needs).static_order())
    except CycleError:
        return None
    return _completion(derived, goals, variables)


def _completion(derived: dict[int, list[Clause]], goals: Sequence[Clause], variables: int) -> Completed:
    clauses = list(goals)
    for head, reasons in derived.items():
        if any(not each for each in reasons):
            clauses.append((head,))
            continue
        literals = []
        for each in _distinct(reasons):
            if len(each) == 1:
                literals.append(each[0])
                continue
            variables += 1
            clauses += [(-variables, part) for part in each]
            clauses.append((variables, *(-part for part in each)))
            literals.append(variables)
        clauses.append((-head, *literals))
        clauses += [(head, -literal) for literal in literals]
    return Completed(clauses, variables)


def _distinct(reasons: Iterable[Clause]) -> list[Clause]:
    return list(dict.fromkeys(tuple(sorted(set(each))) for each in reasons))
