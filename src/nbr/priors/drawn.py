"""Any torch distribution as a prior."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.priors.base import Prior
from nbr.priors.columns import Allowed
from nbr.world import World


class Drawn(Prior):
    """Any torch distribution over rows.

    Args:
        world: The variables.
        distribution: A distribution with event shape (variables,).
    """

    def __init__(self, world: World, distribution: torch.distributions.Distribution) -> None:
        super().__init__(world)
        if tuple(distribution.event_shape) != (len(world),):
            shape = tuple(distribution.event_shape)
            raise NbrError(f"the prior draws rows of shape {shape}, and the world has {len(world)} variables")
        self.distribution = distribution

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        # torch distributions draw from the global generator; fork it so that only the seed given matters.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
            return self.world.snap(self.distribution.sample((count,)).double())

    def log_prob(self, points: Tensor) -> Tensor:
        if bool(points.isnan().any()):
            raise NbrError("rows with holes cannot be scored by a torch distribution, which knows no marginal ones")
        scores: Tensor = self.distribution.log_prob(points)
        return scores.double()

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        if bool(codes.isnan().any()):
            raise NbrError("holes cannot be filled from a torch distribution, which knows no conditional ones")
        return codes[:, None].expand(-1, count, -1)

    def log_mass(self, allowed: Mapping[str, Allowed]) -> None:
        """Not known."""

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        raise NbrError("a torch distribution cannot be drawn from within a condition")
