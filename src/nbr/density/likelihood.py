"""How likely a model finds rows, holes included (section 2.5 of the paper).

P(x) = P_0(x) P_keep(x) / sum over x' of P_0(x') P_keep(x'), and a row with holes is the sum over its completions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from nbr import clock
from nbr.density.counted import counted
from nbr.density.keeping import log_keep
from nbr.errors import NbrError
from nbr.language import Constant
from nbr.model import Model
from nbr.parallel import Told, mapped, nobody, pieces, seeded
from nbr.points import NumberedPoints, numbered_points
from nbr.priors import BEYOND
from nbr.tables import Large, RowGroup, Table

DRAWS = 1 << 18  # points of the prior that an estimated normaliser rests on
FILLS = 256  # completions of a row that cannot be listed
ROWS = 1 << 15  # scored at a time
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


@dataclass(frozen=True)
class MeanLikelihood:
    """The mean log-likelihood of many rows, and its standard error where it is not exact."""

    mean: float
    rows: int
    exact: bool
    error: float


def score(model: Model, table: Table, seed: int = 0, jobs: int | None = None) -> Score:
    """Exact where the points of the world can be listed and the prior scored, else estimated with its error.

    A cell that is no value of its variable is scored as 1 in 1,000, and otherwise as a hole, where points are listed;
    elsewhere as the prior has it.
    """
    if not len(table):
        raise NbrError("there are no rows to score")
    scorer = Scorer.of(model, seed)
    chunks = [(seeded(seed, at), table.codes[some]) for at, some in enumerate(pieces(len(table), ROWS))]
    found = list(mapped(partial(_scored, scorer), chunks, jobs))
    variance = scorer.variance + sum(float(part.sum()) for _, part in found) / len(table) ** 2
    return Score(torch.cat([part for part, _ in found]), variance == 0, math.sqrt(variance))


def score_large(
    model: Model, table: Large, seed: int = 0, jobs: int | None = None, told: Told = nobody
) -> MeanLikelihood:
    """The same of a table that does not fit in memory: rows that are alike are scored once."""
    if not table.rows:
        raise NbrError("there are no rows to score")
    counted = table.counted(jobs, told)
    if counted is not None and counted.counts is not None:
        found = score(model, counted, seed, jobs)
        mean = float(found.log_prob @ counted.counts.double()) / table.rows
        return MeanLikelihood(mean, table.rows, found.exact, found.error)
    scorer = Scorer.of(model, seed)
    places = list(enumerate(table.pieces))
    sums = torch.tensor(
        list(mapped(partial(_summed, scorer, table, seed), places, jobs, told)), dtype=torch.float64
    ).sum(dim=0)
    variance = scorer.variance + float(sums[1]) / table.rows**2
    return MeanLikelihood(float(sums[0]) / table.rows, table.rows, variance == 0, math.sqrt(variance))


def _scored(scorer: Scorer, chunk: tuple[int, Tensor]) -> tuple[Tensor, Tensor]:
    return scorer.rows(chunk[1], chunk[0])


def _summed(scorer: Scorer, table: Large, seed: int, chunk: tuple[int, tuple[int, RowGroup]]) -> tuple[float, float]:
    """The sums of the log-likelihoods of a piece, and of their variances."""
    at, place = chunk
    total = spread = 0.0
    for number, batch in enumerate(table.codes(place)):
        for part, rows in enumerate(batch.split(ROWS)):
            found, variance = scorer.rows(rows, seeded(seeded(seed, at + 1), number * len(batch) + part))
            total, spread = total + float(found.sum()), spread + float(variance.sum())
    return total, spread


@dataclass(frozen=True)
class Scorer:
    """All that rows are scored by: the weights of all points, or a normaliser and its variance."""

    model: Model
    weights: Tensor | None
    normaliser: float
    variance: float

    @classmethod
    def of(cls, model: Model, seed: int) -> Scorer:
        listed = numbered_points(model.world)
        weights = None if listed is None else log_weights(model, listed)
        if weights is not None:
            return cls(model, weights, float(weights.logsumexp(0)), 0.0)
        return cls(model, None, *_normaliser(model, torch.Generator().manual_seed(seed)))

    def rows(self, codes: Tensor, seed: int) -> tuple[Tensor, Tensor]:
        """The log-likelihood of each row, and its variance where holes are filled at random, by the delta method."""
        listed = numbered_points(self.model.world) if self.weights is not None else None
        if listed is not None and self.weights is not None:
            beyond = self.model.world.outside(codes).sum(dim=1) * math.log(BEYOND)
            return log_marginal(self.weights, listed, codes) - self.normaliser + beyond, torch.zeros(len(codes))
        observed = self.model.base.log_prob(codes)
        if observed is None:
            raise NbrError("rows cannot be scored: this prior can only be sampled")
        fills = FILLS if bool(codes.isnan().any()) else 1
        filled = self.model.base.complete(codes, fills, torch.Generator().manual_seed(seed))
        keeps = log_keep(self.model, filled.flatten(0, 1)).exp().view(len(codes), fills)
        means = keeps.mean(dim=1).clamp(min=1e-300)
        variance = keeps.var(dim=1) / fills / means**2 if fills > 1 else torch.zeros(len(codes))
        return observed + means.log() - self.normaliser, variance


def log_weights(model: Model, listed: NumberedPoints) -> Tensor | None:
    """log of P_0 P_keep for every point of a finite world; None if the prior cannot be scored."""
    scores = model.base.log_prob(listed.points)
    return None if scores is None else scores + log_keep(model, listed.points)


def log_marginal(weights: Tensor, listed: NumberedPoints, codes: Tensor) -> Tensor:
    """For each row the log of the sum of weights over its completions."""
    distinct, member = torch.unique(codes.nan_to_num(nan=-1.0), dim=0, return_inverse=True)
    distinct = torch.where(distinct < 0, math.nan, distinct)
    row, point = listed.completions(distinct)
    return log_sum_by_row(weights[point], row, len(distinct))[member]


def log_sum_by_row(values: Tensor, row: Tensor, rows: int) -> Tensor:
    """log of the sum of exp(values) within each row; differentiable."""
    with torch.no_grad():
        top = values.new_full((rows,), -math.inf).scatter_reduce(0, row, values, "amax")
        top = top.clamp(min=torch.finfo(values.dtype).min)
    total = values.new_zeros(rows).index_add(0, row, (values - top.index_select(0, row)).exp())
    return total.log() + top


def _normaliser(model: Model, generator: torch.Generator) -> tuple[float, float]:
    """The log of the sum of P_0 P_keep over all points, and the variance of that, 0 where it was counted."""
    sums = counted(model, Constant(True), None, clock.now() + COUNTING)
    if sums is not None and sums[1] > 0:
        return math.log(sums[1]), 0.0
    kept = log_keep(model, model.base.sample(DRAWS, generator)).exp()
    mean = float(kept.mean())
    if mean == 0:
        raise NbrError(
            "none of many points drawn from the prior agrees with the rules: the likelihood cannot be computed"
        )
    return math.log(mean), float(kept.var()) / DRAWS / mean**2
