"""How likely a model finds rows, holes included (section 2.5 of the paper).

P(x) = P_0(x) P_keep(x) / sum over x' of P_0(x') P_keep(x'), and a row with holes is the sum over its completions.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.counted import counted
from nbr.density.keeping import log_keep
from nbr.density.stacked import Density
from nbr.errors import NbrError
from nbr.language.expressions import Constant
from nbr.points.numbered import Listing, listing
from nbr.priors import Prior
from nbr.priors.columns import BEYOND
from nbr.rules.knowledge import Knowledge
from nbr.tables import Table

DRAWS = 1 << 18  # points of the prior that an estimated normaliser rests on
FILLS = 256  # completions of a row that cannot be listed
COUNTING = 5.0  # seconds for a normaliser that can be counted


@dataclass(frozen=True)
class Score:
    """The log-likelihood of each row; when not exact, `error` is the standard error of their mean."""

    log_prob: Tensor
    exact: bool
    error: float = 0.0

    @property
    def mean(self) -> float:
        return float(self.log_prob.mean())


def score(knowledge: Knowledge, prior: Prior, table: Table, seed: int = 0) -> Score:
    """Exact where the points of the world can be listed and the prior scored, else estimated with its error.

    A cell that is no value of its variable is scored as 1 in 1,000, and otherwise as a hole, where points are listed;
    elsewhere as the prior has it.
    """
    if not len(table):
        raise NbrError("there are 0 rows to score")
    listed = listing(knowledge.world)
    weights = None if listed is None else log_weights(knowledge, prior, listed)
    if listed is not None and weights is not None:
        beyond = knowledge.world.outside(table.codes).sum(dim=1) * math.log(BEYOND)
        return Score(marginal(weights, listed, table.codes) - weights.logsumexp(0) + beyond, True)
    return _estimated(knowledge, prior, table, torch.Generator().manual_seed(seed))


def log_weights(knowledge: Knowledge, prior: Prior, listed: Listing) -> Tensor | None:
    """log of P_0 P_keep for every point of a finite world; None if the prior cannot be scored."""
    scores = prior.log_prob(listed.points)
    return None if scores is None else scores + log_keep(knowledge, listed.points)


def marginal(weights: Tensor, listed: Listing, codes: Tensor) -> Tensor:
    """For each row the log of the sum of weights over its completions."""
    distinct, member = torch.unique(codes.nan_to_num(nan=-1.0), dim=0, return_inverse=True)
    distinct = torch.where(distinct < 0, math.nan, distinct)
    row, point = listed.completions(distinct)
    return log_sum(weights[point], row, len(distinct))[member]


def log_sum(values: Tensor, row: Tensor, rows: int) -> Tensor:
    """log of the sum of exp(values) within each row; differentiable."""
    with torch.no_grad():
        top = values.new_full((rows,), -math.inf).scatter_reduce(0, row, values, "amax")
        top = top.clamp(min=torch.finfo(values.dtype).min)
    total = values.new_zeros(rows).index_add(0, row, (values - top.index_select(0, row)).exp())
    return total.log() + top


def _estimated(knowledge: Knowledge, prior: Prior, table: Table, generator: torch.Generator) -> Score:
    """The normaliser counted, or as an average over the prior; holes filled at random from it.

    The error is that of the normaliser, which all rows share, and of the fills, by the delta method.
    """
    normaliser, variance = _normaliser(knowledge, prior, generator)
    filled = prior.complete(table.codes, 1 if table.complete else FILLS, generator)
    rows, fills, width = filled.shape
    observed = prior.log_prob(table.codes)
    if observed is None:
        raise NbrError("rows cannot be scored: the prior can only be sampled")
    keeps = log_keep(knowledge, filled.reshape(-1, width)).exp().view(rows, fills)
    means = keeps.mean(dim=1).clamp(min=1e-300)
    if fills > 1:
        variance += float((keeps.var(dim=1) / fills / means**2).mean() / rows)
    return Score(observed + means.log() - normaliser, variance == 0, math.sqrt(variance))


def _normaliser(knowledge: Knowledge, prior: Prior, generator: torch.Generator) -> tuple[float, float]:
    """The log of the sum of P_0 P_keep over all points, and the variance of that, 0 where it was counted."""
    density = Density.of(knowledge, prior)
    sums = counted(density, Constant(True), None, time.monotonic() + COUNTING) if len(density.bodies) == 1 else None
    if sums is not None and sums[1] > 0:
        return math.log(sums[1]), 0.0
    kept = log_keep(knowledge, prior.sample(DRAWS, generator)).exp()
    mean = float(kept.mean())
    if mean == 0:
        raise NbrError("not one of many points drawn from the prior agrees with the rules: there is no likelihood")
    return math.log(mean), float(kept.var()) / DRAWS / mean**2
