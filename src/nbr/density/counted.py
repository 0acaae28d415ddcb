"""P(Q | C) by counting: sums of P_0 P_keep over points that are never listed.

With a selector for each rule, true with probability b_i, and the rule required where its selector is true, a point
that violates rules has them all switched off with probability product of (1 - b_i): its P_keep, where rules are crisp.
Variables are weighed by an independent prior, so that one weighted count over everything is the sum wanted. A fuzzy
rule is a statement at each level t of grade, and P_keep the sum over levels of (t_j - t_(j-1)) times that of the
statements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from nbr.calculus import Clause, all_selectors, ganak, selector_guards
from nbr.density.conditions import pieces, spots
from nbr.encodings import Closure, Encoder
from nbr.language import Expression, compares_numbers
from nbr.model import Model
from nbr.points import world_cells
from nbr.priors import Prior
from nbr.rules import Rule, moves, turning
from nbr.world import World

CLOSE = 1e-9  # of the range of a number: the same edge
LEVELS = 16  # of grade, up to which they are counted one by one


def counted(
    model: Model, question: Expression, condition: Expression | None, deadline: float
) -> tuple[float, float] | None:
    """The sums of P_0 P_keep over Q and C, and over C; None where that cannot be counted, or not in time."""
    levels = _levels(model)
    if levels is None or model.base.independent is None or not ganak.available():
        return None
    both, whole, before = 0.0, 0.0, 0.0
    for level in levels:
        found = _sums(model, model.base, question, condition, (before + level) / 2, deadline)
        if found is None:
            return None
        both, whole, before = both + (level - before) * found[0], whole + (level - before) * found[1], level
    return both, whole


def countable(model: Model, question: Expression, condition: Expression | None) -> bool:
    """Whether a counter would find the sums if it had the time."""
    levels = _levels(model)
    if levels is None or model.base.independent is None:
        return False
    said = [rule.cut(level) for rule in _rules(model) if rule.degree > 0 for level in levels]
    return all(each is not None for each in said) and not compares_numbers([question, condition, *said])


def _levels(model: Model) -> list[float] | None:
    """The levels of grade, ascending; None if rules are no statements, or fuzzy ones of several bodies multiply."""
    rules = list(_rules(model))
    if any(body.codec is not None for body in model.bodies) or any(map(moves, rules)):
        return None
    found = turning(rules, [], model.world)
    mixed = found is not None and len(found) > 1 and sum(bool(body.rules) for body in model.bodies) > 1
    return None if found is None or mixed or len(found) > LEVELS else found


def _rules(model: Model) -> Iterable[Rule]:
    return (rule for body in model.bodies for rule in body.rules)


def _sums(
    model: Model,
    prior: Prior,
    question: Expression,
    condition: Expression | None,
    level: float,
    deadline: float,
) -> tuple[float, float] | None:
    said = [rule.cut(level) for rule in _rules(model) if float(rule.likeliest) > 0]
    rules = [statement for statement in said if statement is not None]
    if len(rules) < len(said):
        return None
    statements = [question, *([] if condition is None else [condition]), *rules]
    if compares_numbers(statements):
        return None  # the prior does not weigh regions that comparisons between numbers make
    closure = Closure(model.world, model.program) if model.closed else None
    wider = model.world if closure is None else closure.world
    encoder = Encoder(wider, [*statements, *([] if closure is None else closure.statements)])
    weights: list[tuple[int, float]] = []
    if condition is not None:
        encoder.require(condition)
    for body in model.bodies:
        _selected(encoder, body, closure, level, weights)
    asked = encoder.literal(question)
    for name in model.world.names:
        _weigh(encoder, name, _masses(prior, encoder, name, statements), weights)
    clauses: list[Clause] = list(encoder.clauses)
    spare = encoder.count + 1  # so that something is weighed where there are no rules
    values = []
    for extra in ([(asked,)], []):
        value = ganak.count([*clauses, *extra], spare, [*weights, (spare, 0.5)], None, deadline)
        if value is None:
            return None
        values.append(max(value, 0.0))
    return values[0], values[1]


def _selected(
    encoder: Encoder, body: Model, closure: Closure | None, level: float, weights: list[tuple[int, float]]
) -> None:
    """Require each rule where its selectors say that it is there, and weigh these."""
    chance, told = selector_guards(all_selectors(body.likeliest), encoder.fresh)
    weights += chance.items()
    there = [-encoder.true if guard is None else encoder.both(guard) for guard in told]
    if closure is not None:
        closure.define(encoder, there)
    for position, (rule, guard) in enumerate(zip(body.rules, told, strict=True)):
        statement = rule.cut(level)
        if guard is not None and statement is not None and position not in body.program.defining:
            encoder.require(statement, unless=-there[position])


def _masses(prior: Prior, encoder: Encoder, name: str, statements: list[Expression]) -> list[float]:
    """The probability of each class of values that statements tell apart."""
    member = torch.tensor(encoder.members(name))
    values, classes = spots(prior.world, name, statements), member
    if real := prior.world.variables[name].numeric:
        classes = _spot_classes(prior, name, statements, values, member)
    found = []
    for number in range(int(member.max()) + 1):
        mine = classes == number
        mass = prior.log_mass({name: pieces(values, mine) if real else mine})
        assert mass is not None  # of independent variables it is known
        found.append(math.exp(mass))
    return [mass / math.fsum(found) for mass in found]


def _spot_classes(prior: Prior, name: str, statements: list[Expression], values: Tensor, member: Tensor) -> Tensor:
    """The class of each edge and middle of a real; -1 where a real with a step has no value."""
    cuts = {cut for statement in statements for cut in statement.cuts(prior.world).get(name, ())}
    small = World({name: prior.world.variables[name]})
    centres = world_cells(small, {name: cuts}, (), 1).centres[0].sort().values
    edges = values[::2].contiguous()
    right = torch.searchsorted(edges, centres - CLOSE * (edges[-1] - edges[0]))  # the first edge not below
    at = torch.where((edges[right] - centres).abs() <= CLOSE * (edges[-1] - edges[0]), 2 * right, 2 * right - 1)
    return torch.full((len(values),), -1).index_put((at,), member)


def _weigh(encoder: Encoder, name: str, masses: list[float], weights: list[tuple[int, float]]) -> None:
    """Weigh a variable: a stick is broken class by class, each break a number of its own with a probability."""
    classes = encoder.classes(name)
    if len(classes) == 1:
        return
    left = 1.0
    breaks: list[int] = []
    for literal, mass in zip(classes[:-1], masses[:-1], strict=True):
        share = mass / left if left > 0 else 0.0
        here = literal if len(classes) == 2 else encoder.fresh()
        if len(classes) > 2:
            for earlier in breaks:
                encoder.add((-literal, -earlier))
            encoder.add((-literal, here))
        if 0 < share < 1:
            weights.append((abs(here), share if here > 0 else 1 - share))
        else:
            encoder.add((here if share >= 1 else -here,))
        breaks.append(here)
        left = max(0.0, left - mass)
    if len(classes) > 2:
        for earlier in breaks:
            encoder.add((-classes[-1], -earlier))
