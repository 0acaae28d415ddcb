"""Comparisons between numbers without steps: lines that cut the plane of two, and what share is on which side.

Each comparison becomes a hidden bit. Numbers that are compared with each other hang together in trees. Given the pieces
that they are all in, how likely the bits are is an integral over the one that the tree hangs from: what stands below
it is a function of it that is smooth between the places where a line meets an edge, so that Gauss-Legendre nodes give
the integral to rounding. At each node what hangs below is an integral of the same kind; at the ends of the tree, the
share of the number that is between the lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from nbr.factors.value_codes import ValueCodes
from nbr.language import Expression, Linear, linears
from nbr.language import expressions as ex
from nbr.priors import HIDDEN, Curve, Factor, Prior
from nbr.ways import Unfit
from nbr.world import World

LINES = 5  # comparisons of the same two numbers
NODES = 24  # of an integral between two edges
ENTRIES = 1 << 20  # of the table of numbers that hang together
STEPS = 1 << 26  # entries that are added up for it
AT_ONCE = 1 << 20  # of these

Pair = tuple[str, str]


@dataclass(frozen=True)
class Tied:
    """Numbers that comparisons of two tie together, and these comparisons, each with the name of its bit."""

    lines: Mapping[Pair, tuple[Linear, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({name for pair in self.lines for name in pair}))

    @cached_property
    def bits(self) -> dict[Linear, str]:
        return {line: f"{HIDDEN}{line}" for lines in self.lines.values() for line in lines}

    def beside(self, name: str) -> list[str]:
        """The numbers that one is compared with."""
        return [other for pair in self.lines if name in pair for other in pair if other != name]

    def between(self, one: str, other: str) -> tuple[Linear, ...]:
        return self.lines[min(one, other), max(one, other)]


def tied(world: World, statements: Iterable[Expression]) -> list[Tied]:
    """The comparisons that read numbers without a step, by what hangs together; each is of two numbers."""
    found: dict[Pair, list[Linear]] = {}
    for line in dict.fromkeys(each for statement in statements for each in linears(statement)):
        names = sorted(name for name in line.names() if _smooth(world, name))
        if not names:
            continue
        if len(names) != 2 or len(line.names()) > 2 or line.counted:
            raise Unfit(f"{line} is more than a comparison of two numbers")
        found.setdefault((names[0], names[1]), []).append(line)
    if any(len(lines) > LINES for lines in found.values()):
        raise Unfit(f"two numbers are compared in more than {LINES} ways")
    groups: list[set[str]] = []
    for pair in found:
        joined = [group for group in groups if group & {*pair}]
        groups = [group for group in groups if not group & {*pair}] + [{*pair}.union(*joined)]
    parts = [{pair: tuple(lines) for pair, lines in found.items() if pair[0] in group} for group in groups]
    if any(len(part) >= len(group) for part, group in zip(parts, groups, strict=True)):
        raise Unfit("numbers are compared in a circle")
    return [Tied(part) for part in parts]


def _smooth(world: World, name: str) -> bool:
    variable = world.variables[name]
    return variable.numeric and not variable.step


def substituted(statement: Expression, bits: Mapping[Linear, str]) -> Expression:
    """The same statement with a bit in the place of each comparison."""

    def change(part: Expression) -> Expression | None:
        return ex.Atom(bits[part]) if isinstance(part, Linear) and part in bits else None

    return ex.rebuilt(statement, change)


def shares(prior: Prior, world: World, tied: Tied, values: Mapping[str, ValueCodes]) -> Factor:
    """How likely the bits are, given the pieces that all numbers are in."""
    curves = {}
    for name in tied.names:
        curve = prior.curve(name)
        if curve is None:
            raise Unfit(f"{' and '.join(map(repr, tied.names))} are compared, and the prior has no plain curve of each")
        curves[name] = curve
    ranges = {name: _ranges(world, name, values[name]) for name in tied.names}
    top = min((_Number(world, tied, name, None, curves, ranges) for name in tied.names), key=lambda each: each.steps)
    if math.prod(map(len, ranges.values())) << len(tied.bits) > ENTRIES or top.steps > STEPS:
        raise Unfit("too many numbers are compared with each other")
    table = top.shares(torch.zeros(1, dtype=torch.float64))[0]
    table = table.view([len(ranges[name]) if name in ranges else 2 for name in top.scope])
    bits = [top.scope.index(bit) for bit in tied.bits.values()]
    return top.scope, table / table.sum(dim=bits, keepdim=True)


class _Number:
    """A number in a tree of those compared, below another one or on top."""

    def __init__(
        self,
        world: World,
        tied: Tied,
        name: str,
        above: str | None,
        curves: Mapping[str, Curve],
        ranges: Mapping[str, list[tuple[float, float]]],
    ) -> None:
        self.curve, self.ranges = curves[name], ranges[name]
        others = [other for other in tied.beside(name) if other != above]
        self.below = [_Number(world, tied, other, name, curves, ranges) for other in others]
        self.lines = () if above is None else tied.between(name, above)
        self.plane = World({each: world.variables[each] for each in (above, name) if each is not None})
        self.slopes = [_coefficients(line, name) for line in self.lines]
        own = [tied.bits[line] for line in self.lines]
        self.scope: tuple[str, ...] = (name, *own, *(each for part in self.below for each in part.scope))
        self.inner: int = math.prod([part.entries for part in self.below])
        self.entries: int = self.inner * len(self.ranges) << len(own)
        ends = torch.tensor([end for piece in self.ranges for end in piece], dtype=torch.float64)
        self.edges = torch.cat([self.curve.edges, ends, *(part.breaks() for part in self.below)]).unique()

    @property
    def steps(self) -> int:
        """Entries that are added up, at the most, for one value of the number above."""
        nodes = (len(self.edges) + len(self.lines)) * (NODES if self.below else 1)
        return nodes * max([self.inner << len(self.lines), *(part.steps for part in self.below)])

    def breaks(self) -> Tensor:
        """Where, along the number above, a line meets an edge of this one, or another line."""
        found = [(number - own * self.edges) / other for other, own, number in self.slopes]
        for (a, b, number), (c, d, another) in combinations(self.slopes, 2):
            if a * d - b * c:
                found.append(torch.tensor([(number * d - b * another) / (a * d - b * c)], dtype=torch.float64))
        return torch.cat(found)

    def shares(self, above: Tensor) -> Tensor:
        """How likely the bits are for values of the number above and pieces of this one and those below it.

        Shape (values, entries), in the order of the scope.
        """
        size = max(1, AT_ONCE // max(1, self.steps))
        return torch.cat([self._shares(some) for some in above.split(size)])

    def _shares(self, above: Tensor) -> Tensor:
        found = []
        for low, high in self.ranges:
            ends = self._ends(above, low, high)
            places, weights = self._nodes(ends) if self.below else self._segments(ends)
            middle = (ends[:, 1:] + ends[:, :-1]) / 2
            one = weights[..., None]
            other = torch.ones_like(one)
            for part in self.below:
                one = (one[..., :, None] * other[..., None, :]).flatten(-2)
                other = part.shares(places.flatten()).view(*places.shape, -1)
            summed = torch.einsum("tsni,tsnj->tsij", one, other).flatten(2)
            found.append(torch.einsum("tsb,tsi->tbi", self._sides(above, middle), summed))
        return torch.stack(found, dim=1).flatten(1)

    def _ends(self, above: Tensor, low: float, high: float) -> Tensor:
        """Between which ends all is smooth, for each value of the number above: (values, segments + 1)."""
        inner = self.edges[(self.edges > low) & (self.edges < high)] if self.below else self.edges[:0]
        fixed = torch.cat([above.new_tensor([low]), inner, above.new_tensor([high])]).expand(len(above), -1)
        cuts = [((number - other * above) / own).clamp(low, high) for other, own, number in self.slopes]
        return torch.cat([fixed, *(cut[:, None] for cut in cuts)], dim=1).sort(dim=1).values

    def _sides(self, above: Tensor, middle: Tensor) -> Tensor:
        """On which side of each line the middles of segments are: (values, segments, bits), 1 for what holds."""
        if not self.lines:
            return middle.new_ones(*middle.shape, 1)
        points = torch.stack([above[:, None].expand_as(middle), middle], dim=-1).view(-1, 2)
        truth = torch.stack([line.holds(self.plane, points) for line in self.lines], dim=1).long()
        number = (truth << torch.arange(len(self.lines)).flip(0)).sum(dim=1)
        return torch.nn.functional.one_hot(number, 1 << len(self.lines)).view(*middle.shape, -1).to(middle.dtype)

    def _nodes(self, ends: Tensor) -> tuple[Tensor, Tensor]:
        """Values in each segment, (values, segments, nodes), and how likely they are; all of one value add up to 1."""
        places, weights = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(NODES))
        half = ends.diff(dim=1)[..., None] / 2
        nodes = ends[:, :-1, None] + half * (1 + places)
        return nodes, _to_one(half * weights * self.curve.density(nodes.flatten()).view_as(nodes), half * weights)

    def _segments(self, ends: Tensor) -> tuple[Tensor, Tensor]:
        """The same for a number at an end of the tree: each segment as one value."""
        share = self.curve.below(ends.flatten()).view_as(ends).diff(dim=1)
        return ((ends[:, 1:] + ends[:, :-1]) / 2)[..., None], _to_one(share, ends.diff(dim=1))[..., None]


def _to_one(weights: Tensor, width: Tensor) -> Tensor:
    """Weights over their sum, for each row; by width where nothing is likely, all alike where there is no width."""
    for instead in (width, torch.ones_like(width)):
        total = weights.flatten(1).sum(dim=1).view(-1, *[1] * (weights.dim() - 1))
        weights = torch.where(total > 0, weights, instead.expand_as(weights))
    return weights / weights.flatten(1).sum(dim=1).view_as(total)


def _ranges(world: World, name: str, values: ValueCodes) -> list[tuple[float, float]]:
    variable = world.variables[name]
    assert variable.numeric
    found = []
    for (piece,) in values.allowed:
        low, high = float(piece[0]), float(piece[1])
        found.append((max(low, variable.low), min(high, variable.high)))
    return found


def _coefficients(line: Linear, name: str) -> tuple[float, float, float]:
    """Of the other number, of this one, and what both add up to on the line."""
    ((other,), (own,)) = ([each for each, of in line.weights if (of == name) is mine] for mine in (False, True))
    return other, own, line.number
