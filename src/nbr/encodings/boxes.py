"""Boxes of points: for each variable a stretch of its values, which can be halved until a single point is left.

A real is cut at every number that a statement names. What lies between two cuts is open, so that statements do not
change in it; they are asked about the values that stand for its pieces, and smooth rules about its closure. Sums of
variables are columns too, behind those of the variables: halving one leaves the points on either side of a plane.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from nbr.rules import Region
from nbr.world import Variable, World

Piece = tuple[float, float, float]  # a value that stands for it, and its ends


@dataclass(frozen=True)
class Boxes:
    """Pieces from first to last and, within them, numbers from low to high; each (boxes, columns)."""

    first: Tensor
    last: Tensor
    low: Tensor
    high: Tensor

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, which: Tensor | slice) -> Boxes:
        return Boxes(self.first[which], self.last[which], self.low[which], self.high[which])

    def joined(self, other: Boxes) -> Boxes:
        mine, others = vars(self), vars(other)
        return Boxes(*(torch.cat([mine[name], others[name]]) for name in mine))


class Pieces:
    """The pieces of every column in order, and the sums that are columns too: weights (sums, variables)."""

    def __init__(self, world: World, cuts: Mapping[str, set[float]], smooth: set[str], sums: Tensor) -> None:
        self.world, self.sums = world, sums
        each = [_pieces(v, cuts.get(name, set()), name in smooth) for name, v in world.variables.items()]
        ends = torch.tensor([[row[0][1], row[-1][2]] for row in each], dtype=torch.float64)
        for weights in sums:
            low, high = _range(weights, ends)
            each.append([(low, low, high)])
        longest = max(map(len, each))
        filled = torch.tensor([row + row[-1:] * (longest - len(row)) for row in each], dtype=torch.float64)
        self.value, self.start, self.end = filled.unbind(dim=2)
        self.count = torch.tensor([len(row) for row in each])
        steps = [getattr(variable, "step", 0.0) for variable in world.variables.values()]
        self.step = torch.tensor([*steps, *[0.0] * len(sums)], dtype=torch.float64)
        whole = self.whole()
        self.extent = (whole.high - whole.low)[0]

    def whole(self) -> Boxes:
        """The box of all points."""
        first, last = torch.zeros_like(self.count)[None], self.count[None] - 1
        return Boxes(first, last, _at(self.start, first), _at(self.end, last))

    def values(self, boxes: Boxes) -> tuple[Tensor, Tensor]:
        """The least and the most of the values that stand for pieces: what statements are asked about."""
        columns = len(self.world)
        return _at(self.value, boxes.first)[:, :columns], _at(self.value, boxes.last)[:, :columns]

    def region(self, boxes: Boxes) -> Region:
        columns = len(self.world)
        low, high = boxes.low[:, :columns], boxes.high[:, :columns]
        return Region(low, high, self.sums, boxes.low[:, columns:], boxes.high[:, columns:])

    def middle(self, boxes: Boxes) -> Tensor:
        """The points in the middle of boxes, where some variable is a real."""
        reals = any(variable.numeric for variable in self.world.variables.values())
        return self.region(boxes if reals else boxes[:0]).centre

    def open(self, boxes: Boxes) -> Tensor:
        """Along which columns a box can be halved: (boxes, columns); none if a single point is left of it."""
        found = (boxes.first < boxes.last) | (boxes.low < boxes.high)
        return found & found[:, : len(self.world)].any(dim=1, keepdim=True)

    def halves(self, boxes: Boxes, column: Tensor) -> Boxes:
        """Each box cut in two along its column, between two pieces if it has several."""
        at = column[:, None]
        first, last, low, high = (each.gather(1, at) for each in (boxes.first, boxes.last, boxes.low, boxes.high))
        several, middle, step = first < last, (first + last) // 2, self.step[at]
        half = (low + high) / 2
        half = torch.where(step > 0, (half / step.clamp(min=1e-300) + 1e-9).floor() * step, half)
        lower = Boxes(
            boxes.first,
            boxes.last.scatter(1, at, torch.where(several, middle, last)),
            boxes.low,
            boxes.high.scatter(1, at, torch.where(several, self.end[at, middle].minimum(high), half)),
        )
        upper = Boxes(
            boxes.first.scatter(1, at, torch.where(several, middle + 1, first)),
            boxes.last,
            boxes.low.scatter(
                1, at, torch.where(several, self.start[at, middle + several.long()].maximum(low), half + step)
            ),
            boxes.high,
        )
        return self._tightened(lower.joined(upper))

    def _tightened(self, boxes: Boxes) -> Boxes:
        """Sums within what the variables allow, and without the boxes that no point is left of."""
        if not len(self.sums):
            return boxes
        columns = len(self.world)
        middle, reach = (boxes.low + boxes.high)[:, :columns] / 2, (boxes.high - boxes.low)[:, :columns] / 2
        centre, spread = middle @ self.sums.T, reach @ self.sums.abs().T + 1e-9
        low = torch.cat([boxes.low[:, :columns], boxes.low[:, columns:].maximum(centre - spread)], dim=1)
        high = torch.cat([boxes.high[:, :columns], boxes.high[:, columns:].minimum(centre + spread)], dim=1)
        return Boxes(boxes.first, boxes.last, low, high)[(low <= high).all(dim=1)]


def _range(weights: Tensor, ends: Tensor) -> tuple[float, float]:
    reached = weights[:, None] * ends
    return float(reached.amin(dim=1).sum()), float(reached.amax(dim=1).sum())


def _at(table: Tensor, which: Tensor) -> Tensor:
    return table.gather(1, which.T).T


def _pieces(variable: Variable, cuts: set[float], smooth: bool) -> list[Piece]:
    if not variable.numeric:
        return [(float(code), float(code), float(code)) for code in range(len(variable.labels))]
    edges = sorted({variable.low, variable.high, *(cut for cut in cuts if variable.low < cut < variable.high)})
    step = variable.step
    found: list[Piece] = []
    for edge, after in pairwise([*edges, edges[-1]]):
        if not step or abs(edge / step - round(edge / step)) < 1e-9:
            found.append((edge, edge, edge))
        if edge < after:
            ends = (edge, after)
            if step:
                ends = ((math.floor(edge / step + 1e-9) + 1) * step, (math.ceil(after / step - 1e-9) - 1) * step)
            value = ends[0] if step else (edge + after) / 2
            if ends[0] <= ends[1]:
                found.append((value, *(ends if smooth else (value, value))))
    return found
