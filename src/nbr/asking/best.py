"""The most plausible point: the one at which E[mu_Y(z)] is largest.

A point's plausibility is E[mu_Y(z)] over a number that is the same for all points. Where every rule is a statement,
E[mu_Y(z)] is the product of 1 - b over the rules that z breaks, and the largest one is a weighted MaxSAT problem with
weights -log(1 - b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nbr.asking import question as asking
from nbr.asking.by_statements import SOLVER
from nbr.asking.components import is_crisp
from nbr.asking.points import greedy
from nbr.asking.question import Proposition, Settings
from nbr.errors import NbrError
from nbr.inference import Limits, sat
from nbr.inference.formula import Formula
from nbr.inference.point import keep
from nbr.language import Expression
from nbr.language.expressions import Constant
from nbr.points.cells import cells
from nbr.rules import Rule
from nbr.rules.knowledge import Knowledge
from nbr.sources import Listing, Statements
from nbr.sources.source import Set
from nbr.world import World

LISTED = 0.5  # seconds of listing that are not worth a solver
PARTS = 10**12  # in which weights are told apart: solvers want whole numbers
ROUNDING = 1e-9
TOLD = 0.5  # seconds, at the least, for finding out why there is no point
AT_ONCE = 4096  # points
BROKEN = 0.5  # a fuzzy rule counts as broken below this grade


@dataclass(frozen=True)
class Best:
    """A point in words, E[mu_Y(z)] there, and what it costs."""

    point: dict[str, str]
    degree: float
    broken: tuple[int, ...]  # numbers of the rules that it breaks, from 1
    open: tuple[str, ...]  # variables of which another value alone would do as well
    exact: bool  # whether no point can be more plausible
    given: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "given": self.given,
            "point": self.point,
            "degree": self.degree,
            "broken": list(self.broken),
            "open": list(self.open),
            "exact": self.exact,
        }


def most_plausible(knowledge: Knowledge, given: Proposition | None, settings: Settings) -> Best:
    """By listing where that is quick or rules are fuzzy, by MaxSAT else."""
    limits = Limits.within(settings.budget, settings.tolerance, settings.seed)
    condition = None if given is None else asking.as_set(given, knowledge.world, "condition")
    with torch.no_grad():
        listing = Listing.of(knowledge, Constant(True), condition)
        statements = all(map(is_crisp, knowledge.rules)) and Statements.unfit(knowledge, condition) is None
        if statements and listing.seconds > LISTED and sat.available():
            assert condition is None or isinstance(condition, Expression)
            point, exact = _by_solver(knowledge, condition, limits)
        else:
            point, exact = _by_listing(listing, knowledge.world, limits)
            if statements and not exact and not sat.available():
                raise NbrError(SOLVER.replace("drawing worlds", "the most plausible point of so large a world"))
        degree = 0.0 if point is None else float(_degrees(knowledge, condition, point[None]))
        if point is None or degree == 0:
            left = replace(settings, budget=max(limits.left, TOLD))
            asking.ask(knowledge, Constant(True), given, left)  # says what contradicts what
            raise NbrError("no point with a plausibility above 0 was found in the time given")
        grades = knowledge.grades_of_observed(point[None])
        return Best(
            point=knowledge.world.show(point),
            degree=degree,
            broken=tuple((grades[0] < BROKEN).nonzero().flatten().add(1).tolist()),
            open=_open(knowledge, condition, point, degree),
            exact=exact,
            given=None if given is None else str(given) if isinstance(given, str | Expression | Rule) else "a function",
        )


def _by_listing(listing: Listing, world: World, limits: Limits) -> tuple[Tensor | None, bool]:
    rows = listing.rows(limits)
    beliefs = listing.knowledge.beliefs.detach()
    if isinstance(listing.condition, Rule):
        beliefs = torch.cat([beliefs, beliefs.new_ones(1)])
    if not len(rows.witnesses):
        return None, False
    found = keep(rows.witnesses, beliefs)
    first = int(found.argmax())
    covered = float(keep(rows.covers, beliefs).max()) if len(rows.covers) else 0.0
    point = _anywhere(world)
    for name, value in zip(listing.knowledge.world.names, rows.points[first].tolist(), strict=False):
        point[world.column(name)] = value
    return point, float(found[first]) >= covered


def _degrees(knowledge: Knowledge, condition: Set | None, points: Tensor) -> Tensor:
    """E[mu_Y(z)] of points of the world, 0 where a condition does not hold; a fuzzy one is a rule that must hold."""
    grades, beliefs = knowledge.grades_of_observed(points), knowledge.beliefs.detach()
    if isinstance(condition, Rule):
        grades = torch.cat([grades, condition.grades(points)[:, None]], dim=1)
        beliefs = torch.cat([beliefs, beliefs.new_ones(1)])
    found = keep(grades, beliefs)
    return (
        torch.where(condition.holds(knowledge.world, points), found, 0.0)
        if isinstance(condition, Expression)
        else found
    )


def _anywhere(world: World) -> Tensor:
    return torch.tensor([getattr(variable, "low", 0.0) for variable in world.variables.values()], dtype=torch.float64)


def _by_solver(knowledge: Knowledge, condition: Expression | None, limits: Limits) -> tuple[Tensor | None, bool]:
    statements = Statements.of(knowledge, Constant(True), condition)
    formula, encoder = statements.encoded(1.0)
    true = _by_maxsat(formula, limits.share(0.8))
    if true is not None:
        return encoder.point(true), True
    found = greedy(statements, "all", 1.0, limits)
    return (None if found is None else torch.tensor(list(found.values()), dtype=torch.float64)), False


def _by_maxsat(formula: Formula, limits: Limits) -> set[int] | None:
    """The numbers that are true in a best model, or None if time is up."""
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    hard = WCNF()
    for clause in formula.clauses:
        hard.append(list(clause))
    for selector, belief in zip(formula.selectors, formula.beliefs.tolist(), strict=True):
        if belief == 1:
            hard.append([selector])
        elif belief > 0:
            hard.append([selector], weight=max(1, round(-math.log1p(-belief) * PARTS)))
    solver = RC2(hard, solver="g4")
    model = sat.beside(lambda: solver.compute(expect_interrupt=True), solver.interrupt, limits.deadline)
    solver.delete()
    return None if model is None else {literal for literal in model if literal > 0}


def _open(knowledge: Knowledge, condition: Set | None, point: Tensor, degree: float) -> tuple[str, ...]:
    """The variables that could change alone without making the point less plausible."""
    world = knowledge.world
    cuts: dict[str, set[float]] = {}
    named = [*(rule.cuts() for rule in knowledge.rules)] if knowledge.codec is None else []
    if isinstance(condition, Expression):
        named.append(condition.cuts(world))
    for each in named:
        for name, numbers in each.items():
            cuts.setdefault(name, set()).update(numbers)
    near, columns = [point[None, :][:0]], [torch.zeros(0, dtype=torch.long)]
    for column, values in enumerate(cells(world, cuts, (), 1).centres):
        others = values[values != point[column]]
        near.append(point.repeat(len(others), 1))
        near[-1][:, column] = others
        columns.append(torch.full_like(others, column, dtype=torch.long))
    parts = zip(torch.cat(near).split(AT_ONCE), torch.cat(columns).split(AT_ONCE), strict=True)
    as_good = [of[_degrees(knowledge, condition, some) >= degree * (1 - ROUNDING)] for some, of in parts]
    return tuple(world.names[column] for column in torch.cat(as_good).unique().tolist())
