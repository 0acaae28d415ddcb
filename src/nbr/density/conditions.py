"""A condition taken apart: what it asks of single variables, inside of which a prior can be drawn, and the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.encodings import true_runs
from nbr.language import Expression, conjunction, conjuncts
from nbr.priors import Allowed
from nbr.world import World


@dataclass(frozen=True)
class Inside:
    """Values that single variables may have, and what else must hold."""

    allowed: dict[str, Allowed]
    rest: Expression | None


def inside(world: World, condition: Expression | None) -> Inside:
    """Take a condition apart."""
    single: dict[str, list[Expression]] = {}
    rest = []
    for part in () if condition is None else conjuncts(condition):
        names = part.names()
        if len(names) == 1:
            single.setdefault(next(iter(names)), []).append(part)
        else:
            rest.append(part)
    found = {name: allowed_values(world, name, parts) for name, parts in single.items()}
    return Inside(found, conjunction(rest))


def allowed_values(world: World, name: str, parts: Sequence[Expression]) -> Allowed:
    """The values of a variable at which statements about it alone all hold."""
    values = spots(world, name, parts)
    points = torch.zeros(len(values), len(world), dtype=torch.float64)
    points[:, world.column(name)] = values
    holds = torch.stack([part.holds(world, points) for part in parts]).all(dim=0)
    return pieces(values, holds) if world.variables[name].numeric else holds


def spots(world: World, name: str, statements: Sequence[Expression]) -> Tensor:
    """The values of a variable, or of a real those that stand for all: its ends, the cuts, and one between each."""
    variable = world.variables[name]
    if not variable.numeric:
        return torch.arange(len(variable.labels), dtype=torch.float64)
    cuts = {cut for part in statements for cut in part.cuts(world).get(name, ())}
    inner = {cut for cut in cuts if variable.low < cut < variable.high}
    edges = torch.tensor(sorted({variable.low, variable.high, *inner}), dtype=torch.float64)
    return torch.cat([edges, (edges[:-1] + edges[1:]) / 2]).sort().values


def pieces(values: Tensor, holds: Tensor) -> list[tuple[float, float]]:
    """Open intervals and points of a real where something holds, told of its `spots`: edges and middles in turn.

    >>> pieces(torch.tensor([0.0, 2.5, 5.0, 7.5, 10.0]), torch.tensor([False, False, True, True, True]))
    [(5.0, inf), (5.0, 5.0)]
    """
    found, points = [], []
    for start, stop in true_runs(holds.tolist()):
        first, last = start | 1, (stop - 2) | 1  # the middles of the run
        ends = {edge: float(values[edge]) for edge in (start, stop - 1) if edge % 2 == 0}
        if first <= last:
            low = -math.inf if start == 0 else float(values[first - 1])
            high = math.inf if stop == len(values) else float(values[last + 1])
            found.append((low, high))
            ends = {edge: value for edge, value in ends.items() if 0 < edge < len(values) - 1}
        points += [(value, value) for value in ends.values()]
    return found + points
