"""The points of a world, listed; where a variable is real, boxes that cover it.

A real is cut at every number that a statement compares it with. Between two cuts no statement changes,
so one point stands for the whole piece; only along reals that a smooth rule reads is a grid laid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.world import Real, World

CHUNK = 1 << 15


@dataclass(frozen=True)
class Cells:
    """The product of the values of every variable; a value has a radius, 0 unless it is a piece of a real."""

    centres: tuple[Tensor, ...]
    radii: tuple[Tensor, ...]

    @property
    def count(self) -> int:
        return math.prod(len(column) for column in self.centres)

    @property
    def boxes(self) -> bool:
        """Whether some cells are more than a point."""
        return any(bool((radius > 0).any()) for radius in self.radii)

    def chunks(self) -> Iterator[tuple[Tensor, Tensor]]:
        """All cells, as points and radii of shape (cells, variables), some thousands at a time."""
        for start in range(0, self.count, CHUNK):
            yield self._at(torch.arange(start, min(start + CHUNK, self.count)))

    def scattered(self, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """Cells at random, without end, for worlds too large to list."""
        while True:
            picks = [torch.randint(len(column), (CHUNK,), generator=generator) for column in self.centres]
            yield self._take(picks)

    def _at(self, index: Tensor) -> tuple[Tensor, Tensor]:
        picks = []
        for column in reversed(self.centres):
            picks.append(index % len(column))
            index = index // len(column)
        return self._take(picks[::-1])

    def _take(self, picks: list[Tensor]) -> tuple[Tensor, Tensor]:
        points = [column[pick] for column, pick in zip(self.centres, picks, strict=True)]
        radii = [column[pick] for column, pick in zip(self.radii, picks, strict=True)]
        return torch.stack(points, dim=1), torch.stack(radii, dim=1)


def cells(world: World, read: Iterable[str], cuts: Mapping[str, set[float]], smooth: Iterable[str], grid: int) -> Cells:
    """The cells of a world in which only some variables are read; the others stay at one value."""
    read, smooth = set(read), set(smooth)
    centres, radii = [], []
    for name, variable in world.variables.items():
        if isinstance(variable, Real):
            pieces = grid if name in smooth else 1
            centre, radius = _pieces(variable, cuts.get(name, set()), pieces)
        else:
            centre = torch.arange(variable.size, dtype=torch.float64)
            radius = torch.zeros_like(centre)
        keep = len(centre) if name in read else 1
        centres.append(centre[:keep])
        radii.append(radius[:keep])
    return Cells(tuple(centres), tuple(radii))


def _pieces(variable: Real, cuts: set[float], pieces: int) -> tuple[Tensor, Tensor]:
    """The cut points themselves, with radius 0, and the open pieces between them."""
    edges = torch.linspace(variable.low, variable.high, pieces + 1, dtype=torch.float64).tolist()
    inside = [cut for cut in cuts if variable.low < cut < variable.high]
    edge = torch.tensor(sorted({*edges, *inside}), dtype=torch.float64)
    radius = edge.diff() / 2
    centre = edge[:-1] + radius
    return torch.cat([edge, centre]), torch.cat([torch.zeros_like(edge), radius])
