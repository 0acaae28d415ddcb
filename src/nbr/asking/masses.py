"""The basic probability assignment itself, for models small enough to list."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus import best_grades, world_probabilities
from nbr.errors import NbrError
from nbr.model import Model
from nbr.points import world_cells

RULES = 16
LISTED = 1 << 24  # memberships of all points in all worlds


@dataclass(frozen=True)
class FocalSet:
    """A fuzzy set that carries mass, scaled so that its highest grade is 1.

    `points` has shape (points, variables), `grades` shape (points,), and `mass` is the mass of the set.
    """

    points: Tensor  # (points, variables)
    grades: Tensor  # (points,)
    mass: float


def of_worlds(model: Model) -> Tensor:
    """p(y) max mu_y / E max mu_Y for every world y."""
    _, grades = _listed(model)
    return _share(world_probabilities(model.presence).detach() * best_grades(grades))


def of_sets(model: Model) -> list[FocalSet]:
    """The scaled intersections S'_y, equal ones together, by descending mass."""
    points, grades = _listed(model)
    if len(points) << len(model.rules) > LISTED:
        raise NbrError(f"{len(points)} points in {1 << len(model.rules)} worlds are too many to list")
    shapes = torch.ones(1, len(points), dtype=torch.float64)
    for rule in range(grades.shape[1]):
        shapes = torch.cat([shapes, torch.minimum(shapes, grades[:, rule])])
    heights = shapes.amax(dim=1)
    mass = _share(world_probabilities(model.presence).detach() * heights)
    focal = mass > 0
    scaled, member = torch.unique(shapes[focal] / heights[focal, None], dim=0, return_inverse=True)
    summed = torch.zeros(len(scaled), dtype=torch.float64).index_add(0, member, mass[focal])
    order = summed.argsort(descending=True, stable=True)
    return [FocalSet(points, scaled[i], float(summed[i])) for i in order.tolist()]


def _listed(model: Model) -> tuple[Tensor, Tensor]:
    world = model.latent
    if model.closed:
        raise NbrError("masses are listed for models without closed variables")
    if len(model.rules) > RULES:
        raise NbrError(f"masses are listed for up to {RULES} rules; this model has {len(model.rules)}")
    reals = [name for name, variable in world.variables.items() if variable.numeric]
    if reals:
        raise NbrError(f"masses are listed for finite worlds; {reals[0]!r} is a number")
    listing = world_cells(world, {}, (), 1)
    if listing.count > LISTED:
        raise NbrError(f"the world has {listing.count} points, too many to list")
    points = torch.cat([chunk for chunk, _ in listing.chunks()])
    with torch.no_grad():
        return points, model.grades(points)


def _share(weights: Tensor) -> Tensor:
    total = weights.sum()
    if total == 0:
        raise NbrError("the rules that must hold (belief 1) contradict each other: there is no mass to share")
    return weights / total
