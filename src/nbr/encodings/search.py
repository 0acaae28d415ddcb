"""Halving boxes for one set of rules, and the points that were found on the way."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr import clock
from nbr.encodings.boxes import Boxes
from nbr.encodings.outlook import Outlook
from nbr.language import Expression
from nbr.rules import Rule
from nbr.world import World

CLIMBS = 50  # steps of looking around all best points at once
PAIRS = 256  # of bits that are turned together, around the best point


class BestTried:
    """The best point so far for each side of a question and each world, and what it reaches: bounds from below."""

    def __init__(self, world: World, rules: list[Rule], proposition: Expression, condition: Expression | None) -> None:
        self.world, self.rules, self.proposition, self.condition = world, rules, proposition, condition
        self.low = torch.zeros(2, 1 << len(rules), dtype=torch.float64)
        self.best = torch.zeros(2, 1 << len(rules), len(world), dtype=torch.float64)
        self.count = 0

    def grades(self, points: Tensor) -> Tensor:
        columns = [rule.grades(points) for rule in self.rules]
        return torch.stack(columns, dim=1) if columns else points.new_zeros(len(points), 0)

    def take(self, points: Tensor) -> None:
        """Try points; those that do not meet the condition are left out."""
        points = self.world.snap(points)
        if self.condition is not None:
            points = points[self.condition.holds(self.world, points)]
        if not len(points):
            return
        self.count += len(points)
        reached = points.new_ones(len(points), 1)  # (points, worlds): the smallest grade among the rules of each
        for grade in self.grades(points).unbind(dim=1):
            reached = torch.cat([reached, reached.minimum(grade[:, None])], dim=1)
        holds = self.proposition.holds(self.world, points)
        for side, inside in enumerate((holds, ~holds)):
            value, which = torch.where(inside[:, None], reached, 0.0).max(dim=0)
            better = value > self.low[side]
            self.low[side] = torch.where(better, value, self.low[side])
            self.best[side] = torch.where(better[:, None], points[which], self.best[side])

    def climb(self, generator: torch.Generator, deadline: float) -> None:
        """Look around the best points of all worlds for better ones, until there are none or time is up."""
        for _ in range(CLIMBS):
            before = self.low.clone()
            found = torch.unique(self.best[self.low > 0], dim=0)
            for point in found:
                if clock.now() > deadline:
                    return
                self.take(near(point, self.world, generator))
            if torch.equal(before, self.low):
                return


class BoxSearch:
    """The open boxes of one world on one side of a question."""

    def __init__(self, outlook: Outlook, tried: BestTried, side: int, world: int, generator: torch.Generator) -> None:
        self.outlook, self.tried, self.side, self.world, self.generator = outlook, tried, side, world, generator
        self.boxes = outlook.whole()
        self.most, self.column = self._look(self.boxes)
        self.settled, self.rounds = 0.0, 0

    @property
    def low(self) -> float:
        return float(self.tried.low[self.side, self.world])

    @property
    def high(self) -> float:
        return max(self.settled, float(self.most.max()) if len(self.most) else 0.0)

    @property
    def held(self) -> int:
        """Numbers in memory."""
        return 4 * self.boxes.low.numel()

    def step(self, enough: float, deadline: float) -> int:
        """Halve the boxes that could reach most; how many were looked at. What gains no more than enough is left."""
        self.rounds += 1
        looked = 0
        while looked < self.outlook.batch and clock.now() < deadline:
            going = self.most > self.low + enough
            left = self.most[~going]
            self.settled = max(self.settled, float(left.max()) if len(left) else 0.0)
            self.boxes, self.most, self.column = self.boxes[going], self.most[going], self.column[going]
            if not len(self.boxes):
                break
            chosen = self.most.topk(min(self.outlook.batch, len(self.most))).indices
            rest = torch.ones(len(self.boxes), dtype=torch.bool)
            rest[chosen] = False
            chosen = self._gone_through(chosen, deadline)
            halves = self.outlook.pieces.halves(self.boxes[chosen], self.column[chosen])
            most, column = self._look(halves)
            looked += len(halves)
            self.boxes = self.boxes[rest].joined(halves)
            self.most, self.column = torch.cat([self.most[rest], most]), torch.cat([self.column[rest], column])
        return looked

    def _gone_through(self, chosen: Tensor, deadline: float) -> Tensor:
        """Go through the points of the boxes that have few; the other boxes."""
        region = self.outlook.pieces.region(self.boxes[chosen])
        fit = self.outlook.leaves.fit(region.low, region.high)
        for box in fit.nonzero()[:, 0]:
            if clock.now() > deadline:
                fit[box] = False
            else:
                self.tried.take(self.outlook.leaves.points(region.low[box], region.high[box], self.low))
        return chosen[~fit]

    def _look(self, boxes: Boxes) -> tuple[Tensor, Tensor]:
        """What boxes can reach, and where to halve them; their corners are tried, and what is near the best point."""
        seen, before = self.outlook.see(boxes), self.low
        self.tried.take(torch.cat([seen.corner, self.outlook.pieces.middle(boxes)]))
        while self.low > before:
            before = self.low
            self.tried.take(near(self.tried.best[self.side, self.world], self.tried.world, self.generator))
        # Of a single point nothing is left to find: it was tried.
        return torch.where(seen.column < 0, 0.0, seen.most), seen.column


def near(point: Tensor, world: World, generator: torch.Generator) -> Tensor:
    """Points that differ from one in a single bit or label, or in two bits."""
    sizes = [len(variable.labels) for variable in world.variables.values()]
    column = torch.tensor([number for number, size in enumerate(sizes) for _ in range(size)], dtype=torch.long)
    code = torch.tensor([float(value) for size in sizes for value in range(size)], dtype=point.dtype)
    points = point.repeat(len(column), 1)
    points[torch.arange(len(column)), column] = code
    bits = torch.tensor([number for number, size in enumerate(sizes) if size == 2], dtype=torch.long)
    if len(bits) < 2:
        return points
    pairs, rows = point.repeat(PAIRS, 1), torch.arange(PAIRS)
    for picked in torch.randint(len(bits), (2, PAIRS), generator=generator):
        pairs[rows, bits[picked]] = 1 - pairs[rows, bits[picked]]
    return torch.cat([points, pairs])
