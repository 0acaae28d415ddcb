"""The points of a world, listed; where a variable is real, boxes that cover it.

A real is cut at every number that a statement compares it with. Between two cuts no statement changes,
so one point stands for the whole piece; only along reals that a smooth rule reads is a grid laid. A real with a step
has only its multiples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor

from nbr.world import Variable, World

EACH = 64  # values of a real with a step that are listed one by one where a smooth rule reads it
CHUNK = 1 << 20  # numbers held at a time
FLOATS = 10**300
BESIDE = 1e-9  # of the range of a real


@dataclass(frozen=True)
class Cells:
    """The product of the values of every variable; a value has a radius, 0 unless it is a piece of a real."""

    centres: tuple[Tensor, ...]
    radii: tuple[Tensor, ...]
    tied: tuple[tuple[tuple[int, ...], Tensor], ...] = ()  # columns whose values go together, and rows of such values

    @property
    def count(self) -> int:
        return math.prod(len(column) for column in self.centres)

    @property
    def said(self) -> str:
        """The count in few digits, also where it is beyond all floats."""
        return f"{Decimal(self.count):.3g}" if self.count > FLOATS else f"{self.count:.3g}"

    @cached_property
    def boxes(self) -> bool:
        """Whether some cells are more than a point."""
        return bool(torch.cat(self.radii).any())

    def chunks(self, width: int = 16) -> Iterator[tuple[Tensor, Tensor]]:
        """All cells, in order, as points and radii of shape (cells, variables).

        There are some thousands at a time, fewer if `width` numbers are to be kept of each.
        """
        size = _size(width)
        for start in range(0, self.count, size):
            yield self._at(torch.arange(start, min(start + size, self.count)))

    def mixed(self, width: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All cells, each once, in an order that visits every region early: a break leaves no variable out."""
        size, stride = _size(width), _coprime(self.count)
        for start in range(0, self.count, size):
            yield self._at(torch.arange(start, min(start + size, self.count)) * stride % self.count)

    def scattered(self, width: int, generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
        """Cells at random, without end, for worlds too large to list."""
        size = _size(width)
        while True:
            picks = [torch.randint(len(column), (size,), generator=generator) for column in self.centres]
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
        found = torch.stack(points, dim=1)
        for columns, rows in self.tied:  # the first of them has the number of the row
            found[:, columns] = rows[picks[columns[0]]]
        return found, torch.stack(radii, dim=1)

    def with_tied(self, columns: tuple[int, ...], rows: Tensor) -> Cells:
        """The same, but some columns together take the rows given, and nothing else."""
        centres, radii = list(self.centres), list(self.radii)
        for column in columns:
            centres[column] = torch.arange(len(rows) if column == columns[0] else 1, dtype=torch.float64)
            radii[column] = torch.zeros_like(centres[column])
        return Cells(tuple(centres), tuple(radii), (*self.tied, (columns, rows)))


def _size(width: int) -> int:
    return max(256, min(1 << 15, CHUNK // max(1, width)))


def _coprime(count: int) -> int:
    """A stride near the golden section of the count that reaches every number."""
    stride = max(1, round(count * 0.618))
    while math.gcd(stride, count) > 1:
        stride += 1
    return stride


def world_cells(world: World, cuts: Mapping[str, set[float]], smooth: Iterable[str], grid: int) -> Cells:
    """All cells of a world: reals cut at the numbers given, and `grid` pieces along those that are smooth."""
    smooth = set(smooth)
    centres, radii = [], []
    for name, variable in world.variables.items():
        if variable.numeric:
            cut = _steps if variable.step else _pieces
            centre, radius = cut(variable, cuts.get(name, set()), grid if name in smooth else 1)
        else:
            centre = torch.arange(len(variable.labels), dtype=torch.float64)
            radius = torch.zeros_like(centre)
        centres.append(centre)
        radii.append(radius)
    return Cells(tuple(centres), tuple(radii))


def _pieces(variable: Variable, cuts: set[float], pieces: int) -> tuple[Tensor, Tensor]:
    """The cut points themselves, with radius 0, and the open pieces between them.

    Where the pieces matter, points just beside each cut join them: a smooth rule is often best there.
    """
    edges = torch.linspace(variable.low, variable.high, pieces + 1, dtype=torch.float64).tolist()
    inside = [cut for cut in cuts if variable.low < cut < variable.high]
    edge = torch.tensor(sorted({*edges, *inside}), dtype=torch.float64)
    radius = edge.diff() / 2
    centre = edge[:-1] + radius
    beside = torch.tensor(inside if pieces > 1 else [], dtype=torch.float64)
    step = BESIDE * (variable.high - variable.low)
    points = torch.cat([edge, beside - step, beside + step]).clamp(variable.low, variable.high)
    return torch.cat([points, centre]), torch.cat([torch.zeros_like(points), radius])


def _steps(variable: Variable, cuts: set[float], pieces: int) -> tuple[Tensor, Tensor]:
    """The same for a real with a step: the cuts that are values, and of each open piece a value in its middle.

    The radius reaches the other values of the piece; a piece without values is none.
    """
    assert variable.size is not None
    if pieces > 1 and variable.size <= max(EACH, pieces):
        values = variable.low + variable.step * torch.arange(variable.size, dtype=torch.float64)
        return values, torch.zeros_like(values)
    step = variable.step
    edges = torch.linspace(variable.low, variable.high, pieces + 1, dtype=torch.float64).tolist()
    edges = sorted({*edges, *(cut for cut in cuts if variable.low < cut < variable.high)})
    found = [(edge, 0.0) for edge in edges if abs(edge / step - round(edge / step)) < 1e-9]
    for low, high in pairwise(edges):
        first, last = math.floor(low / step + 1e-9) + 1, math.ceil(high / step - 1e-9) - 1
        if first <= last:
            middle = (first + last) // 2
            found.append((middle * step, max(middle - first, last - middle) * step))
    centre, radius = torch.tensor(found, dtype=torch.float64).T
    return centre, radius
