"""The ways to the best point: the one at which E[mu_Y(z)] is largest; beside a prior, P_0 P_keep.

Where every rule is a statement, E[mu_Y(z)] is the product of 1 - b over the rules that z breaks, and the largest one is
a weighted MaxSAT problem with weights -log(1 - b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from nbr.asking import closed_best, shared_best
from nbr.asking.by_statements import SOLVER
from nbr.asking.components import is_crisp
from nbr.asking.likeliest import Ranked, Weights, by_maxsat, by_tables
from nbr.asking.listed_best import by_points, countable
from nbr.asking.points import greedy
from nbr.calculus import Formula, Selectors, detached, keep_probability, sat, with_certain
from nbr.density import CLOSED
from nbr.encodings import Listing, Set, StatementEncoding
from nbr.language import Constant, Expression
from nbr.model import Model
from nbr.rules import Rule
from nbr.ways import SHARES, Cost, Limits, Unfit, Way
from nbr.world import World

PARTS = 10**12  # in which weights are told apart: solvers want whole numbers


@dataclass(frozen=True)
class WantedPoints:
    """So many of the best points of a model, inside a condition."""

    model: Model
    condition: Set | None
    count: int

    @property
    def alone(self) -> bool:
        """Whether one point is wanted, by the rules alone."""
        return self.count == 1 and self.model.prior is None

    @cached_property
    def listing(self) -> Listing:
        return Listing.of(self.model, Constant(True), self.condition)

    @cached_property
    def stated(self) -> bool:
        """Whether rules and condition are statements."""
        return all(map(is_crisp, self.model.rules)) and StatementEncoding.unfit(self.model, self.condition) is None

    @property
    def no_tables(self) -> str | None:
        if self.model.closed:
            return CLOSED
        if any(isinstance(body.presence, Selectors) for body in self.model.bodies):
            return "rules share a source, or exclude each other"
        if self.model.codec is not None:
            return "rules on codes are not tables"
        return "the condition is fuzzy" if isinstance(self.condition, Rule) else None

    @property
    def weights(self) -> Weights:
        assert self.condition is None or isinstance(self.condition, Expression)
        return Weights.of(self.model, self.condition)


@dataclass(frozen=True)
class Candidates:
    """The best values that were found, or one point, and whether nothing can be better."""

    ranked: Ranked | None
    point: Tensor | None
    exact: bool

    @property
    def kind(self) -> str:
        return "proved" if self.exact else "95%"

    @property
    def width(self) -> float:
        return 0.0 if self.exact else 1.0

    def narrowed(self, other: Candidates) -> Candidates:
        return self

    def beside(self, proved: Candidates) -> Candidates:
        return proved


def _ranked(found: Ranked) -> Candidates | None:
    return Candidates(found, None, found.exact) if found.cells or found.exact else None


class TableMaximum(Way[WantedPoints, Candidates]):
    """As the largest products of tables."""

    name = "contracted"

    def unfit(self, asked: WantedPoints) -> str | None:
        return asked.no_tables

    def cost(self, asked: WantedPoints) -> Cost:
        return Cost(0.01)

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        return _ranked(by_tables(asked.weights, asked.count, limits))


class ListedMaximum(Way[WantedPoints, Candidates]):
    """The best of all points of the world."""

    name = "listed"

    def unfit(self, asked: WantedPoints) -> str | None:
        return None if countable(asked.model.world) is not None else "there are too many points to list"

    def cost(self, asked: WantedPoints) -> Cost:
        return Cost(2e-8 * (countable(asked.model.world) or 0) * (len(asked.model.rules) + 1), sure=True)

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        return _ranked(by_points(asked.model, asked.condition, asked.count))


class PieceMaximum(Way[WantedPoints, Candidates]):
    """By the rules alone, points of all cells that rules and condition tell apart."""

    name = "points"

    def unfit(self, asked: WantedPoints) -> str | None:
        if asked.model.closed:
            return CLOSED
        return None if asked.alone else "it is for one point, by the rules alone"

    def cost(self, asked: WantedPoints) -> Cost:
        return Cost(asked.listing.seconds, sure=not asked.listing.grid.boxes)

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        point, exact = _by_listing(asked.listing, asked.model.world, limits)
        return None if point is None else Candidates(None, point, exact)


class MaxSat(Way[WantedPoints, Candidates]):
    """By a solver, where rules are statements."""

    name = "maxsat"

    def unfit(self, asked: WantedPoints) -> str | None:
        return asked.no_tables or (None if asked.stated else "the rules are not statements")

    def missing(self) -> str | None:
        return None if sat.available() else SOLVER.replace("drawing worlds", "the best point of so large a world")

    def cost(self, asked: WantedPoints) -> Cost:
        return Cost(0.1)

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        if not asked.alone:
            return _ranked(by_maxsat(asked.weights, asked.count, limits.share(SHARES["best by a solver"])))
        assert asked.condition is None or isinstance(asked.condition, Expression)
        formula, encoder = StatementEncoding.of(asked.model, Constant(True), asked.condition).encoded(1.0)
        true = _by_maxsat(formula, limits.share(SHARES["best by a solver"]))
        return None if true is None else Candidates(None, encoder.point(true), True)


class Sourced(Way[WantedPoints, Candidates]):
    """By a solver, where rules share sources."""

    name = "sources"

    def unfit(self, asked: WantedPoints) -> str | None:
        return "the condition is fuzzy" if isinstance(asked.condition, Rule) else shared_best.unfit(asked.model)

    def missing(self) -> str | None:
        return None if sat.available() else SOLVER.replace("drawing worlds", "the best point of so large a world")

    def cost(self, asked: WantedPoints) -> Cost:
        return Cost(0.1)

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        assert asked.condition is None or isinstance(asked.condition, Expression)
        share = limits.share(SHARES["best by a solver"])
        return _ranked(shared_best.by_maxsat(asked.model, asked.condition, asked.count, share))


class Made(Way[WantedPoints, Candidates]):
    """By a solver, where variables are closed."""

    name = "least"

    def unfit(self, asked: WantedPoints) -> str | None:
        if not asked.model.closed:
            return "no variable is closed"
        if not asked.alone:
            return "it is for one point, by the rules alone"
        return "the condition is fuzzy" if isinstance(asked.condition, Rule) else closed_best.unfit(asked.model)

    def missing(self) -> str | None:
        return None if sat.available() else SOLVER.replace("drawing worlds", "the best point of so large a world")

    def cost(self, asked: WantedPoints) -> Cost:
        return Cost(0.1)

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        assert asked.condition is None or isinstance(asked.condition, Expression)
        point = closed_best.by_maxsat(asked.model, asked.condition, limits.share(SHARES["best by a solver"]))
        return None if point is None else Candidates(None, point, True)


class TriedMaximum(Way[WantedPoints, Candidates]):
    """One point by the rules alone, one after the other, as good as can be found in time."""

    name = "tried"
    proves = False

    def unfit(self, asked: WantedPoints) -> str | None:
        return "the condition is fuzzy" if asked.model.closed and isinstance(asked.condition, Rule) else None

    def solve(self, asked: WantedPoints, limits: Limits) -> Candidates | None:
        if asked.model.closed:
            assert asked.condition is None or isinstance(asked.condition, Expression)
            point = closed_best.by_climbing(asked.model, asked.condition, limits)
            return None if point is None else Candidates(None, point, False)
        if not asked.stated or asked.listing.seconds < limits.left:
            point = _by_listing(asked.listing, asked.model.world, limits)[0]
            return None if point is None else Candidates(None, point, False)
        if not sat.available():
            raise Unfit(SOLVER.replace("drawing worlds", "the best point of so large a world"))
        assert asked.condition is None or isinstance(asked.condition, Expression)
        found = greedy(StatementEncoding.of(asked.model, Constant(True), asked.condition), "all", 1.0, limits)
        if found is None:
            return None
        return Candidates(None, torch.tensor(list(found.values()), dtype=torch.float64), False)


MAXIMA: list[Way[WantedPoints, Candidates]] = [
    TableMaximum(),
    ListedMaximum(),
    PieceMaximum(),
    MaxSat(),
    Sourced(),
    Made(),
    TriedMaximum(),
]


def _by_listing(listing: Listing, world: World, limits: Limits) -> tuple[Tensor | None, bool]:
    rows = listing.rows(limits)
    beliefs = detached(listing.model.presence)
    if isinstance(listing.condition, Rule):
        beliefs = with_certain(beliefs)
    if not len(rows.witnesses):
        return None, False
    found = keep_probability(rows.witnesses, beliefs)
    first = int(found.argmax())
    covered = float(keep_probability(rows.covers, beliefs).max()) if len(rows.covers) else 0.0
    point = _anywhere(world)
    for name, value in zip(listing.model.world.names, rows.points[first].tolist(), strict=False):
        point[world.column(name)] = value
    return point, float(found[first]) >= covered


def _anywhere(world: World) -> Tensor:
    return torch.tensor([getattr(variable, "low", 0.0) for variable in world.variables.values()], dtype=torch.float64)


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
