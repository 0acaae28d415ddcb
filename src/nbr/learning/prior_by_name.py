"""The prior that a user names."""

from __future__ import annotations

import torch

from nbr.density.learned import Learned
from nbr.errors import NbrError
from nbr.priors import Drawn, Prior, marginals, uniform
from nbr.reasoner import Reasoner
from nbr.tables import Table

PriorLike = str | Reasoner | torch.distributions.Distribution | Prior


def choose(prior: PriorLike, table: Table) -> Prior:
    """The prior that a user names: "uniform", "marginals", a reasoner, a torch distribution, or a Prior."""
    if prior == "uniform":
        return uniform(table.world)
    if prior == "marginals":
        return marginals(table)
    if isinstance(prior, Reasoner):
        prior = Learned(prior.knowledge, prior.known_prior)
    if isinstance(prior, torch.distributions.Distribution):
        prior = Drawn(table.world, prior)
    if not isinstance(prior, Prior):
        raise NbrError(f"unknown prior {prior!r}; there are uniform, marginals, a reasoner, or a Prior")
    if prior.world != table.world:
        raise NbrError("the prior speaks of another world than the table")
    return prior
