"""The k largest products of tables, one after the other.

The combinations of values are kept in parts, each with its best point and with how good another point in it can be,
which the largest product for each value of each variable tells. The part with the best of these is split in two, by
the value that it has there: one has a new best point, the other keeps the old one. So each further point takes two
passes along the order (Yanover and Weiss, "Finding the M most probable configurations", 2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

import torch
from torch import Tensor

from nbr import clock
from nbr.factors.contraction import aligned, decoded, log_values
from nbr.factors.order import Order

Point = dict[int, int]


@dataclass(frozen=True)
class Part:
    """What is left of the values of each variable, the best point there, and the best of the others."""

    left: tuple[Tensor, ...]
    value: float
    point: Point
    rest: float  # the log of the product at the best other point
    place: int  # of a table, and the value there, at which that point differs
    number: int


def several(order: Order, logs: Sequence[Tensor], places: Sequence[int], wanted: int) -> list[tuple[float, Point]]:
    """The logs of the largest products, largest first, and the points; fewer where all others are 0.

    `places` are tables of one variable each; points differ in one of these variables.
    """

    def part(left: tuple[Tensor, ...]) -> Part:
        clock.check()
        tables = list(logs)
        for place, each in zip(places, left, strict=True):
            tables[place] = each
        values = log_values(order, tables, torch.amax)
        point = decoded(order, values)
        rest, at, number = -math.inf, 0, 0
        for where, most in enumerate(_each_value(order, values, places)):
            most[point[order.scopes[places[where]][0]]] = -math.inf
            best = int(most.argmax())
            if float(most[best]) > rest:
                rest, at, number = float(most[best]), where, best
        return Part(left, float(values[-1]), point, rest, at, number)

    first, ties = part(tuple(logs[place] for place in places)), count()
    if first.value == -math.inf:
        return []
    found, heap = [(first.value, first.point)], [(-first.rest, next(ties), first)]
    while len(found) < wanted:
        less, _, whole = heappop(heap)
        if less == math.inf:
            break
        here = torch.arange(len(whole.left[whole.place])) == whole.number
        for inside in (here, ~here):
            narrowed = torch.where(inside, whole.left[whole.place], -math.inf)
            new = part((*whole.left[: whole.place], narrowed, *whole.left[whole.place + 1 :]))
            heappush(heap, (-new.rest, next(ties), new))
            if inside is here:
                found.append((new.value, new.point))
    return found


def _each_value(order: Order, values: Sequence[Tensor], places: Sequence[int]) -> list[Tensor]:
    """The log of the largest product for each value of the variable of some tables, backwards along the order."""
    first = len(order.scopes)
    down = {first + len(order.steps) - 1: torch.zeros((), dtype=torch.float64)}
    for number, step in reversed(list(enumerate(order.steps, first))):
        above, pair = down.pop(number), (step.left, step.right)
        for side, other in ((0, 1), (1, 0)):
            known = {*step.kept, *step.scopes[other]}
            scope = step.scopes[side]
            summed = tuple(variable for variable in known if variable not in scope)
            axes = (*scope, *summed)
            joined = aligned(above, step.kept, axes) + aligned(values[pair[other]], step.scopes[other], axes)
            down[pair[side]] = joined.amax(dim=tuple(range(-len(summed), 0))) if summed else joined
    return [(values[place] + down[place]).expand(order.sizes[order.scopes[place][0]]).clone() for place in places]
