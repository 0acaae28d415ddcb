"""Draws of the columns that two sets share, where they cannot be listed, and what the model says given each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.draws import Draws, spread
from nbr.density.stacked import Density
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.language.expressions import conjunction, conjuncts
from nbr.world import World

SHARED = 1 << 10  # values of the shared columns
TRIED = 1 << 15  # points that they are chosen from
VALUES = 64  # combinations of values up to which all are weighed for each
FILLS = 16  # completions of each of these
DRAWN = 256  # completions, where there are more


@dataclass(frozen=True)
class Sampled:
    """Points, the number of the shared value that each has, and weights that sum to 1."""

    points: Tensor
    number: Tensor
    weights: Tensor

    @property
    def count(self) -> int:
        return int(self.number.max()) + 1


def sampled(
    density: Density,
    shared: Sequence[str],
    asked: Sequence[str],
    condition: Expression | None,
    deadline: float,
    generator: torch.Generator,
) -> Sampled:
    """Shared values drawn from the model, inside what a condition says of them alone, each with the values asked about.

    A condition on shared columns holds on both sides or on none, and leaves a ratio as it is.
    """
    parts = [] if condition is None else [part for part in conjuncts(condition) if part.names() <= set(shared)]
    draws = Draws.of(density, conjunction(parts))
    points = draws.points(TRIED, generator)
    weights = draws.log_weights(points)
    if not bool((weights > -torch.inf).any()):
        raise NbrError("what stays open was not found: no draw agrees with the rules")
    picks = torch.multinomial(torch.softmax(weights, 0), SHARED, replacement=True, generator=generator)
    world = density.world
    columns = [world.column(name) for name in shared]
    rows = torch.full((SHARED, len(world)), torch.nan, dtype=torch.float64)
    rows[:, columns] = points[picks][:, columns]
    rows, back = torch.unique(rows.nan_to_num(nan=torch.inf), dim=0, return_inverse=True)
    rows = torch.where(rows == torch.inf, torch.nan, rows)
    often = torch.bincount(back).double() / SHARED
    found = []
    for at, row in enumerate(rows.split(64)):
        if at and time.monotonic() > deadline:
            break
        found.append(_given(density, row, asked, generator))
    filled = torch.cat([each for each, _ in found])
    chance = torch.cat([each for _, each in found]) * often[: len(filled), None]
    number = torch.arange(len(filled)).repeat_interleave(filled.shape[1])
    return Sampled(filled.flatten(0, 1), number, (chance / chance.sum()).flatten())


def _given(density: Density, rows: Tensor, asked: Sequence[str], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Completions of rows, and how likely the model finds each given the row: (rows, ways, variables), (rows, ways)."""
    prior, world = density.prior, density.world
    ways = spread(world, list(asked), VALUES)
    if ways is None:
        filled = prior.complete(rows, DRAWN, generator)
        weights = density.log_keep(filled.flatten(0, 1)).view(filled.shape[:2])
        return filled, torch.softmax(weights, dim=1)
    crossed = torch.where(rows[:, None].isnan(), ways[None], rows[:, None]).flatten(0, 1)
    scores = prior.log_prob(crossed)
    assert scores is not None
    fills = FILLS if set(density.reads) - set(asked) - _known(world, rows) else 1
    filled = prior.complete(crossed, fills, generator)
    weights = density.log_keep(filled.flatten(0, 1)).view(len(rows), -1, fills) + scores.view(len(rows), -1, 1)
    return filled.view(len(rows), -1, len(world)), torch.softmax(weights.flatten(1), dim=1)


def _known(world: World, rows: Tensor) -> set[str]:
    return {name for name, seen in zip(world.names, (~rows.isnan()).all(dim=0).tolist(), strict=True) if seen}
