"""The part of a condition that speaks of single variables: what a prior can be drawn within."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import torch

from nbr.language import Expression
from nbr.language.expressions import And
from nbr.priors import Allowed
from nbr.world import Real, World


def allowed(world: World, condition: Expression | None) -> dict[str, Allowed]:
    """For each variable that parts of a condition are about on their own, the values at which they all hold."""
    parts: dict[str, list[Expression]] = {}
    for part in _conjuncts(condition):
        names = part.names()
        if len(names) == 1:
            parts.setdefault(next(iter(names)), []).append(part)
    return {name: _values(world, name, And(tuple(several))) for name, several in parts.items()}


def _values(world: World, name: str, condition: Expression) -> Allowed:
    variable = world.variables[name]
    if not isinstance(variable, Real):
        return _holds(world, name, condition, list(range(variable.size)))
    cuts = sorted(condition.cuts(world).get(name, set()))
    ends = [-math.inf, *cuts, math.inf]
    middles = [cuts[0] - 1, *((low + high) / 2 for low, high in pairwise(cuts)), cuts[-1] + 1] if cuts else [0.0]
    pieces = [*pairwise(ends), *((cut, cut) for cut in cuts)]
    true = _holds(world, name, condition, [*middles, *cuts])
    return [piece for piece, holds in zip(pieces, true.tolist(), strict=True) if holds]


def _holds(world: World, name: str, condition: Expression, values: list[float] | list[int]) -> torch.Tensor:
    points = torch.zeros(len(values), len(world), dtype=torch.float64)
    points[:, world.column(name)] = torch.tensor(values, dtype=torch.float64)
    return condition.holds(world, points)


def _conjuncts(condition: Expression | None) -> Iterator[Expression]:
    if isinstance(condition, And):
        for part in condition.parts:
            yield from _conjuncts(part)
    elif condition is not None:
        yield condition
