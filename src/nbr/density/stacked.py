"""A prior with one body of rules after the other on top: what all of them say of points, up to a common factor."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.keeping import log_keep
from nbr.priors import Prior
from nbr.rules.knowledge import Knowledge
from nbr.world import World


class Stacked(Prior):
    """A prior that is itself rules on top of a prior."""

    knowledge: Knowledge
    prior: Prior


@dataclass(frozen=True)
class Density:
    """P_0 times P_keep of every body of rules; fuzzy rules of two bodies do not mix, so that bodies multiply."""

    prior: Prior  # no longer a stacked one
    bodies: tuple[Knowledge, ...]

    @classmethod
    def of(cls, knowledge: Knowledge, prior: Prior) -> Density:
        bodies = [knowledge]
        while isinstance(prior, Stacked):
            bodies.append(prior.knowledge)
            prior = prior.prior
        return cls(prior, tuple(bodies))

    @property
    def world(self) -> World:
        return self.prior.world

    @property
    def reads(self) -> frozenset[str]:
        """The variables that some rule reads; by way of an encoder, all."""
        if any(body.codec is not None for body in self.bodies):
            return frozenset(self.world.names)
        return frozenset(name for body in self.bodies for rule in body.rules for name in rule.inputs)

    def log_keep(self, points: Tensor) -> Tensor:
        """log of P_keep, equation (10), of all bodies together."""
        return torch.stack([log_keep(body, points) for body in self.bodies]).sum(dim=0)
