"""Points of a prior inside a condition, and what each of them counts for.

The mean over such points of P_keep, times what is left of the condition, estimates sums of P_0 P_keep over all points
that meet it. Where a condition reads few values, it is spelled out: the prior scores each combination of them that
meets it, and completes those that are drawn. Else the prior is drawn inside what the condition says of single
variables; other parts of it count 0 or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.conditions import Inside, inside
from nbr.density.keeping import log_keep
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.points import numbered_points
from nbr.priors import Prior
from nbr.world import World

SPELLED = 1 << 13  # combinations of values up to which a condition is spelled out


class Impossible(NbrError):
    """The prior gives nothing to a condition."""


@dataclass(frozen=True)
class Draws:
    """Draws inside a condition, and the share of the prior that lies there.

    `combinations` are rows with holes and their log masses.
    """

    model: Model
    within: Inside
    share: float = 1.0
    combinations: tuple[Tensor, Tensor] | None = None

    @classmethod
    def of(cls, model: Model, condition: Expression | None) -> Draws:
        within = inside(model.world, condition)
        mass = model.base.log_mass(within.allowed)
        if mass is None:
            return cls(model, Inside({}, condition))
        if mass == -torch.inf:
            raise Impossible("the condition has probability 0: the prior excludes the values that it names")
        found = None if condition is None or within.rest is None else _spelled(model.base, condition)
        if found is not None and not len(found[0]):
            raise Impossible("the condition has probability 0: no values that the prior allows meet it")
        inner = math.exp(mass) if found is None else float(found[1].exp().sum())
        return cls(model, within, inner, found)

    @property
    def whole(self) -> bool:
        """Whether all of the condition is met in drawing, so that `share` is the prior's mass of it."""
        return self.combinations is not None or (self.within.rest is None and bool(self.within.allowed))

    def points(self, count: int, generator: torch.Generator) -> Tensor:
        """Points of the prior inside what is drawn."""
        prior = self.model.base
        if self.combinations is not None:
            rows, masses = self.combinations
            picks = torch.multinomial(torch.softmax(masses, 0), count, replacement=True, generator=generator)
            return prior.complete(rows[picks], 1, generator)[:, 0]
        if self.within.allowed:
            return prior.sample_within(self.within.allowed, count, generator)
        return prior.sample(count, generator)

    def log_weights(self, points: Tensor) -> Tensor:
        """log of P_keep, and of 0 where a point does not meet the rest of the condition."""
        weights = log_keep(self.model, points)
        if self.combinations is None and self.within.rest is not None:
            return weights.masked_fill(~self.within.rest.holds(self.model.world, points), -torch.inf)
        return weights


def _spelled(prior: Prior, condition: Expression) -> tuple[Tensor, Tensor] | None:
    """All values of the variables a condition reads that meet it, as rows with holes, with their log masses."""
    names = sorted(condition.names())
    if prior.rows is not None:  # its rows are few and weighed one by one anyway
        return None
    found = spread(prior.world, names, SPELLED)
    if found is None:
        return None
    rows = found[condition.holds(prior.world, found.nan_to_num())]
    masses = prior.log_prob(rows)
    if masses is None:
        return None
    possible = masses > -torch.inf
    return rows[possible], masses[possible]


def spread(world: World, names: list[str], most: int) -> Tensor | None:
    """Every combination of values of some variables, the others left as holes; None if there are too many."""
    if not names:
        return torch.full((1, len(world)), torch.nan, dtype=torch.float64)
    listed = numbered_points(World({name: world.variables[name] for name in names}), most)
    if listed is None:
        return None
    rows = torch.full((listed.count, len(world)), torch.nan, dtype=torch.float64)
    rows[:, [world.column(name) for name in names]] = listed.points
    return rows
