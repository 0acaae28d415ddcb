"""Answering without a list of points: rules as statements, counted exactly, or decided in worlds drawn at random."""

from __future__ import annotations

import time
from dataclasses import replace

from nbr.asking.outcome import Contradiction, Outcome, of_formula
from nbr.inference import Limits, counting, drawn
from nbr.language import Expression
from nbr.language.expressions import conjuncts
from nbr.rules.knowledge import Knowledge
from nbr.sources.statements import Statements

COUNTER = "counting needs pyganak: pip install 'nbr[solve]'"
SOLVER = "drawing worlds needs python-sat: pip install 'nbr[solve]'"
COUNTED = 0.5  # of the time, at most, for counting before worlds are drawn


def unfit(knowledge: Knowledge, condition: object) -> str | None:
    """Why a question cannot be answered this way, in words for a user."""
    if knowledge.codec is not None:
        return "rules on codes are no statements"
    if condition is not None and not isinstance(condition, Expression):
        return "the condition is fuzzy"
    return Statements.unfit(knowledge.rules)


def counted(
    knowledge: Knowledge,
    proposition: Expression,
    condition: Expression | None,
    limits: Limits,
    whole: float | None = None,
) -> Outcome | None:
    """By counting; None if not even one level could be counted in time. `whole` is E f_C, if that is known."""
    statements = _statements(knowledge, proposition, condition)
    estimate = counting.solve(statements.levels, statements.formula, limits, whole)
    if float(estimate.high[2]) == 0:
        _blame(statements)
    if float(estimate.low[2]) == 0 and float(estimate.high[2]) == 1:
        return None
    return of_formula(estimate)


def from_draws(
    knowledge: Knowledge, proposition: Expression, condition: Expression | None, limits: Limits
) -> Outcome | None:
    """By worlds drawn at random; None where rules are fuzzy, since a solver decides one level at a time."""
    statements = _statements(knowledge, proposition, condition)
    if len(statements.levels) > 1:
        return None
    estimate = drawn.solve(statements.formula(1.0), limits)
    sure = estimate.sure if isinstance(estimate, drawn.DrawnEstimate) else None
    return of_formula(estimate, sure)


def _statements(knowledge: Knowledge, proposition: Expression, condition: Expression | None) -> Statements:
    return Statements(knowledge, proposition, [] if condition is None else list(conjuncts(condition)))


def _blame(statements: Statements) -> None:
    """Raise an error that knows rules of belief 1 that leave no point, none of them without need."""
    formula = statements.formula(statements.levels[0])
    certain = [rule for rule, belief in enumerate(formula.beliefs.tolist()) if belief == 1]
    deadline = time.monotonic() + 10.0

    def contradictory(rules: list[int]) -> bool:
        beliefs = formula.beliefs.clone().zero_()
        beliefs[rules] = 1.0
        value = counting.probability(replace(formula, beliefs=beliefs), "all", deadline)
        return value == 0

    if not contradictory(certain):
        return  # too small to be told from 0
    for rule in list(certain):
        others = [each for each in certain if each != rule]
        if contradictory(others):
            certain = others
    raise Contradiction(certain)
