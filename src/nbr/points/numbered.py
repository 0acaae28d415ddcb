"""All points of a finite world by number, and the completions of rows with holes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.points.cells import Cells, cells
from nbr.world import Real, World

MOST_POINTS = 1 << 20
MOST_COMPLETIONS = 1 << 24


@dataclass(frozen=True)
class Listing:
    """A finite world whose points are numbered, the last variable counting fastest."""

    world: World
    grid: Cells

    @property
    def count(self) -> int:
        return self.grid.count

    @property
    def points(self) -> Tensor:
        return torch.cat([points for points, _ in self.grid.chunks()])

    @property
    def strides(self) -> Tensor:
        sizes = [len(column) for column in self.grid.centres]
        return torch.tensor([math.prod(sizes[i + 1 :]) for i in range(len(sizes))])

    def number(self, codes: Tensor) -> Tensor:
        """The numbers of complete rows."""
        return (codes.long() * self.strides).sum(dim=1)

    def completions(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Every way to fill the holes: for each, which row it completes and the number of the point."""
        holes = codes.isnan()
        sizes = torch.tensor([len(column) for column in self.grid.centres])
        ways = torch.where(holes, sizes, 1).prod(dim=1)
        if int(ways.sum()) > MOST_COMPLETIONS:
            raise NbrError(f"the rows have {int(ways.sum()):,} completions, more than {MOST_COMPLETIONS:,}")
        row = torch.arange(len(codes)).repeat_interleave(ways)
        rest = torch.arange(len(row)) - (ways.cumsum(0) - ways).repeat_interleave(ways)
        point = self.number(torch.where(holes, 0.0, codes))[row]
        for column, (size, stride) in enumerate(zip(sizes.tolist(), self.strides.tolist(), strict=True)):
            open_here = holes[row, column]
            point += torch.where(open_here, rest % size * stride, 0)
            rest = torch.where(open_here, rest // size, rest)
        return row, point


def listing(world: World, most: int = MOST_POINTS) -> Listing | None:
    """The numbered points of a world, or None if it has a real or too many points."""
    if any(isinstance(variable, Real) for variable in world.variables.values()):
        return None
    grid = cells(world, {}, (), 1)
    return Listing(world, grid) if grid.count <= most else None
