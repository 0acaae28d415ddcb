"""Points weighed one by one: the best of a list of all points, and what could change at a point."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nbr.asking.likeliest import Cell, Ranked
from nbr.calculus import detached, keep_probability, with_certain
from nbr.density import closed, log_keep
from nbr.encodings import Set
from nbr.factors import ValueCodes
from nbr.language import Expression
from nbr.model import Model
from nbr.points import numbered_points
from nbr.rules import Rule
from nbr.ways import Unfit
from nbr.world import World

POINTS = 1 << 17
ROUNDING = 1e-9


def countable(world: World) -> int | None:
    """How many points a world has; None where there are too many to list."""
    sizes = [variable.size for variable in world.variables.values()]
    count = math.prod(size or 0 for size in sizes)
    return count if all(sizes) and count <= POINTS else None


def by_points(model: Model, condition: Set | None, count: int) -> Ranked:
    """The best of all points; `Unfit` where there are too many."""
    world = model.world
    listed = numbered_points(world, POINTS)
    if listed is None:
        raise Unfit(f"there are more than {POINTS:,} points")
    points = listed.points
    if model.prior is None:
        logs = log_degrees(model, condition, points)
    else:
        scores = _log_weights(model, condition, points)
        if scores is None:
            raise Unfit("the prior has no score for points")
        logs = scores
    first = torch.topk(logs, min(count, len(points)))
    each = dict(zip(world.names, listed.grid.centres, strict=True))
    found = {
        name: ValueCodes(codes, tuple([(float(code), float(code))] for code in codes)) for name, codes in each.items()
    }
    cells = [
        (log, {name: int((each[name] == code).nonzero()[0]) for name, code in zip(world.names, row, strict=True)})
        for log, row in zip(first.values.tolist(), points[first.indices].tolist(), strict=True)
        if log > -math.inf
    ]
    return Ranked(found, cells, None, float(logs.logsumexp(0)) if model.prior is not None else None, True)


def log_degrees(model: Model, condition: Set | None, points: Tensor) -> Tensor:
    """log E[mu_Y(z)] of points, -inf where a condition does not hold; a fuzzy one is a rule that must hold.

    Of statements it is a sum, which does not end at the smallest number there is as a product of many does.
    """
    beliefs = detached(model.presence)
    if model.closed:
        if isinstance(condition, Rule):
            raise Unfit("the condition is fuzzy, and variables are closed")
        return _inside(model, condition, points, closed.kept(model, points, beliefs).log())
    grades = model.grades_of_observed(points)
    if isinstance(condition, Rule):
        grades = torch.cat([grades, condition.grades(points)[:, None]], dim=1)
        beliefs = with_certain(beliefs)
    if isinstance(beliefs, Tensor) and bool(((grades == 0) | (grades == 1)).all()):
        found = torch.where(grades == 0, torch.log1p(-beliefs), 0.0).sum(dim=1)
    else:
        found = keep_probability(grades, beliefs).log()
    return _inside(model, condition, points, found)


def _inside(model: Model, condition: Set | None, points: Tensor, found: Tensor) -> Tensor:
    if not isinstance(condition, Expression):
        return found
    return torch.where(condition.holds(model.world, points), found, -math.inf)


def open_beside(model: Model, condition: Set | None, ranked: Ranked, cell: Cell) -> tuple[str, ...]:
    """The variables that could change alone without making a point less likely."""
    point, near, moved = ranked.point(cell), [], []
    for column, (name, each) in enumerate(ranked.values.items()):
        for at in range(len(each)):
            if at != cell[name]:
                near.append(point.clone())
                near[-1][column] = each.codes[at]
                moved.append((name, at))
    if not near:
        return ()
    weights = _log_weights(model, condition, torch.stack([point, *near]), scored=ranked.masses is None)
    assert weights is not None
    gains = weights[1:] - weights[0]
    for number, (name, at) in enumerate(moved):
        for names, table in ranked.masses or ():
            if name in names:
                here, there = (tuple({**cell, name: value}[each] for each in names) for value in (cell[name], at))
                gains[number] += table[there].log() - table[here].log()
    as_good = {moved[number][0] for number in (gains >= -ROUNDING).nonzero().flatten().tolist()}
    return tuple(name for name in ranked.values if name in as_good)


def _log_weights(model: Model, condition: Set | None, points: Tensor, scored: bool = True) -> Tensor | None:
    """log of P_0 P_keep, or of P_keep alone; a fuzzy condition is a rule that must hold, beside the first body."""
    known = model.base.log_prob(points) if scored else torch.zeros(len(points), dtype=torch.float64)
    if known is None:
        return None
    if not isinstance(condition, Rule):
        found = known + log_keep(model, points)
        return found if condition is None else torch.where(condition.holds(model.world, points), found, -math.inf)
    grades = torch.cat([model.grades_of_observed(points), condition.grades(points)[:, None]], dim=1)
    kept = keep_probability(grades, with_certain(model.likeliest)).log()
    return known + kept if model.below is None else known + kept + log_keep(model.below, points)
