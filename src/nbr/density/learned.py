"""What another model generates, as a prior to learn with."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from nbr.density.likelihood import score
from nbr.density.sampling import draw
from nbr.errors import NbrError
from nbr.model import Model
from nbr.priors import Allowed, Prior
from nbr.tables import Table


class Learned(Prior):
    """What rules and their prior generate: train with it, and only what they do not know is learned."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.world)
        self.model = model

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return draw(self.model, count, None, generator).points

    def log_prob(self, points: Tensor) -> Tensor:
        return score(self.model, Table(self.world, points)).log_prob

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        if bool(codes.isnan().any()):
            raise NbrError("holes in rows of a world too large to list cannot be filled from a learned prior")
        return codes[:, None].expand(-1, count, -1)

    def log_mass(self, allowed: Mapping[str, Allowed]) -> None:
        """Not known."""

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        raise NbrError("a learned prior cannot be drawn from within a condition")


def standing_on(prior: Prior | None) -> Prior | Model | None:
    """What a model stands on: of a prior that another model generates, that model."""
    return prior.model if isinstance(prior, Learned) else prior
