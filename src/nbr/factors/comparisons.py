"""Comparisons between two numbers without steps: lines that cut the plane, and what share of a cell is on which side.

Each comparison becomes a hidden bit. Given the pieces that both numbers are in, how likely the bits are is an integral
over the one number of how likely the other is on either side of the lines. Between the places where a line meets an
edge it is smooth, so that Gauss-Legendre nodes give it to rounding: exactly where densities are flat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from nbr.factors.values import Values
from nbr.language import Expression
from nbr.language import expressions as ex
from nbr.language.linear import Linear, linears
from nbr.priors import Prior
from nbr.priors.base import HIDDEN, Curve, Factor
from nbr.ways import Unfit
from nbr.world import World

LINES = 5  # comparisons of the same two numbers
NODES = 24  # of an integral between two edges


@dataclass(frozen=True)
class Pair:
    """Two numbers and the comparisons between them, each with the name of its bit."""

    names: tuple[str, str]
    lines: tuple[Linear, ...]
    bits: tuple[str, ...]


def pairs(world: World, statements: Iterable[Expression]) -> list[Pair]:
    """The comparisons that read numbers without a step; each number may be compared with one other."""
    found: dict[tuple[str, str], list[Linear]] = {}
    for line in dict.fromkeys(each for statement in statements for each in linears(statement)):
        names = sorted(name for name in line.names() if _smooth(world, name))
        if not names:
            continue
        if len(names) != 2 or len(line.names()) > 2 or line.counted:
            raise Unfit(f"{line} is more than a comparison of two numbers")
        found.setdefault((names[0], names[1]), []).append(line)
    named = [name for pair in found for name in pair]
    if len(set(named)) < len(named):
        raise Unfit("a number is compared with more than one other")
    if any(len(lines) > LINES for lines in found.values()):
        raise Unfit(f"two numbers are compared in more than {LINES} ways")
    return [Pair(pair, tuple(lines), tuple(f"{HIDDEN}{line}" for line in lines)) for pair, lines in found.items()]


def _smooth(world: World, name: str) -> bool:
    variable = world.variables[name]
    return variable.numeric and not variable.step


def substituted(statement: Expression, bits: Mapping[Linear, str]) -> Expression:
    """The same statement with a bit in the place of each comparison."""

    def change(part: Expression) -> Expression | None:
        return ex.Atom(bits[part]) if isinstance(part, Linear) and part in bits else None

    return ex.rebuilt(statement, change)


def shares(prior: Prior, world: World, pair: Pair, values: Mapping[str, Values]) -> Factor:
    """How likely the bits are, given the pieces that both numbers are in."""
    curves = [prior.curve(name) for name in pair.names]
    one, other = curves
    if one is None or other is None:
        raise Unfit(f"{pair.names[0]!r} and {pair.names[1]!r} are compared, and the prior has no plain curve of each")
    small = World({name: world.variables[name] for name in pair.names})
    ranges = [_ranges(world, name, values[name]) for name in pair.names]
    cuts = torch.tensor([end for piece in ranges[1] for end in piece], dtype=torch.float64)
    breaks = _breaks(pair, torch.cat([other.edges, cuts]))
    table = torch.zeros(len(ranges[0]), len(ranges[1]), 1 << len(pair.lines), dtype=torch.float64)
    for row, (low, high) in enumerate(ranges[0]):
        nodes, weights = _nodes(one, breaks, low, high)
        for column, (start, end) in enumerate(ranges[1]):
            for middle, share in _segments(pair, other, nodes, start, end):
                points = torch.stack([nodes, middle], dim=1)
                truth = torch.stack([line.holds(small, points) for line in pair.lines], dim=1).long()
                number = (truth * (1 << torch.arange(len(pair.lines)).flip(0))).sum(dim=1)
                table[row, column].index_add_(0, number, weights * share)
    table = table / table.sum(dim=2, keepdim=True)
    return (*pair.names, *pair.bits), table.view(*table.shape[:2], *[2] * len(pair.lines))


def _ranges(world: World, name: str, values: Values) -> list[tuple[float, float]]:
    variable = world.variables[name]
    assert variable.numeric
    found = []
    for (piece,) in values.allowed:
        low, high = float(piece[0]), float(piece[1])
        found.append((max(low, variable.low), min(high, variable.high)))
    return found


def _coefficients(pair: Pair, line: Linear) -> tuple[float, float, float]:
    weight = {name: each for each, name in line.weights}
    return weight[pair.names[0]], weight[pair.names[1]], line.number


def _breaks(pair: Pair, edges: Tensor) -> Tensor:
    """Where lines meet edges of the second number, or each other."""
    lines = [_coefficients(pair, line) for line in pair.lines]
    found = [(number - b * edges) / a for a, b, number in lines]
    for (a, b, number), (c, d, another) in combinations(lines, 2):
        if a * d - b * c:
            found.append(torch.tensor([(number * d - b * another) / (a * d - b * c)], dtype=torch.float64))
    return torch.cat(found)


def _nodes(curve: Curve, breaks: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Values between two ends, and weights that add up to 1."""
    if low == high:
        return torch.tensor([low], dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    inner = torch.cat([curve.edges, breaks])
    ends = torch.tensor([low, high], dtype=torch.float64)
    edges = torch.cat([ends, inner[(inner > low) & (inner < high)]]).unique()
    places, weights = (torch.from_numpy(each) for each in np.polynomial.legendre.leggauss(NODES))
    half = edges.diff()[:, None] / 2
    nodes = (edges[:-1, None] + half * (1 + places)).flatten()
    found = (half * weights).flatten() * curve.density(nodes)
    total = found.sum()
    return nodes, found / total if total > 0 else torch.full_like(found, 1 / len(found))


def _segments(pair: Pair, curve: Curve, nodes: Tensor, start: float, end: float) -> Sequence[tuple[Tensor, Tensor]]:
    """Between the lines, at each node: a value of the second number, and how likely it is to be in that segment."""
    if start == end:
        return [(torch.full_like(nodes, start), torch.ones_like(nodes))]
    lines = [_coefficients(pair, line) for line in pair.lines]
    cuts = torch.stack([(number - a * nodes) / b for a, b, number in lines], dim=1).clamp(start, end)
    ends = torch.cat([torch.full_like(nodes, start)[:, None], cuts.sort(dim=1).values], dim=1)
    ends = torch.cat([ends, torch.full_like(nodes, end)[:, None]], dim=1)
    below = curve.below(ends)
    whole = below[:, -1:] - below[:, :1]
    share = torch.where(
        whole > 0, below.diff(dim=1) / torch.where(whole > 0, whole, 1.0), ends.diff(dim=1) / (end - start)
    )
    middle = (ends[:, :-1] + ends[:, 1:]) / 2
    return list(zip(middle.unbind(dim=1), share.unbind(dim=1), strict=True))
