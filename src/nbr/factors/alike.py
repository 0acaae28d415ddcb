"""Sums under many conditions at once, of which many say the same of some of the variables.

A table on the way depends only on what a condition says of the variables below it, and of a few variables there is
little to say. So each table is computed once for all conditions that say the same there; conditions are sorted so that
those stand together for which the most expensive tables are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nbr.factors import contraction
from nbr.factors.order import Order
from nbr.factors.waves import SCALED

ROOM = 1 << 25  # numbers of a batch, where no two conditions are alike
Alike = Tensor | None  # for each condition the number of those that are alike; None where all are


def log_sums(order: Order, tables: Sequence[Tensor], count: int) -> Tensor:
    """As `contraction.log_sums`, for `count` conditions: (count,); not differentiable."""
    alike = [
        _rows(table) if table.dim() > len(scope) else None for table, scope in zip(tables, order.scopes, strict=True)
    ]
    for step in order.steps:
        alike.append(_both(alike[step.left], alike[step.right]))
    sorted_ = _sorted(order, alike, count)
    found = torch.empty(count, dtype=torch.float64)
    for part in contraction.batches(order, count):
        places = sorted_[part]
        found[places] = _some(order, tables, alike, places)
    return found


def _rows(table: Tensor) -> Tensor:
    """Which rows of a table are the same."""
    rows = table.flatten(1)
    weights = torch.linspace(1, 2, rows.shape[1], dtype=torch.float64).sqrt()
    alike: Tensor = torch.unique(rows @ weights, return_inverse=True)[1]
    if not torch.equal(rows[_first(alike)[alike]], rows):  # two rows have the same sum
        alike = torch.unique(rows, dim=0, return_inverse=True)[1]
    return alike


def _first(alike: Tensor) -> Tensor:
    """One of those that are alike, for each number."""
    return torch.empty(int(alike.max()) + 1, dtype=torch.long).scatter_(0, alike, torch.arange(len(alike)))


def _both(one: Alike, other: Alike) -> Alike:
    if one is None or other is None:
        return one if other is None else other
    pairs: Tensor = torch.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return pairs


def _sorted(order: Order, alike: Sequence[Alike], count: int) -> Tensor:
    """Conditions in an order in which those stand together that are alike along the most expensive branch."""
    first = len(order.scopes)
    costs = [0] * first
    for step, entries in zip(order.steps, order.entries, strict=True):
        costs.append(costs[step.left] + costs[step.right] + entries)
    keys, number = [], first + len(order.steps) - 1
    while True:
        if (each := alike[number]) is not None:
            keys.append(each.numpy())
        if number < first:
            break
        step = order.steps[number - first]
        number = max(step.left, step.right, key=lambda each: costs[each])
    return torch.from_numpy(np.lexsort(keys)) if keys else torch.arange(count)


def _some(order: Order, tables: Sequence[Tensor], alike: Sequence[Alike], places: Tensor) -> Tensor:
    """The logs of the sums of some conditions."""
    values: list[Tensor] = []
    local: list[Alike] = []  # for each condition the row of the table that is its own

    def one_each(number: int) -> Tensor | None:
        """Of these conditions one for each row of a table that is told apart."""
        mine = alike[number]
        local.append(None if mine is None else torch.unique(mine[places], return_inverse=True)[1])
        return None if local[-1] is None else _first(local[-1])

    for number, table in enumerate(tables):
        apart = one_each(number)
        values.append(table if apart is None else table[places[apart]])
    logs, lost = (torch.zeros(len(places), dtype=torch.float64) for _ in range(2))
    since = [1] * len(tables)
    last = len(tables) + len(order.steps) - 1
    for number, step in enumerate(order.steps, len(tables)):
        apart = one_each(number)
        parts = [values[side] for side in (step.left, step.right)]
        for at, side in enumerate((step.left, step.right)):
            if apart is not None and (rows := local[side]) is not None:
                parts[at] = _taken(parts[at], rows[apart])
        product = contraction.multiplied(parts[0], step.scopes[0], parts[1], step.scopes[1], step.kept)
        values[step.left] = values[step.right] = product.new_zeros(0)  # nobody reads them again
        since.append(since[step.left] + since[step.right])
        if since[-1] >= SCALED or number == last:
            product, most = contraction.scaled_down(product, len(step.kept))
            most = most.expand(len(places)) if (mine := local[number]) is None else most[mine]
            logs, lost, since[-1] = logs + most, lost + most.clamp(max=0.0), 1
        values.append(product)
    whole = values[-1].log()
    total = (whole.expand(len(places)) if (mine := local[last]) is None else whole[mine]) + logs
    zero = total == -torch.inf
    if bool(zero.any()):
        zero[zero.clone()] &= _possible(order, tables, places[zero])
    for place in ((lost < -contraction.SAFE) | zero).nonzero()[:, 0].tolist():
        total[place] = contraction.log_sum(order, tables, int(places[place]))
    return total


def _taken(table: Tensor, rows: Tensor) -> Tensor:
    same = len(rows) == len(table) and torch.equal(rows, torch.arange(len(rows)))
    return table if same else table[rows]


def _possible(order: Order, tables: Sequence[Tensor], places: Tensor) -> Tensor:
    """Under which conditions some product is above 0, however small."""
    values = []
    for table, scope in zip(tables, order.scopes, strict=True):
        values.append(((table[places] if table.dim() > len(scope) else table) > 0).double())
    for step in order.steps:
        pair = values[step.left], values[step.right]
        product = contraction.multiplied(pair[0], step.scopes[0], pair[1], step.scopes[1], step.kept)
        values.append((product > 0).double())
    return (values[-1] > 0).expand(len(places))
