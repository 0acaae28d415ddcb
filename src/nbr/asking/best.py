"""The most plausible point: the one at which E[mu_Y(z)] is largest; beside a prior, P_0 P_keep.

A point's plausibility is E[mu_Y(z)] over a number that is the same for all points. Where every rule is a statement,
E[mu_Y(z)] is the product of 1 - b over the rules that z breaks, and the largest one is a weighted MaxSAT problem with
weights -log(1 - b).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from nbr.asking import question as asking
from nbr.asking.by_statements import SOLVER
from nbr.asking.components import is_crisp
from nbr.asking.likeliest import Ranked, Weights, by_maxsat, by_tables
from nbr.asking.listed_best import by_points, degrees, open_beside
from nbr.asking.points import greedy
from nbr.asking.question import Proposition, Settings
from nbr.asking.ranking import Stretch
from nbr.errors import NbrError
from nbr.factors import Unfit
from nbr.inference import Limits, sat
from nbr.inference.formula import Formula
from nbr.inference.point import keep
from nbr.language import Expression
from nbr.language.expressions import Constant
from nbr.model import Model
from nbr.points.cells import cells
from nbr.rules import Rule
from nbr.sources import Listing, Statements
from nbr.sources.source import Set
from nbr.world import Real, World

LISTED = 0.5  # seconds of listing that are not worth a solver
PARTS = 10**12  # in which weights are told apart: solvers want whole numbers
ROUNDING = 1e-9
SOLVED = 0.6  # of the time left, for a solver
MOST = 10_000  # points at a time
TOLD = 0.5  # seconds, at the least, for finding out why there is no point
AT_ONCE = 4096  # points
BROKEN = 0.5  # a fuzzy rule counts as broken below this grade


@dataclass(frozen=True)
class Best:
    """A point in words, E[mu_Y(z)] there, and what it costs; with the next best ones, if they were asked for."""

    point: dict[str, str]
    degree: float
    broken: tuple[int, ...]  # numbers of the rules that it breaks, from 1
    open: tuple[str, ...]  # variables of which another value alone would do as well
    exact: bool  # whether no point can be more plausible, or beside a prior likelier
    given: str | None = None
    probability: float | None = None  # beside a prior, if the sum over all points is known
    pieces: dict[str, str] = field(default_factory=dict)  # in which numbers may be anywhere, beside a prior
    others: tuple[Best, ...] = ()

    @property
    def points(self) -> list[dict[str, str]]:
        """This point and the next best ones."""
        return [self.point, *(each.point for each in self.others)]

    def as_json(self) -> dict[str, object]:
        every = (self, *self.others)
        return {
            "given": self.given,
            "point": self.point,
            "degree": self.degree,
            "probability": self.probability,
            "pieces": self.pieces,
            "broken": list(self.broken),
            "open": list(self.open),
            "exact": self.exact,
            "points": self.points,
            "degrees": [each.degree for each in every],
            "probabilities": [each.probability for each in every],
        }


def best(model: Model, given: Proposition | None, count: int, settings: Settings) -> Best:
    """The most plausible points; with a prior, the likeliest by prior times rules.

    As largest products of tables, by listing, or by MaxSAT. Where none of that fits, one point by the rules alone.
    """
    if not isinstance(count, int) or not 1 <= count <= MOST:
        raise NbrError(f"the count of points is a whole number from 1 to {MOST:,}, not {count}")
    limits = Limits.within(settings.budget, settings.tolerance, settings.seed)
    condition = None if given is None else asking.as_set(given, model.world, "condition")
    words = None if given is None else str(given) if isinstance(given, str | Expression | Rule) else "a function"
    with torch.no_grad():
        ranked = None
        if model.prior is not None or count > 1 or not _quick(model, condition):
            ranked = _ranked(model, condition, count, limits)
        if ranked is not None:
            found = [_told(model, condition, ranked, place) for place in range(len(ranked.cells))]
        else:
            point, exact = _plausible(model, condition, limits)
            found = (
                [] if point is None else [_at(model, condition, point, exact and model.prior is None and count == 1)]
            )
        if not found or found[0].degree == 0:
            left = replace(settings, budget=max(limits.left, TOLD))
            asking.ask(model, Constant(True), given, left)  # says what contradicts what
            if ranked is not None and ranked.exact and model.prior is not None:
                raise NbrError("the condition has probability 0" if given is not None else "no point has a probability")
            raise NbrError("no point with a plausibility above 0 was found in the time given")
    first, *others = [replace(each, given=words) for each in found]
    return replace(first, others=tuple(others))


def _quick(model: Model, condition: Set | None) -> bool:
    """Whether going through points is quicker than anything else, or all that there is."""
    statements = all(map(is_crisp, model.rules)) and Statements.unfit(model, condition) is None
    return not statements or Listing.of(model, Constant(True), condition).seconds <= LISTED


def _ranked(model: Model, condition: Set | None, count: int, limits: Limits) -> Ranked | None:
    """The best values by the first way that fits."""
    ways: list[Callable[[], Ranked]] = [lambda: by_points(model, condition, count)]
    if model.codec is None and not isinstance(condition, Rule):
        weights = Weights.of(model, condition)
        ways.insert(0, lambda: by_tables(weights, count, limits))
        if model.prior is not None or count > 1:  # else it comes last anyway, beside a search that always has a point
            ways.append(lambda: by_maxsat(weights, count, limits.share(SOLVED)))
    for way in ways:
        try:
            found = way()
        except Unfit:
            continue
        if found.cells or found.exact:
            return found
    return None


def _plausible(model: Model, condition: Set | None, limits: Limits) -> tuple[Tensor | None, bool]:
    """One point by the rules alone: by listing where that is quick or rules are fuzzy, by MaxSAT else."""
    listing = Listing.of(model, Constant(True), condition)
    statements = all(map(is_crisp, model.rules)) and Statements.unfit(model, condition) is None
    if statements and listing.seconds > LISTED and sat.available():
        assert condition is None or isinstance(condition, Expression)
        return _by_solver(model, condition, limits)
    point, exact = _by_listing(listing, model.world, limits)
    if statements and not exact and not sat.available():
        raise NbrError(SOLVER.replace("drawing worlds", "the most plausible point of so large a world"))
    return point, exact


def _at(model: Model, condition: Set | None, point: Tensor, exact: bool) -> Best:
    degree = float(degrees(model, condition, point[None]))
    grades = model.grades_of_observed(point[None])
    return Best(
        point=model.world.show(point),
        degree=degree,
        broken=tuple((grades[0] < BROKEN).nonzero().flatten().add(1).tolist()),
        open=_open(model, condition, point, degree),
        exact=exact,
    )


def _told(model: Model, condition: Set | None, ranked: Ranked, place: int) -> Best:
    log, cell = ranked.cells[place]
    found = _at(model, condition, ranked.point(cell), ranked.exact)
    if model.prior is None:
        return found
    pieces = {}
    for name, variable in model.world.variables.items():
        if isinstance(variable, Real):
            ((low, high),) = ranked.values[name].allowed[cell[name]]
            if low < high:
                ends = (max(float(low), variable.low), min(float(high), variable.high))
                pieces[name] = Stretch(*ends, math.isfinite(low), math.isfinite(high)).shown(variable)
    likely = None if ranked.total is None else math.exp(min(0.0, log - ranked.total))
    as_good = open_beside(model, condition, ranked, cell)
    return replace(found, probability=likely, pieces=pieces, open=as_good)


def _by_listing(listing: Listing, world: World, limits: Limits) -> tuple[Tensor | None, bool]:
    rows = listing.rows(limits)
    beliefs = listing.model.beliefs.detach()
    if isinstance(listing.condition, Rule):
        beliefs = torch.cat([beliefs, beliefs.new_ones(1)])
    if not len(rows.witnesses):
        return None, False
    found = keep(rows.witnesses, beliefs)
    first = int(found.argmax())
    covered = float(keep(rows.covers, beliefs).max()) if len(rows.covers) else 0.0
    point = _anywhere(world)
    for name, value in zip(listing.model.world.names, rows.points[first].tolist(), strict=False):
        point[world.column(name)] = value
    return point, float(found[first]) >= covered


def _anywhere(world: World) -> Tensor:
    return torch.tensor([getattr(variable, "low", 0.0) for variable in world.variables.values()], dtype=torch.float64)


def _by_solver(model: Model, condition: Expression | None, limits: Limits) -> tuple[Tensor | None, bool]:
    statements = Statements.of(model, Constant(True), condition)
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


def _open(model: Model, condition: Set | None, point: Tensor, degree: float) -> tuple[str, ...]:
    """The variables that could change alone without making the point less plausible."""
    world = model.world
    cuts: dict[str, set[float]] = {}
    named = [*(rule.cuts() for rule in model.rules)] if model.codec is None else []
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
    as_good = [of[degrees(model, condition, some) >= degree * (1 - ROUNDING)] for some, of in parts]
    return tuple(world.names[column] for column in torch.cat(as_good).unique().tolist())
