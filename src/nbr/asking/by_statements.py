"""Answering without a list of points: rules as statements, counted exactly, or decided in worlds drawn at random."""

from __future__ import annotations

from dataclasses import replace

from nbr import clock
from nbr.asking.outcome import Contradiction, Outcome, of_formula
from nbr.errors import install
from nbr.inference import Limits, counting, drawn
from nbr.language import Expression
from nbr.model import Model
from nbr.sources import Source, Statements

COUNTER = f"counting needs pyganak: {install('solve')}"
SOLVER = f"drawing worlds needs python-sat: {install('solve')}"
BLAMED = 1.0  # seconds, at the least, for finding out which rules are to blame for a contradiction
COUNTED = 0.5  # of the time, at most, for counting before worlds are drawn


def counted(
    model: Model,
    proposition: Expression,
    condition: Expression | None,
    limits: Limits,
    whole: float | None = None,
) -> Outcome | None:
    """By counting; None if not even one level could be counted in time. `whole` is E f_C, if that is known."""
    return from_formulas(Statements.of(model, proposition, condition), limits, whole)


def from_formulas(source: Source, limits: Limits, whole: float | None = None) -> Outcome | None:
    """The same for any source that offers formulas."""
    estimate = counting.solve(source.levels, source.formula, limits, whole)
    if float(estimate.high[2]) == 0:
        _blame(source, max(limits.deadline, clock.now() + BLAMED))
    if float(estimate.low[2]) == 0 and float(estimate.high[2]) == 1:
        return None
    return of_formula(estimate)


def from_draws(model: Model, proposition: Expression, condition: Expression | None, limits: Limits) -> Outcome | None:
    """By worlds drawn at random; None where rules are fuzzy, since a solver decides one level at a time."""
    statements = Statements.of(model, proposition, condition)
    if len(statements.levels) > 1:
        return None
    estimate = drawn.solve(statements.formula(1.0), limits)
    sure = estimate.sure if isinstance(estimate, drawn.DrawnEstimate) else None
    return of_formula(estimate, sure)


def _blame(source: Source, deadline: float) -> None:
    """Raise an error that knows rules of belief 1 that leave no point, none of them without need."""
    formula = source.formula(source.levels[0])
    certain = [rule for rule, belief in enumerate(formula.beliefs.tolist()) if belief == 1]

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
