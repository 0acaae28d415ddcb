"""What some rules can reach together within boxes, where to look for points that do, and where to halve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.encodings.boxes import Boxes, Pieces
from nbr.encodings.halfspaces import halfspaces
from nbr.encodings.joint import together
from nbr.encodings.leaves import Leaves
from nbr.encodings.subcubes import Subcubes
from nbr.language import Expression, holds_within
from nbr.rules import Region, Rule
from nbr.world import World

BATCH = 1024  # boxes halved at a time; an eighth where networks are bounded
LARGEST = 800.0  # of a logit: its sigmoid is 1
SLACK = 1e-9  # for the rounding of bounds
ALIKE = 0.9  # cosine of sums of which one is enough
PROBES = 2048  # points that the main direction of a rule is found from


@dataclass(frozen=True)
class BoxOutlook:
    """Of each box: the most that the rules reach together, the column to halve (-1: none), a point worth trying."""

    most: Tensor  # (boxes,)
    column: Tensor  # (boxes,)
    corner: Tensor  # (boxes, variables)


class Outlook:
    """Some rules within a set of points, given by statements that all hold, seen over boxes."""

    def __init__(
        self,
        world: World,
        rules: Sequence[Rule],
        tables: Sequence[Subcubes | None],
        statements: Sequence[tuple[Expression, bool]],  # with whether each is to hold
        cuts: dict[str, set[float]],
        directions: Sequence[Tensor],
    ) -> None:
        self.world, self.rules, self.tables, self.statements = world, rules, tables, statements
        demands = [halfspaces(statement, holds, world) for statement, holds in statements]
        self.demands = [each for found in demands for each in found]
        sums = [line for line, _ in self.demands]
        for each in directions:
            if all(abs(float(torch.cosine_similarity(each, other, dim=0))) < ALIKE for other in sums):
                sums.insert(0, each)
        self.leaves = Leaves(world, rules, self.demands)
        smooth = {name for rule in rules for name in rule.smooth}
        weights = torch.stack(sums) if sums else torch.zeros(0, len(world), dtype=torch.float64)
        self.pieces = Pieces(world, cuts, smooth, weights)
        none = torch.zeros(0, len(world), dtype=torch.float64)
        self.batch = BATCH if all(table is not None for table in tables) else BATCH // 8
        self.read = torch.stack([_flags(world.names, rule.inputs) for rule in rules]) if rules else none
        # What is said by sums is not decided variable by variable.
        self.needs = [
            _flags(world.names, () if found else statement.names())
            for (statement, _), found in zip(statements, demands, strict=True)
        ]

    def whole(self) -> Boxes:
        boxes = self.pieces.whole()
        for number, (_, least) in enumerate(self.demands, start=len(self.pieces.count) - len(self.demands)):
            boxes.low[:, number].clamp_(min=least - SLACK)
        return boxes[(boxes.low <= boxes.high).all(dim=1)]

    def see(self, boxes: Boxes) -> BoxOutlook:
        values, region = self.pieces.values(boxes), self.pieces.region(boxes)
        slopes = torch.zeros(len(boxes), len(self.rules), len(self.world), dtype=torch.float64)
        at, unsure = (torch.zeros(len(boxes), len(self.rules), dtype=torch.float64) for _ in range(2))
        for position, (rule, table) in enumerate(zip(self.rules, self.tables, strict=True)):
            found = rule.lines(region) if table is None else None
            if found is not None:
                slopes[:, position], at[:, position] = found
            else:
                ends = (region.low, region.high) if rule.smooth else values
                least, top = rule.bounds(*ends) if table is None else table.bounds(*ends)
                at[:, position] = torch.logit(top).clamp(-LARGEST, LARGEST)
                unsure[:, position] = top - least
        if bool(slopes.any()):
            logits, corner = together(slopes, at, region, self.demands)
        else:
            never = at.new_full((len(boxes), 1), torch.inf)
            logits, corner = torch.cat([never, at], dim=1).amin(dim=1), region.low
        grades = torch.sigmoid(logits + SLACK * (1 + logits.abs()))
        undecided = []
        for statement, holds in self.statements:
            surely, possibly = holds_within(statement, self.world, *values)
            grades = torch.where(possibly if holds else ~surely, grades, 0.0)
            undecided.append(possibly & ~surely)
        return BoxOutlook(grades, self._column(boxes, region, slopes, unsure, undecided), corner)

    def _column(self, boxes: Boxes, region: Region, slopes: Tensor, unsure: Tensor, undecided: list[Tensor]) -> Tensor:
        """Where a box is best halved: what statements need first, then what moves the logits most."""
        shares, rest = region.split(slopes)
        extent = boxes.high - boxes.low
        score = torch.cat([rest, shares], dim=2).abs().sum(dim=1) * extent
        columns = len(self.world)
        share = torch.where(self.pieces.extent > 0, extent / self.pieces.extent.clamp(min=1e-300), 0.0)
        score[:, :columns] += (unsure[:, :, None] * self.read).sum(dim=1) * share[:, :columns]
        for needed, flag in zip(self.needs, undecided, strict=True):
            score[:, :columns] += flag[:, None] * needed * share[:, :columns] * LARGEST
        # A sum that moves no more than one of its variables is no longer worth halving.
        single = (self.pieces.sums.abs() * extent[:, None, :columns]).amax(dim=2)
        score[:, columns:] *= extent[:, columns:] > 2 * single
        score = torch.where(self.pieces.open(boxes), score + 1e-9 * share, -1.0)
        value, column = score.max(dim=1)
        return torch.where(value < 0, -1, column)


def direction(rule: Rule, world: World) -> Tensor | None:
    """The sum of variables along which a rule that has lines grows most: a linear fit of its logit."""
    pieces = Pieces(world, {}, set(rule.smooth), torch.zeros(0, len(world), dtype=torch.float64))
    region = pieces.region(pieces.whole())
    if len(rule.inputs) < 2 or rule.lines(region) is None:
        return None
    chance = torch.rand(PROBES, len(world), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    points = world.snap(region.low + chance * (region.high - region.low))
    logits, spread = torch.logit(rule.grades(points), 1e-12), points - points.mean(dim=0)
    found: Tensor = torch.linalg.lstsq(spread, (logits - logits.mean())[:, None], driver="gelsd").solution[:, 0]
    return found if float(found.abs().max()) > 0 else None


def _flags(names: tuple[str, ...], some: Iterable[str]) -> Tensor:
    chosen = set(some)
    return torch.tensor([name in chosen for name in names], dtype=torch.float64)
