"""Closed variables point by point: the least model of rules that are there, and what rules keep of a point.

A point is kept in a world Y if it is the least model of Y over its own open variables and no constraint of Y is broken.
So a rule whose body holds and whose head does not is absent, and each head that is true has a rule that is there and
whose body holds: where no variable depends on itself, and rules are there each for itself, a noisy-or for each head.
"""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from nbr.calculus import Presence, draw_worlds, keep_probability, presence_probabilities, world_probabilities
from nbr.model import Model
from nbr.ways import Unfit

HEADS = 12  # that share what makes them true, up to which all sets of them are gone through
WORLDS = 1 << 24  # points in all worlds together, gone through where variables depend on themselves
AT_ONCE = 1 << 20


def least_model(model: Model, points: Tensor, present: Tensor) -> None:
    """Fill in closed variables of points, (points, variables), where these rules are there, (points, rules)."""
    world, program = model.world, model.program
    points[:, [world.column(name) for name in model.closed]] = 0.0
    for layer in program.layers:
        for _ in range(len(layer)):
            for name in layer:
                made = points[:, world.column(name)] > 0
                for each in program.of(name):
                    made = made | (present[:, each.rule] & each.body.holds(world, points))
                points[:, world.column(name)] = made.double()


def reached_grade(model: Model, points: Tensor, present: Tensor) -> Tensor:
    """The smallest grade among the constraints that are there: (points,)."""
    found = torch.ones(len(points), dtype=torch.float64)
    for position, rule in enumerate(model.rules):
        if position not in model.program.defining:
            found = torch.where(present[:, position], torch.minimum(found, rule.grades(points)), found)
    return found


def kept(model: Model, points: Tensor, presence: Presence) -> Tensor:
    """P_keep of points, (points,); `Unfit` where too much would have to be gone through."""
    if model.program.looped:
        return _over_worlds(model, points, presence)
    grades, beliefs = model.grades(points), presence_probabilities(presence)
    free = set(range(len(model.rules))) if isinstance(presence, Tensor) else set(presence.free)
    alone, sharing = torch.ones(len(points), dtype=torch.float64), list[tuple[Tensor, Tensor]]()
    for name in sorted(model.closed):
        own, true = model.program.of(name), points[:, model.world.column(name)] > 0
        makes = torch.zeros(len(points), len(model.rules), dtype=torch.bool)
        for each in own:
            makes[:, each.rule] = each.body.holds(model.world, points) & (grades[:, each.rule] == 1)
        if all(each.rule in free and len(each.heads) == 1 for each in own):
            none = torch.where(makes, 1 - beliefs, 1.0).prod(dim=1)
            alone = alone * torch.where(true, 1 - none, 1.0)
        else:
            sharing.append((true, makes))
    return alone * _each_made(grades, presence, sharing)


def _each_made(grades: Tensor, presence: Presence, heads: list[tuple[Tensor, Tensor]]) -> Tensor:
    """P(no broken rule is there, and of each head that is true some rule that makes it so), over sets of heads."""
    if len(heads) > HEADS:
        raise Unfit(f"{len(heads)} closed variables share what makes them true, and up to {HEADS} are gone through")
    found = keep_probability(grades, presence)
    for size in range(1, len(heads) + 1):
        for some in combinations(heads, size):
            rows = torch.stack([true for true, _ in some]).all(dim=0).nonzero().flatten()
            if len(rows):  # few heads are true at once
                out = torch.stack([makes[rows] for _, makes in some]).any(dim=0)
                without = keep_probability(grades[rows].masked_fill(out, 0.0), presence)
                found = found.index_add(0, rows, (-1) ** size * without)
    return found.clamp(min=0.0)


def _over_worlds(model: Model, points: Tensor, presence: Presence) -> Tensor:
    """World by world, which is what is left where variables depend on themselves."""
    rules = len(model.rules)
    if len(points) << rules > WORLDS:
        raise Unfit("variables depend on themselves, and there are too many worlds to go through")
    chance = world_probabilities(presence)
    present = (torch.arange(1 << rules)[:, None] >> torch.arange(rules)) % 2 == 1
    found = []
    for part in points.split(max(1, AT_ONCE >> rules)):
        whole, there = part.repeat_interleave(1 << rules, dim=0), present.repeat(len(part), 1)
        made = whole.clone()
        least_model(model, made, there)
        grades = torch.where((made == whole).all(dim=1), reached_grade(model, whole, there), 0.0)
        found.append(grades.view(len(part), -1) @ chance)
    return torch.cat(found)


def forward(model: Model, points: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points of a prior with closed variables as rules drawn for each make them, and how likely each is to be kept."""
    points, present = points.clone(), draw_worlds(model.likeliest, len(points), generator)
    least_model(model, points, present)
    chance = reached_grade(model, points, present)
    if model.prior is None:
        return points, chance
    open_ = points.clone()
    open_[:, [model.world.column(name) for name in model.closed]] = torch.nan
    scores = model.base.log_prob(points), model.base.log_prob(open_)
    if scores[0] is None or scores[1] is None:
        raise Unfit("the prior has no score for points")
    return points, chance * (scores[0] - scores[1]).exp()
