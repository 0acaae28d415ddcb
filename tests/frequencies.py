"""Models with known frequencies, and these by going through all points."""

from __future__ import annotations

import random

import torch

import nbr
import rule_bases
from nbr.density.likelihood import log_weights
from nbr.points.numbered import numbered_points
from nbr.priors import Independent


def independent(draw: random.Random, world: nbr.World) -> Independent:
    generator = torch.Generator().manual_seed(draw.randrange(1000))
    columns = [
        torch.zeros(0) if isinstance(variable, nbr.Real) else torch.rand(variable.size, generator=generator)
        for variable in world.variables.values()
    ]
    return Independent(world, columns)


def oracle(reasoner: nbr.Reasoner, question: str, given: str | None) -> float | None:
    """The share of P_0 P_keep, point by point."""
    listed = numbered_points(reasoner.world)
    assert listed is not None
    weights = log_weights(reasoner.model, listed)
    assert weights is not None
    mass = weights.exp()
    if given is not None:
        mass = mass * nbr.parse(given).holds(reasoner.world, listed.points)
    if not mass.sum() > 0:
        return None
    return float((mass * nbr.parse(question).holds(reasoner.world, listed.points)).sum() / mass.sum())


def smooth(points: torch.Tensor) -> torch.Tensor:
    """A fuzzy rule that no counter can take."""
    return torch.sigmoid(points[:, 0] + 2 * points[:, 1] - points[:, 2] * points[:, 3])


def mixed(seed: int, *fuzzy: nbr.Rule) -> tuple[nbr.Reasoner, str, str]:
    draw = random.Random(seed)
    world = rule_bases.world(draw, draw.randint(4, 6), draw.randint(0, 2))
    if seed % 2:
        world = world | nbr.World(n=nbr.Real(0, 10, step=1))
    rules = [nbr.Clause(rule_bases.statement(draw, world), draw.choice([0.0, 1.0, 0.5, 0.9, 0.2])) for _ in range(5)]
    reasoner = nbr.Reasoner(world, [*rules, *fuzzy], prior=independent(draw, world))
    return reasoner, rule_bases.statement(draw, world), rule_bases.statement(draw, world, 1)


def nothing(*parts: object) -> None:
    """In the place of a way that does not fit."""


def rare_world() -> tuple[nbr.World, list[torch.Tensor]]:
    world = nbr.World({**nbr.World.bits(12).variables, "c": nbr.Choice("red", "green", "blue")})
    return world, [*[torch.tensor([0.9, 0.1])] * 12, torch.tensor([0.02, 0.9, 0.08])]


def unit_rules(bits: int, belief: float) -> nbr.Reasoner:
    """P_keep is a product, so that every bit is 1 with probability 1 / (2 - belief), independently of the others."""
    rules = [nbr.Fuzzy(lambda points: points[:, 0], belief, inputs=f"x{i}") for i in range(bits)]
    return nbr.Reasoner(nbr.World.bits(bits), rules)
