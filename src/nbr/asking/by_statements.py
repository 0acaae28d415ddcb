"""Answering without a list of points: rules as statements, counted exactly, or decided in worlds drawn at random."""

from __future__ import annotations

from dataclasses import replace

from nbr import clock
from nbr.asking.asked import AskedPart
from nbr.asking.by_closed import CANNOT
from nbr.asking.outcome import Contradiction, Outcome, of_formula
from nbr.calculus import Formula, counting, drawn, ganak, sat
from nbr.encodings import Encoding, StatementEncoding
from nbr.errors import NbrError, install
from nbr.ways import Cost, Limits, Way

COUNTER = f"counting needs pyganak: {install('solve')}"
SOLVER = f"drawing worlds needs python-sat: {install('solve')}"
BLAMED = 1.0  # seconds, at the least, for finding out which rules are to blame for a contradiction
QUICKLY = 0.03  # seconds, where a counter finds it easy


class Counting(Way[AskedPart, Outcome]):
    """Proved bounds, exact where a counter has the time to finish."""

    name = "counting"

    def unfit(self, asked: AskedPart) -> str | None:
        return asked.no_statements

    def missing(self) -> str | None:
        return None if ganak.available() else COUNTER

    def cost(self, asked: AskedPart) -> Cost:
        return Cost(QUICKLY)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome | None:
        return counted(asked, limits)


class DrawnWorlds(Way[AskedPart, Outcome]):
    """Worlds drawn at random, each decided by a solver; one level at a time, so that rules must be crisp."""

    name = "drawn"
    proves = False

    def unfit(self, asked: AskedPart) -> str | None:
        return asked.no_statements or (None if asked.crisp else "the rules are fuzzy") or asked.sharing

    def missing(self) -> str | None:
        return None if sat.available() else SOLVER

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome:
        source = StatementEncoding.of(asked.folded.model, *asked.stated)
        estimate = drawn.solve(source.formula(1.0), limits)
        if float(estimate.high[2]) == 0:
            _blame(source, max(limits.deadline, clock.now() + BLAMED))
        sure = estimate.sure if isinstance(estimate, drawn.DrawnEstimate) else None
        return of_formula(estimate, sure, "counting did not finish in its part of the time, so worlds are drawn")


def counted(asked: AskedPart, limits: Limits) -> Outcome | None:
    """By counting; None if not even one level could be counted in time."""
    source = StatementEncoding.of(asked.folded.model, *asked.stated)
    estimate = counting.solve(source.levels, source.formula, limits, asked.whole)
    if float(estimate.high[2]) == 0 and asked.part.model.closed:
        raise NbrError(CANNOT)
    if float(estimate.high[2]) == 0:
        _blame(source, max(limits.deadline, clock.now() + BLAMED))
    if float(estimate.low[2]) == 0 and float(estimate.high[2]) == 1:
        return None
    found = of_formula(estimate, why=f"{len(asked.part.model.rules)} rules are statements, which can be counted")
    asked.remember(found)
    return found


def _blame(source: Encoding, deadline: float) -> None:
    """Raise an error that knows rules of belief 1 that leave no point, none of them without need."""
    formula = source.formula(source.levels[0])
    certain = frozenset(rule for rule, belief in enumerate(formula.beliefs.tolist()) if belief == 1)
    core = (_by_solver if sat.available() else _by_counting)(formula, certain, deadline)
    if core is not None:
        raise Contradiction(sorted(core))


def _by_solver(formula: Formula, rules: frozenset[int], deadline: float) -> frozenset[int] | None:
    """A minimal set of these rules that leaves no point; None if they leave one."""
    deciding = sat.Deciding(formula)
    try:
        return None if deciding.grows(set(rules), "all", deadline) else deciding.shrunk("all", deadline)
    finally:
        deciding.close()


def _by_counting(formula: Formula, rules: frozenset[int], deadline: float) -> frozenset[int] | None:
    """The same without a solver; None, too, if what they leave is too small to be told from 0."""

    def contradictory(some: frozenset[int]) -> bool:
        beliefs = formula.beliefs.clone().zero_()
        beliefs[list(some)] = 1.0
        value = counting.probability(replace(formula, beliefs=beliefs, shared=None), "all", deadline)
        return value == 0

    if not contradictory(rules):
        return None
    for rule in rules:
        rules = rules - {rule} if contradictory(rules - {rule}) else rules
    return rules
