"""Largest products of tables for a batch of inputs at once: the best point of each, and the best of all others.

Some variables are read from inputs: what is known of their values comes with a batch. Of a product, all that has been
summed over so far is kept in two numbers: `same`, the log of its largest product where all variables read have the
values that were read, and `other`, where at least one has not. The second depends on how far inputs were changed:

- each input by so much: one column for each size of a change; columns do not mix;
- all together by so much: one column for each number of units of a budget, of which the parts take their shares: the
  columns of two tables are folded, out[k] = max over j of one[j] + other[k - j].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.factors.contraction import aligned
from nbr.factors.order import Order, Scope, Step

ROOM = 1 << 21  # numbers of a batch held at a time: they stay in a fast cache
ROW, COLUMN = -1, -2  # stand for the axes of a batch and of changes


@dataclass(frozen=True)
class Read:
    """What is known of one variable: logs (n, values) of its values as they were seen, and the value read (n,)."""

    logs: Tensor
    value: Tensor


def largest_product(
    order: Order, logs: Sequence[Tensor], seen: Mapping[int, Tensor]
) -> tuple[Tensor, dict[int, Tensor]]:
    """The log of the largest product for each input (n,), and the value of each variable there, (n,) each.

    `logs` are tables by their numbers, `seen` what inputs say beside some tables of one variable: (n, values) each.
    """
    count = len(next(iter(seen.values())))
    parts = [_largest(order, logs, {place: each[rows] for place, each in seen.items()}) for rows in _some(order, count)]
    points = {variable: torch.cat([point[variable] for _, point in parts]) for variable in parts[0][1]}
    return torch.cat([value for value, _ in parts]), points


def _largest(order: Order, logs: Sequence[Tensor], seen: Mapping[int, Tensor]) -> tuple[Tensor, dict[int, Tensor]]:
    values = [table + seen[place] if place in seen else table for place, table in enumerate(logs)]
    for step in order.steps:
        joined = _spread(values[step.left], step, 0) + _spread(values[step.right], step, 1)
        values.append(_most(joined, len(step.summed)))
    count = len(next(iter(seen.values())))
    rows, point = torch.arange(count), dict[int, Tensor]()
    for step in reversed(order.steps):
        if not step.summed:
            continue
        total = torch.zeros((), dtype=torch.float64)
        for side, number in enumerate((step.left, step.right)):
            total = total + _at(values[number], step, side, rows, point)
        place = total.expand(count, *[order.sizes[variable] for variable in step.summed]).flatten(1).argmax(dim=1)
        for variable in reversed(step.summed):
            point[variable] = place % order.sizes[variable]
            place = place // order.sizes[variable]
    return values[-1].expand(count), point


def _at(table: Tensor, step: Step, side: int, rows: Tensor, point: Mapping[int, Tensor]) -> Tensor:
    """A table at the values that are known already, with the axes that are summed over: (n, *summed)."""
    scope = step.scopes[side]
    known = tuple(variable for variable in scope if variable in step.kept)
    own = tuple(variable for variable in scope if variable not in step.kept)
    front = (ROW,) if table.dim() > len(scope) else ()
    moved = aligned(table, (*front, *scope), (*front, *known, *own))
    index = (*([rows] if front else []), *(point[variable] for variable in known))
    found = moved[index] if index else moved[None]
    return aligned(found, (ROW, *own), (ROW, *step.summed))


def rival_products(
    order: Order, logs: Sequence[Tensor], same: Mapping[int, Tensor], other: Mapping[int, Tensor], together: bool
) -> tuple[Tensor, Tensor]:
    """The log of the largest product at what was read (n,), and at anything else (n, changes).

    For some tables of one variable `same` is 0 at the value read and -inf elsewhere, (n, values), and `other` how much
    another value has against it after a change, (n, values, changes), -inf at the value read. With `together` changes
    are units of a budget that all inputs share, and must never have less as the budget grows.
    """
    count, width = next(iter(other.values())).shape[::2]
    found = []
    for rows in _some(order, count, width):
        one, two = ({place: each[rows] for place, each in part.items()} for part in (same, other))
        found.append(_rivals(order, logs, one, two, together))
    return torch.cat([one for one, _ in found]), torch.cat([two for _, two in found])


def _rivals(
    order: Order, logs: Sequence[Tensor], same: Mapping[int, Tensor], other: Mapping[int, Tensor], together: bool
) -> tuple[Tensor, Tensor]:
    kept = [table + same[place] if place in same else table for place, table in enumerate(logs)]
    gone: list[Tensor | None] = [
        logs[place][..., None] + other[place] if place in other else None for place in range(len(logs))
    ]
    for step in order.steps:
        stays = [_spread(kept[number], step, side) for side, number in enumerate((step.left, step.right))]
        leaves = [
            None if (table := gone[number]) is None else _spread(table, step, side, 1)
            for side, number in enumerate((step.left, step.right))
        ]
        summed = len(step.summed)
        kept.append(_most(stays[0] + stays[1], summed))
        parts = [table + stays[1 - side][..., None] for side, table in enumerate(leaves) if table is not None]
        if leaves[0] is not None and leaves[1] is not None:
            parts.append(_folded(leaves[0], leaves[1]) if together else leaves[0] + leaves[1])
        each = [part.amax(dim=tuple(range(-summed - 1, -1))) if summed else part for part in parts]
        gone.append(torch.stack(torch.broadcast_tensors(*each)).amax(dim=0) if each else None)
    count, width = next(iter(other.values())).shape[::2]
    last = gone[-1]
    assert last is not None
    return kept[-1].expand(count), last.expand(count, width)


def _folded(one: Tensor, two: Tensor) -> Tensor:
    """The best way to share a budget: (..., changes)."""
    found = one + two[..., :1]
    for spent in range(1, two.shape[-1]):
        part = found[..., spent:]
        torch.maximum(part, one[..., :-spent] + two[..., spent : spent + 1], out=part)
    return found


def _spread(table: Tensor, step: Step, side: int, columns: int = 0) -> Tensor:
    """A table with the batch in front, then an axis for each variable kept, then for each that is summed over."""
    scope: Scope = step.scopes[side]
    back = (COLUMN,) * columns
    front = (ROW,) if table.dim() > len(scope) + columns else ()
    return aligned(table, (*front, *scope, *back), (*front, *step.kept, *step.summed, *back))


def _most(table: Tensor, summed: int) -> Tensor:
    return table.amax(dim=tuple(range(-summed, 0))) if summed else table


def _some(order: Order, count: int, width: int = 1) -> list[slice]:
    """Inputs some at a time."""
    size = max(1, ROOM // max(1, order.width * width))
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
