"""What another model generates, as a prior."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from nbr import registry
from nbr.density import saved
from nbr.density.likelihood import score
from nbr.density.sampling import draw
from nbr.density.stacked import Stacked
from nbr.errors import NbrError
from nbr.priors import Allowed, Prior, uniform
from nbr.rules.knowledge import Knowledge
from nbr.tables import Table


@registry.kind("prior", "learned")
class Learned(Stacked):
    """What rules and their prior generate: train with it, and only what they do not know is learned."""

    def __init__(self, knowledge: Knowledge, prior: Prior | None = None) -> None:
        super().__init__(knowledge.world)
        self.knowledge, self.prior = knowledge, prior or uniform(knowledge.world)
        self._given = prior

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return draw(self.knowledge, self.prior, count, None, generator).points

    def log_prob(self, points: Tensor) -> Tensor:
        return score(self.knowledge, self.prior, Table(self.world, points)).log_prob

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        if bool(codes.isnan().any()):
            raise NbrError("holes in rows of a world too large to list cannot be filled from a learned prior")
        return codes[:, None].expand(-1, count, -1)

    def log_mass(self, allowed: Mapping[str, Allowed]) -> None:
        """Not known."""

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        raise NbrError("a learned prior cannot be drawn from within a condition")

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        model, tensors = saved.write(self.knowledge, self._given)
        return {"prior": "learned", "model": model}, tensors

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Learned:
        found = cls(*saved.read(spec["model"], parts))
        if found.world != parts.context["world"]:
            raise NbrError("a learned prior is of another world than its model")
        return found
