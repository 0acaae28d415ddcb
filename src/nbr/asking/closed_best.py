"""The most plausible point of a model with closed variables, as a weighted MaxSAT problem.

Where rules are there each for itself, log P_keep is a sum: log(1 - b) of each rule that is broken, and of each closed
variable that is true log(1 - product of (1 - b)) over the rules whose body holds, told apart by which these are.
"""

from __future__ import annotations

import math
from itertools import combinations

import torch
from torch import Tensor

from nbr.asking.likeliest import PARTS
from nbr.asking.listed_best import ROUNDING, log_degrees
from nbr.calculus import detached, presence_probabilities, sat
from nbr.density import Draws, closed
from nbr.encodings import Encoder
from nbr.language import Atom, Expression, compares_numbers
from nbr.model import Model
from nbr.points import world_cells
from nbr.rules import Definition
from nbr.ways import SHARES, Limits

HALF = 0.5  # the grade from which on a fuzzy rule counts as satisfied, in a point to begin with
DRAWN = 2_000  # points, the best of which is gone on from
PIECES = 16  # of a number along which grades change
DEFINED = 8  # rules that can make one variable true, up to which all sets of them are told apart


def unfit(model: Model) -> str | None:
    """Why log P_keep of a model is no such sum."""
    if not isinstance(model.presence, Tensor):
        return "rules share a source, or exclude each other"
    return "not all rules are statements" if any(rule.levels() != [1.0] for rule in model.rules) else _unsaid(model)


def _unsaid(model: Model) -> str | None:
    """The same where rules are taken to be there each for itself, and fuzzy ones to hold from some grade on."""
    if model.program.looped:
        return "variables depend on themselves"
    if any(len(each.heads) > 1 for each in model.program.definitions):
        return "a rule makes several variables true"
    if any(len(model.program.of(name)) > DEFINED for name in model.closed):
        return f"more than {DEFINED} rules make one variable true"
    said = [rule.cut(HALF) for rule in model.rules]
    if any(each is None for each in said) or compares_numbers(each for each in said if each is not None):
        return "not all rules are statements that tell numbers apart"
    return None


def by_maxsat(model: Model, condition: Expression | None, limits: Limits) -> Tensor | None:
    """The best point, or None if time is up or there is none.

    Where rules share a source or have degrees it is one to begin with: as if each was there for itself, and held from
    a grade of 1/2 on.
    """
    from pysat.examples.rc2 import RC2
    from pysat.formula import WCNF

    statements = [each for rule in model.rules if (each := rule.cut(HALF)) is not None]
    asked = [] if condition is None else [condition]
    bits = [name for name, variable in model.world.variables.items() if variable.boolean]
    bodies = [each.body for each in model.program.definitions]
    encoder = Encoder(model.world, [*statements, *bodies, *asked], bits)
    for each in asked:
        encoder.require(each)
    beliefs = presence_probabilities(detached(model.presence))
    soft = [(encoder.literal(said), 1 - b) for said, b in zip(statements, beliefs.tolist(), strict=True) if b > 0]
    for name in sorted(model.closed):
        soft += _made(encoder, encoder.literal(Atom(name)), model.program.of(name), beliefs)
    hard = WCNF()
    for clause in encoder.clauses:
        hard.append(list(clause))
    for literal, chance in soft:
        cost = None if chance <= 0 else -math.log(chance)
        if cost is None:
            hard.append([literal])
        elif cost > 0:
            hard.append([literal], weight=max(1, round(cost * PARTS)))
    solver = RC2(hard, solver="g4")
    found = sat.beside(lambda: solver.compute(expect_interrupt=True), solver.interrupt, limits.deadline)
    solver.delete()
    return None if found is None else encoder.point({literal for literal in found if literal > 0})


def by_climbing(model: Model, condition: Expression | None, limits: Limits) -> Tensor | None:
    """From a point that is good by and large, or the best of some drawn, one variable changed after the other."""
    begun = None
    if sat.available() and _unsaid(model) is None:
        begun = by_maxsat(model, condition, limits.share(SHARES["best first"]))
    if begun is None:
        generator = torch.Generator().manual_seed(limits.seed)
        starts = closed.forward(model, Draws.of(model, None).points(DRAWN, generator), generator)[0]
    else:
        starts = begun[None]
    logs = log_degrees(model, condition, starts)
    if float(logs.max()) == -math.inf:
        return None
    best, log = starts[int(logs.argmax())], float(logs.max())
    cuts: dict[str, set[float]] = {}
    for found in (*(rule.cuts() for rule in model.rules), {} if condition is None else condition.cuts(model.world)):
        for name, numbers in found.items():
            cuts.setdefault(name, set()).update(numbers)
    smooth = {name for rule in model.rules for name in rule.smooth}
    values = world_cells(model.world, cuts, smooth, PIECES).centres
    improved = True
    while improved and limits.left > 0:
        improved = False
        for column, others in enumerate(values):
            near = best.repeat(len(others), 1)
            near[:, column] = others
            logs = log_degrees(model, condition, near)
            if float(logs.max()) > log + ROUNDING:
                best, log, improved = near[int(logs.argmax())], float(logs.max()), True
    return best


def _made(encoder: Encoder, head: int, rules: list[Definition], beliefs: Tensor) -> list[tuple[int, float]]:
    """Literals that are false where a variable is true and certain rules may make it so, and how likely one does."""
    bodies = [encoder.literal(each.body) for each in rules]
    none = 1 - beliefs[[each.rule for each in rules]] if rules else torch.ones(0)
    found = []
    for size in range(len(rules) + 1):
        for some in combinations(range(len(rules)), size):
            there = [body if place in some else -body for place, body in enumerate(bodies)]
            chance = 1 - math.prod(float(none[place]) for place in some)
            if chance < 1:
                found.append((-encoder.both([head, *there]), chance))
    return found
