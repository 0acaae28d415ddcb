"""Steps of a sum that do not need each other and are of one shape, to be taken at once.

A long chain has hundreds of small tables, and a step costs far more than the numbers in it. Of the steps whose tables
are known, those that multiply tables of the same shapes along the same axes are one step on the stacked tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nbr.factors.order import Order, Scope

SCALED = 8  # tables that are multiplied before numbers are scaled

Axes = tuple[int, ...]


@dataclass(frozen=True)
class Wave:
    """Steps taken at once: the tables on either side, and the axes of these and of the product; axis 0 is the batch."""

    lefts: tuple[int, ...]
    rights: tuple[int, ...]
    results: tuple[int, ...]
    axes: tuple[Axes, Axes, Axes]
    kept: int  # variables of each product
    scaled: bool


@lru_cache(maxsize=64)
def waves(order: Order, batched: tuple[bool, ...]) -> tuple[Wave, ...]:
    """The steps of an order in waves; `batched` says which tables have an axis for the batch.

    >>> from nbr.factors.order import find
    >>> pairs = find([(0, 1), (1,), (2, 3), (3,), (0,), (2,)], [2] * 4)
    >>> [len(wave.results) for wave in waves(pairs, (False,) * 6)]
    [2, 2, 1]
    """
    first = len(order.scopes)
    last = first + len(order.steps) - 1
    fronts, depth, since = list(batched), [0] * first, [1] * first
    found: dict[tuple[int, tuple[Axes, Axes, Axes], Axes, bool], list[int]] = {}
    for number, step in enumerate(order.steps, first):
        pair = step.left, step.right
        fronts.append(any(fronts[side] for side in pair))
        depth.append(1 + max(depth[side] for side in pair))
        since.append(sum(since[side] for side in pair))
        scaled = since[-1] >= SCALED or number == last
        since[-1] = 1 if scaled else since[-1]
        axes = _axes(step.scopes, step.kept, [fronts[side] for side in pair], fronts[-1])
        sizes = tuple(order.sizes[variable] for scope in step.scopes for variable in scope)
        found.setdefault((depth[-1], axes, sizes, scaled), []).append(number)
    each = sorted(found.items(), key=lambda item: item[0][0])  # what others need comes before them
    return tuple(_wave(order, numbers, key[1], key[3]) for key, numbers in each)


def _wave(order: Order, numbers: list[int], axes: tuple[Axes, Axes, Axes], scaled: bool) -> Wave:
    steps = [order.steps[number - len(order.scopes)] for number in numbers]
    lefts, rights = tuple(step.left for step in steps), tuple(step.right for step in steps)
    return Wave(lefts, rights, tuple(numbers), axes, len(steps[0].kept), scaled)


def _axes(scopes: Sequence[Scope], kept: Scope, fronts: Sequence[bool], front: bool) -> tuple[Axes, Axes, Axes]:
    name = {variable: place for place, variable in enumerate(dict.fromkeys((*scopes[0], *scopes[1])), 1)}
    each = zip((*scopes, kept), (*fronts, front), strict=True)
    one, other, both = ((*([0] if ahead else []), *(name[v] for v in scope)) for scope, ahead in each)
    return one, other, both
