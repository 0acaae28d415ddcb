"""What a model says of cells, given the rest of their rows.

P(cell = v | rest) is in proportion to P_0 P_keep of the row with v in the cell, other holes summed over; the normaliser
cancels. That is exact for labels where the rules read no hole, or points can be listed; numbers are on a grid. Where
rules read holes, completions of the row are drawn from the prior and weighed by P_keep: for one column anew with each
of its labels, for all columns of a row the same ones, so that filling many holes costs about as much as without rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nbr.density.conditional import ColumnGrid
from nbr.density.keeping import log_keep
from nbr.density.likelihood import log_marginal, log_weights
from nbr.errors import NbrError
from nbr.model import Model
from nbr.points import numbered_points
from nbr.priors import Prior
from nbr.world import World

AT_ONCE = 1 << 15  # rows, with every value in turn
COMPLETED = 1 << 22  # points that complete rows, at a time
FILLS = 64  # completions of a hole that rules read
DRAWS = 512  # of a number
SHARED = 64  # completions of a row, for all of its holes
OVERALL = 1 << 14  # points of the prior, for the share that rules keep
NUMBERS = 1 << 24  # of such completions, at a time
MIDDLE = 0.5
NINE_IN_TEN = (0.05, MIDDLE, 0.95)  # the shares that a number is told by


@dataclass(frozen=True)
class PredictedColumn:
    """One column of some rows: for labels the probability of each, for numbers weighted draws."""

    world: World
    column: str
    chances: Tensor | None  # (rows, labels)
    draws: Tensor | None = None  # (rows, draws), ascending
    weights: Tensor | None = None  # (rows, draws), sum to 1

    @property
    def value(self) -> Tensor:
        """The likeliest label, or the middle number: (rows,)."""
        return self.chances.argmax(dim=1).double() if self.chances is not None else self.quantiles((MIDDLE,))[:, 0]

    @property
    def probability(self) -> Tensor | None:
        """Of the likeliest label; None for numbers."""
        return None if self.chances is None else self.chances.max(dim=1).values

    def quantiles(self, shares: tuple[float, ...] = NINE_IN_TEN) -> Tensor:
        """The numbers below which shares of the draws lie: (rows, shares)."""
        assert self.draws is not None
        assert self.weights is not None
        ends = self.weights.cumsum(dim=1)
        wanted = torch.tensor(shares, dtype=torch.float64).expand(len(ends), -1).contiguous()
        at = torch.searchsorted(ends.contiguous(), wanted).clamp(max=ends.shape[1] - 1)
        return self.draws.gather(1, at)

    def fits(self, codes: Tensor) -> Tensor:
        """How well values fit: the probability of a label; of a number, that of one as far out, on either side."""
        if self.chances is not None:
            known = (codes >= 0) & (codes < self.chances.shape[1])
            found = self.chances.gather(1, torch.where(known, codes, 0.0).long()[:, None])[:, 0]
            return torch.where(known, found, 0.0)
        assert self.draws is not None
        assert self.weights is not None
        below = (self.weights * (self.draws <= codes[:, None])).sum(dim=1)
        above = (self.weights * (self.draws >= codes[:, None])).sum(dim=1)
        return (2 * torch.minimum(below, above)).clamp(max=1.0)


@dataclass(frozen=True)
class CompletedRows:
    """Rows of which all holes were filled by the prior, log P_keep of each completion, and log of its mean overall."""

    points: Tensor  # (rows, completions, columns)
    log_keep: Tensor  # (rows, completions)
    log_share: float

    @classmethod
    def of(cls, model: Model, codes: Tensor, seed: int) -> CompletedRows | None:
        """None where none are needed: rules read no hole, or all points can be listed."""
        reads = [model.world.column(name) for name in sorted(model.reads)]
        rest = _known(model.world, codes)
        if not bool(rest[:, reads].isnan().any()) or numbered_points(model.world) is not None:
            return None
        with torch.no_grad():
            generator = torch.Generator().manual_seed(seed)
            points = model.base.complete(rest, SHARED, generator)
            share = log_keep(model, model.base.sample(OVERALL, generator)).logsumexp(dim=0) - math.log(OVERALL)
            kept = log_keep(model, points.flatten(0, 1)).view(points.shape[:2])
        none = (kept == -torch.inf).all(dim=1, keepdim=True)  # where rules rule out all, the prior is all that is known
        return cls(points, kept.masked_fill(none, 0.0), float(share))

    @classmethod
    def rows_at_once(cls, world: World) -> int:
        """How many rows memory has room for."""
        return max(1, NUMBERS // (SHARED * len(world)))

    def of_rows(self, rows: Tensor) -> CompletedRows:
        return replace(self, points=self.points[rows], log_keep=self.log_keep[rows])

    def log_prob(self, base: Prior, rows: Tensor) -> Tensor | None:
        """The log-likelihood of the rows themselves, by a prior and what rules keep: (rows,)."""
        score = base.log_prob(rows)
        mean = self.log_keep.logsumexp(dim=1) - math.log(self.log_keep.shape[1])
        return None if score is None else score + mean - self.log_share

    def kept(self, at: int, labels: int) -> Tensor:
        """log of the mean P_keep of the completions with each label in a column: (rows, labels).

        The mean of all counts as one more, so that a label that no completion has is as likely as the prior says.
        """
        value, kept = self.points[:, :, at].long(), self.log_keep.exp()
        mean = kept.mean(dim=1, keepdim=True)
        total = mean.expand(-1, labels).clone().scatter_add(1, value, kept)
        count = torch.ones_like(total).scatter_add(1, value, torch.ones_like(kept))
        return (total / count).log()


def predicted_column(
    model: Model, codes: Tensor, column: str, seed: int = 0, completed: CompletedRows | None = None
) -> PredictedColumn:
    """What the model says of a column of rows; what the rows have there themselves is not looked at.

    Completions of rows that lack the column serve where rules read other holes.
    """
    if not len(codes):
        raise NbrError("there are no rows to examine")
    at, rest = model.world.column(column), _known(model.world, codes)
    if completed is not None:
        others = [model.world.column(name) for name in model.reads if model.world.column(name) != at]
        holed = rest[:, others].isnan().any(dim=1)
        if bool(holed.all()):
            return _by_completions(model, rest, column, completed)
        if bool(holed.any()):
            parts = [
                predicted_column(model, codes[~holed], column, seed),
                _by_completions(model, rest[holed], column, completed.of_rows(holed)),
            ]
            return _merged(parts, holed)
    rest[:, at] = torch.nan
    generator = torch.Generator().manual_seed(seed)
    distinct, back = _distinct(rest)
    with torch.no_grad():
        if model.world.variables[column].numeric:
            draws, weights = _numbers(model, distinct, at, generator)
            return PredictedColumn(model.world, column, None, draws[back], weights[back])
        return PredictedColumn(model.world, column, _labels(model, distinct, at, generator)[back])


def _known(world: World, codes: Tensor) -> Tensor:
    """Rows without what no value is, which says nothing."""
    return codes.masked_fill(world.outside(codes), torch.nan)


def _by_completions(model: Model, rows: Tensor, column: str, completed: CompletedRows) -> PredictedColumn:
    """By the prior's share of each label, times what rules keep of completions with it; of a number all completions."""
    world, at = model.world, model.world.column(column)
    if world.variables[column].numeric:
        draws, order = completed.points[:, :, at].sort(dim=1)
        return PredictedColumn(world, column, None, draws, torch.softmax(completed.log_keep, dim=1).gather(1, order))
    alone = _labels(Model(world, prior=model.base), rows, at, torch.Generator())
    return PredictedColumn(world, column, torch.softmax(alone.log() + completed.kept(at, alone.shape[1]), dim=1))


def _merged(parts: list[PredictedColumn], second: Tensor) -> PredictedColumn:
    """Two parts as one: the rows marked are those of the second."""

    def joined(one: Tensor | None, other: Tensor | None) -> Tensor | None:
        if one is None or other is None:
            return None
        found = one.new_zeros(len(second), max(one.shape[1], other.shape[1]))  # beyond: draws without weight
        found[~second, : one.shape[1]], found[second, : other.shape[1]] = one, other
        return found

    one, other = parts
    chances, draws = joined(one.chances, other.chances), joined(one.draws, other.draws)
    return PredictedColumn(one.world, one.column, chances, draws, joined(one.weights, other.weights))


def _distinct(rows: Tensor) -> tuple[Tensor, Tensor]:
    """Rows without those that are the same, and where each went; a NaN is no other than a NaN here."""
    marked = torch.cat([rows.nan_to_num(), rows.isnan().double()], dim=1)
    marked, back = torch.unique(marked, dim=0, return_inverse=True)
    values, holes = marked.chunk(2, dim=1)
    return torch.where(holes > 0, torch.nan, values), back


def _labels(model: Model, rows: Tensor, at: int, generator: torch.Generator) -> Tensor:
    size = list(model.world.variables.values())[at].size
    assert size is not None
    joint = _Joint(model, generator)
    found = []
    for part in rows.split(max(1, AT_ONCE // size)):
        filled = part.repeat_interleave(size, dim=0)
        filled[:, at] = torch.arange(size, dtype=torch.float64).repeat(len(part))
        found.append(torch.softmax(joint(filled).view(len(part), size), dim=1))
    return torch.cat(found)


class _Joint:
    """log of P_0 P_keep of rows with holes, up to what all have in common."""

    def __init__(self, model: Model, generator: torch.Generator) -> None:
        self.model, self.generator = model, generator
        self.reads = [model.world.column(name) for name in sorted(model.reads)]
        self.listed = numbered_points(model.world) if self.reads else None
        self.weights = None
        if self.listed is not None:
            self.weights = log_weights(model, self.listed)

    def __call__(self, rows: Tensor) -> Tensor:
        if self.listed is not None and self.weights is not None:
            sizes = torch.tensor([len(column) for column in self.listed.grid.centres], dtype=torch.float64)
            ways = int(torch.where(rows.isnan(), sizes, 1.0).prod(dim=1).max())
            parts = rows.split(max(1, COMPLETED // ways))
            return torch.cat([log_marginal(self.weights, self.listed, part) for part in parts])
        score = self.model.base.log_prob(rows)
        if score is None:
            raise NbrError("cells cannot be predicted: this prior can only be sampled")
        if not self.reads:
            return score
        filled = rows[:, None]
        if bool(rows.isnan().any()):
            holes = bool(rows[:, self.reads].isnan().any())
            filled = self.model.base.complete(rows, FILLS if holes else 1, self.generator)
        kept = log_keep(self.model, filled.flatten(0, 1)).view(filled.shape[:2])
        return score + kept.logsumexp(dim=1)


def _numbers(model: Model, rows: Tensor, at: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Numbers and their weights: on a grid, or drawn where rules read holes or the prior has no score."""
    reads = [model.world.column(name) for name in model.reads if model.world.column(name) != at]
    clear = ~rows[:, reads].isnan().any(dim=1)
    grid = ColumnGrid.of(model, at) if bool(clear.any()) else None
    if grid is None:
        return _drawn(model, rows, at, generator)
    values = grid.values.expand(len(rows), -1).clone()
    weights = torch.zeros_like(values)
    weights[clear] = grid.weights(model, rows[clear])
    if not bool(clear.all()):
        values[~clear], weights[~clear] = _drawn(model, rows[~clear], at, generator, len(grid.values))
    return values, weights


def _drawn(
    model: Model, rows: Tensor, at: int, generator: torch.Generator, count: int = DRAWS
) -> tuple[Tensor, Tensor]:
    draws, weights = [], []
    for part in rows.split(max(1, AT_ONCE // count)):
        filled = model.base.complete(part, count, generator)
        kept = torch.zeros(filled.shape[:2], dtype=torch.float64)
        if model.reads:
            kept = log_keep(model, filled.flatten(0, 1)).view(filled.shape[:2])
        values, order = filled[:, :, at].sort(dim=1)
        draws.append(values)
        weights.append(torch.softmax(kept, dim=1).gather(1, order))
    return torch.cat(draws), torch.cat(weights)
