"""Draws of the columns that two sets share, where they cannot be listed, and what the model says given each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr import clock
from nbr.density.draws import Draws, spread
from nbr.density.keeping import log_keep
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.world import World

SHARED = 1 << 11  # values of the shared columns
TRIED = 1 << 15  # points that they are chosen from
VALUES = 64  # combinations of values up to which all are weighed for each
FILLS = 8  # completions of each of these, at the least
DRAWN = 128  # completions of a shared value, at the least
POINTS = 1 << 17  # completions in all, where there are few shared values


@dataclass(frozen=True)
class SharedSample:
    """Points, the number of the shared value that each has, and weights that sum to 1."""

    points: Tensor
    number: Tensor
    weights: Tensor

    @property
    def count(self) -> int:
        return int(self.number.max()) + 1


def sampled(
    model: Model,
    shared: Sequence[str],
    asked: Sequence[str],
    inside: Expression | None,
    deadline: float,
    generator: torch.Generator,
) -> SharedSample:
    """Shared values z drawn from the model inside a part of the condition, each with the values asked about.

    That part must be told by one of the two sets, so that P(part | z) is settled. Draws inside it have z as often as
    P(z | part), and dividing by P(part | z) gives weights in proportion to P(z) again, where it matters.
    """
    draws = Draws.of(model, inside)
    points = draws.points(TRIED, generator)
    weights = draws.log_weights(points)
    if not bool((weights > -torch.inf).any()):
        raise NbrError("what stays open was not found: no draw agrees with the condition and the rules")
    rows, often = _distinct(model.world, shared, points, torch.softmax(weights, 0), generator)
    found = []
    for at, row in enumerate(rows.split(64)):
        if at and clock.now() > deadline:
            break
        found.append(_given(model, row, asked, POINTS // len(rows), generator))
    filled = torch.cat([each for each, _ in found])
    chance = torch.cat([each for _, each in found])
    if inside is not None:
        met = (inside.holds(model.world, filled.flatten(0, 1)).view(chance.shape) * chance).sum(dim=1)
        often = torch.where(met > 0, often[: len(met)] / met, 0.0)
    chance = chance * often[: len(chance), None]
    number = torch.arange(len(filled)).repeat_interleave(filled.shape[1])
    return SharedSample(filled.flatten(0, 1), number, (chance / chance.sum()).flatten())


def _distinct(
    world: World, shared: Sequence[str], points: Tensor, weights: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Rows that have only the shared columns, in no order, and the share of each; if too many, as many are drawn."""
    columns = [world.column(name) for name in shared]
    values, back = points[:1, :0], torch.zeros(len(points), dtype=torch.long)  # where nothing is shared, all are alike
    if columns:
        values, back = torch.unique(points[:, columns], dim=0, return_inverse=True)
    often = torch.zeros(len(values), dtype=torch.float64).index_add(0, back, weights)
    if int((often > 0).sum()) > SHARED:
        spaced = (torch.arange(SHARED) + torch.rand(1, generator=generator, dtype=torch.float64)) / SHARED
        picks = torch.searchsorted(often.cumsum(0), spaced).clamp(max=len(often) - 1)
        often = torch.bincount(picks, minlength=len(often)).double()
    order = torch.randperm(len(values), generator=generator)
    order = order[often[order] > 0]
    rows = torch.full((len(order), len(world)), torch.nan, dtype=torch.float64)
    rows[:, columns] = values[order]
    return rows, often[order] / often.sum()


def _given(
    model: Model, rows: Tensor, asked: Sequence[str], count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Completions of rows, and how likely the model finds each given the row: (rows, ways, variables), (rows, ways)."""
    prior, world = model.base, model.world
    ways = spread(world, list(asked), VALUES)
    if ways is None:
        filled = prior.complete(rows, max(DRAWN, count), generator)
        weights = log_keep(model, filled.flatten(0, 1)).view(filled.shape[:2])
        return filled, torch.softmax(weights, dim=1)
    crossed = torch.where(rows[:, None].isnan(), ways[None], rows[:, None]).flatten(0, 1)
    scores = prior.log_prob(crossed)
    assert scores is not None
    fills = max(FILLS, count // len(ways)) if set(model.reads) - set(asked) - _known(world, rows) else 1
    filled = prior.complete(crossed, fills, generator)
    weights = log_keep(model, filled.flatten(0, 1)).view(len(rows), -1, fills) + scores.view(len(rows), -1, 1)
    return filled.view(len(rows), -1, len(world)), torch.softmax(weights.flatten(1), dim=1)


def _known(world: World, rows: Tensor) -> set[str]:
    return {name for name, seen in zip(world.names, (~rows.isnan()).all(dim=0).tolist(), strict=True) if seen}
