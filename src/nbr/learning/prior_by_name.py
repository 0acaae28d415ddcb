"""The prior that a user names."""

from __future__ import annotations

import math
from pathlib import Path

import torch

from nbr.density import Learned
from nbr.errors import NbrError
from nbr.learning.splitting import Split
from nbr.priors import Drawn, KeptMixtures, Prior, auto, marginals, trees, uniform
from nbr.progress import Watcher, silent
from nbr.reasoner import Reasoner
from nbr.tables import Table
from nbr.training import fingerprint, here

PriorLike = str | Reasoner | torch.distributions.Distribution | Prior


def choose(
    prior: PriorLike,
    table: Table,
    rows: Split,
    seed: int,
    watch: Watcher = silent,
    folder: Path | None = None,
    deadline: float = math.inf,
) -> tuple[Prior, str]:
    """The prior that a user names, and words for it.

    It is "auto", "uniform", "marginals", "trees", a reasoner, a torch distribution, or a Prior. What "auto" and "trees"
    learn, they learn from the rows that rules are trained on, so that others can still tell how well the whole does;
    a run that was stopped goes on with what is in the folder.
    """
    if prior in ("auto", "trees"):
        train, valid = rows.train.one_by_one(seed), rows.valid.one_by_one(seed)
        kept = None
        if folder is not None:
            run = fingerprint(world=table.world.spec, seed=seed, train=train.codes, valid=valid.codes)
            kept = KeptMixtures(folder, run, writes=here().first)
        if prior == "auto":
            return auto(train, valid, seed, watch, kept, deadline)
        found = trees(train, valid=valid, seed=seed, watch=watch, kept=kept, deadline=deadline)
        return found, f"prior: {found}, as requested"
    return _named(
        prior, table.one_by_one(seed)
    ), f"prior: {prior if isinstance(prior, str) else type(prior).__name__}, as requested"


def _named(prior: PriorLike, table: Table) -> Prior:
    if prior == "uniform":
        return uniform(table.world)
    if prior == "marginals":
        return marginals(table)
    if isinstance(prior, Reasoner):
        prior = Learned(prior.model)
    if isinstance(prior, torch.distributions.Distribution):
        prior = Drawn(table.world, prior)
    if not isinstance(prior, Prior):
        raise NbrError(f"unknown prior {prior!r}; there are auto, uniform, marginals, trees, a reasoner, or a Prior")
    if prior.world != table.world:
        raise NbrError("the prior has other variables than the table")
    return prior
