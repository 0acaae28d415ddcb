"""All points of a finite world by number, and the completions of rows with holes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.points.cell_grid import Cells
from nbr.world import Variable, World

MOST_POINTS = 1 << 20
MOST_COMPLETIONS = 1 << 24


@dataclass(frozen=True)
class NumberedPoints:
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
        return (self._positions(codes) * self.strides).sum(dim=1)

    def _positions(self, codes: Tensor) -> Tensor:
        """Where each value stands among those of its variable."""
        kinds = self.world.variables.values()
        low = torch.tensor([kind.low if kind.numeric else 0.0 for kind in kinds], dtype=torch.float64)
        step = torch.tensor([kind.step if kind.numeric else 1.0 for kind in kinds], dtype=torch.float64)
        return ((codes - low) / step).round().long()

    def completions(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """Every way to fill the holes: for each, which row it completes and the number of the point.

        A cell that is no value of its variable is filled as well.
        """
        holes = codes.isnan() | self.world.outside(codes)
        sizes = torch.tensor([len(column) for column in self.grid.centres])
        ways = torch.where(holes, sizes, 1).prod(dim=1)
        if int(ways.sum()) > MOST_COMPLETIONS:
            raise NbrError(f"the rows have {int(ways.sum()):,} completions, more than {MOST_COMPLETIONS:,}")
        row = torch.arange(len(codes)).repeat_interleave(ways)
        rest = torch.arange(len(row)) - (ways.cumsum(0) - ways).repeat_interleave(ways)
        point = (self._positions(codes).masked_fill(holes, 0) * self.strides).sum(dim=1)[row]
        for column, (size, stride) in enumerate(zip(sizes.tolist(), self.strides.tolist(), strict=True)):
            open_here = holes[row, column]
            point += torch.where(open_here, rest % size * stride, 0)
            rest = torch.where(open_here, rest // size, rest)
        return row, point


def numbered_points(world: World, most: int = MOST_POINTS) -> NumberedPoints | None:
    """The numbered points of a world, or None if it has too many, or a real that is no count."""
    sizes = [size for variable in world.variables.values() if (size := _size(variable)) is not None]
    if len(sizes) < len(world) or math.prod(sizes) > most:
        return None
    columns = []
    for variable, size in zip(world.variables.values(), sizes, strict=True):
        places = torch.arange(size, dtype=torch.float64)
        columns.append(variable.low + variable.step * places if variable.numeric else places)
    return NumberedPoints(world, Cells(tuple(columns), tuple(torch.zeros_like(column) for column in columns)))


def _size(variable: Variable) -> int | None:
    """How many values are listed: a real with a step that starts below 0 is not, as -1 stands for what nobody knows."""
    return None if variable.numeric and variable.low < 0 else variable.size
