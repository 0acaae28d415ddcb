"""The best points of prior times rules, and without a prior of the rules alone, one after the other.

They are the largest products of P_0 and P_keep over values: labels, the values of a number with a step, pieces of any
other number, which count as much as the prior has in them. Found as the largest products of small tables; by listing
all points; or by weighted MaxSAT, where -log(1 - b) is the weight of a rule, and the log of how much likelier the
likeliest value is that of any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch
from torch import Tensor

from nbr import clock
from nbr.calculus import sat
from nbr.clock import OutOfTime
from nbr.encodings import Encoder
from nbr.factors import MOST_STEPS, Network, ValueCodes, codes_of_values
from nbr.language import Atom, Constant, Expression, Or, compares_numbers, conjunction
from nbr.model import Model
from nbr.priors import Factor, Prior
from nbr.rules import Rule
from nbr.ways import SHARES, Limits, Unfit
from nbr.world import World

PARTS = 10**12  # in which weights are told apart: solvers want whole numbers
ENTRIES = 1 << 15  # of tables of a prior that become weights
RULES = 2000  # beyond which tables hardly ever stay small

Cell = dict[str, int]  # the number of a value for each variable


@dataclass(frozen=True)
class Ranked:
    """Values of all variables, the best first; what is said of each with `codes_of_values`."""

    values: Mapping[str, ValueCodes]
    cells: list[tuple[float, Cell]]  # with the log of P_0 P_keep
    masses: Sequence[Factor] | None  # of the prior; None where it has to be asked for points
    total: float | None  # the log of the sum over all points, where it is known
    exact: bool  # whether no others are better

    def point(self, cell: Cell) -> Tensor:
        """A point that has these values."""
        return torch.tensor([float(each.codes[cell[name]]) for name, each in self.values.items()], dtype=torch.float64)


@dataclass(frozen=True)
class Weights:
    """What is to be largest: P_0, if there is a prior, times P_keep of bodies of rules, inside a condition."""

    world: World
    prior: Prior | None
    bodies: Sequence[Sequence[Rule]]
    condition: Expression | None

    @classmethod
    def of(cls, model: Model, condition: Expression | None) -> Weights:
        bodies = model.bodies if model.prior is not None else (model,)
        prior = None if model.prior is None else model.base
        return cls(model.world, prior, [body.rules for body in bodies], condition)

    @property
    def said(self) -> list[Expression]:
        """The condition, and of each number with a step its values, so that they are told apart."""
        found = [] if self.condition is None else [self.condition]
        for name, variable in self.world.variables.items():
            if variable.numeric and variable.step and (variable.size or 0) <= MOST_STEPS:
                steps = [variable.low + variable.step * number for number in range(variable.size or 0)]
                found.append(Or(tuple(Atom(name, "=", (repr(step),)) for step in steps)))
        return found

    @property
    def rules(self) -> list[Rule]:
        return [rule for body in self.bodies for rule in body]

    def belief(self, rule: Rule) -> float:
        """By which a rule counts: beside a prior the likeliest, as in frequencies."""
        return float(rule.belief if self.prior is None else rule.likeliest)


def by_tables(weights: Weights, count: int, limits: Limits) -> Ranked:
    """As the largest products of tables; `Unfit` where they would be too large or time is up."""
    if len(weights.rules) > RULES:
        raise Unfit(f"there are more than {RULES:,} rules")
    if weights.prior is None and any(rule.belief != rule.likeliest for rule in weights.rules):
        raise Unfit("rules have a likeliest belief beside their own")
    try:
        with clock.until(limits.share(SHARES["best by tables"]).deadline):
            seconds = SHARES["order of sums"] * limits.left
            tables = Network.of(weights.world, weights.prior, weights.bodies, weights.said, seconds=seconds)
            cells = tables.several(count, weights.condition)
            total = None if weights.prior is None else float(tables.log_sums([weights.condition])[0])
    except OutOfTime:
        raise Unfit("it takes too long") from None
    return Ranked(tables.values, cells, tables.masses, total, True)


def by_maxsat(weights: Weights, count: int, limits: Limits) -> Ranked:
    """By a MaxSAT solver, each point found excluded from the next search; `Unfit` where rules are no statements."""
    said = [rule.at_least(1.0) if rule.levels() == [1.0] else None for rule in weights.rules]
    statements = [each for each in said if each is not None]
    if len(statements) < len(said):
        raise Unfit("a rule is not a statement")
    if not sat.available():
        raise Unfit("there is no solver")
    if weights.prior is not None and compares_numbers([*statements, *weights.said]):
        raise Unfit("numbers are compared with each other")
    parts = codes_of_values(weights.world, [*statements, *weights.said], {})
    try:
        with clock.until(limits.deadline):
            masses = masses_of(weights.prior, parts)
            encoder, literals = encoded(weights, statements, parts)
            soft = _soft(weights, encoder, statements, literals, masses)
            found, exact = _solved(encoder, soft, literals, count, limits)
    except OutOfTime:
        raise Unfit("it takes too long") from None
    ranked = Ranked(parts, [], masses, None, exact)
    return replace(ranked, cells=[(_score(weights, statements, ranked, cell), cell) for cell in found])


def masses_of(prior: Prior | None, parts: Mapping[str, ValueCodes]) -> list[Factor]:
    if prior is None:
        return []
    found = prior.factors({name: each.allowed for name, each in parts.items()})
    if found is None or any(name not in parts for names, _ in found for name in names):
        raise Unfit("the prior is not a product of tables of observed variables")
    if sum(table.numel() for _, table in found) > ENTRIES:
        raise Unfit(f"the tables of the prior have more than {ENTRIES:,} entries")
    return found


def encoded(
    weights: Weights, statements: Sequence[Expression], parts: Mapping[str, ValueCodes]
) -> tuple[Encoder, dict[str, list[int]]]:
    """Formulas over literals for all values."""
    world = weights.world
    cells = {name: [_stated(world, name, each, at) for at in range(len(each))] for name, each in parts.items()}
    conditions = [] if weights.condition is None else [weights.condition]
    encoder = Encoder(world, [*statements, *conditions, *(each for some in cells.values() for each in some)])
    for condition in conditions:
        encoder.require(condition)
    return encoder, {name: [encoder.literal(each) for each in some] for name, some in cells.items()}


def _stated(world: World, name: str, each: ValueCodes, at: int) -> Expression:
    variable = world.variables[name]
    if not variable.numeric:
        return Atom(name, "=", (variable.show(float(each.codes[at])),))
    ((low, high),) = each.allowed[at]
    if low == high:
        return Atom(name, "=", (repr(float(low)),))
    ends = [Atom(name, sign, (repr(float(end)),)) for sign, end in ((">", low), ("<", high)) if math.isfinite(end)]
    return conjunction(ends) or Constant(True)


def _soft(
    weights: Weights,
    encoder: Encoder,
    statements: Sequence[Expression],
    literals: Mapping[str, list[int]],
    masses: Sequence[Factor],
) -> list[tuple[int, float]]:
    """Literals that should be true, and what it costs if they are not; what must be true is required."""
    found: list[tuple[int, float]] = []
    for rule, statement in zip(weights.rules, statements, strict=True):
        belief = weights.belief(rule)
        if belief == 1:
            encoder.require(statement)
        elif belief > 0:
            selector = encoder.fresh()
            encoder.require(statement, unless=-selector)
            found.append((selector, -math.log1p(-belief)))
    for there, cost in unlikely(literals, masses):
        if cost == math.inf:
            encoder.add([-literal for literal in there])
        else:
            found.append((-encoder.both(there), cost))
    return found


def unlikely(literals: Mapping[str, list[int]], masses: Sequence[Factor]) -> Iterator[tuple[list[int], float]]:
    """Values together, by their literals, and how much less likely the prior has them than the likeliest, as a log."""
    for names, table in masses:
        logs = (table / table.max()).log()
        for entry in product(*(range(size) for size in table.shape)):
            if (cost := -float(logs[entry])) > 0:
                yield [literals[name][at] for name, at in zip(names, entry, strict=True)], cost


def _solved(
    encoder: Encoder, soft: Sequence[tuple[int, float]], literals: Mapping[str, list[int]], count: int, limits: Limits
) -> tuple[list[Cell], bool]:
    """The best cells, and whether all that were wanted, or all that there are, were found in time."""
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    hard = WCNF()
    for clause in encoder.clauses:
        hard.append(list(clause))
    for literal, cost in soft:
        hard.append([literal], weight=max(1, round(cost * PARTS)))
    solver, done = RC2(hard, solver="g4"), False
    found: list[Cell] = []
    while len(found) < count:
        model = sat.beside(lambda: solver.compute(expect_interrupt=True), solver.interrupt, limits.deadline)
        if model is None:
            done = clock.now() < limits.deadline  # there are no more
            break
        true = {literal for literal in model if literal > 0}
        cell = {}
        for name, each in literals.items():
            cell[name] = next(at for at, one in enumerate(each) if (one in true if one > 0 else -one not in true))
        found.append(cell)
        solver.add_clause([-literals[name][at] for name, at in cell.items()])
    solver.delete()  # not after Ctrl-C, when it may still be at work
    return found, done or len(found) == count


def _score(weights: Weights, statements: Sequence[Expression], ranked: Ranked, cell: Cell) -> float:
    point, total = ranked.point(cell)[None], 0.0
    for rule, statement in zip(weights.rules, statements, strict=True):
        if not bool(statement.holds(weights.world, point)):
            total += math.log1p(-weights.belief(rule))
    return total + sum(float(table[tuple(cell[name] for name in names)].log()) for names, table in ranked.masses or ())
