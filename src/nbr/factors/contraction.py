"""A product of tables summed along an order, for a batch of conditions at once; its best point; draws from it.

A table has the shape of its scope, or one axis more in front, with an entry for each condition of a batch. What does
not depend on the condition is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from nbr.factors.order import Order, Scope, Step
from nbr.factors.waves import Wave, waves
from nbr.priors import pick

SAFE = 500.0  # nats that scaling may have taken out in all before what was lost to underflow could count
SMALL = 1 << 16  # numbers of a table up to which those of steps of one shape are stacked
WAVE = 51  # the axis of the steps that are taken at once, the last that einsum has
ROOM = 1 << 23  # numbers of a batch held at a time
IMPOSSIBLE = -1e7  # the log of 0, where logs are to have gradients
ROW = -1  # stands for the axis of draws among variables

Reduce = Callable[..., Tensor]


def batches(order: Order, count: int) -> list[slice]:
    """Conditions some at a time, so that all tables on the way fit into memory."""
    size = max(1, min(count, ROOM // max(1, order.held)))
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def log_sums(order: Order, tables: Sequence[Tensor]) -> Tensor:
    """log of the sum over all variables of the product of all tables: (batch,), or () without one; differentiable.

    Sums are of plain numbers, scaled to at most 1 after some steps. Conditions for which that may have lost something
    are summed again as logs.
    """
    _, total, doubtful = _summed(order, tables)
    if not bool(doubtful.any()):
        return total
    if total.dim() == 0:
        return log_values(order, [table.log() for table in tables], torch.logsumexp)[-1]
    again = total.clone()
    for place in doubtful.nonzero()[:, 0].tolist():
        again[place] = log_sum(order, tables, place)
    return again


def log_sum(order: Order, tables: Sequence[Tensor], place: int) -> Tensor:
    """The same for one condition, by adding logs: slowly, and nothing is lost."""
    alone = [_entry(table, scope, place).log() for table, scope in zip(tables, order.scopes, strict=True)]
    return log_values(order, alone, torch.logsumexp)[-1]


def _summed(order: Order, tables: Sequence[Tensor]) -> tuple[list[Tensor], Tensor, Tensor]:
    """All tables, scaled, those on the way included; the log of the whole; for which conditions that is in doubt."""
    values: list[Tensor] = [*tables, *[tables[0]] * len(order.steps)]  # those of steps are filled in
    logs, lost = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    batched = tuple(table.dim() > len(scope) for table, scope in zip(tables, order.scopes, strict=True))
    for wave in waves(order, batched):
        for part in _parts(wave, values):
            product = _together(part, values)
            if wave.scaled:
                product, most = scaled_down(product, wave.kept)
                logs, lost = logs + most.sum(dim=0), lost + most.clamp(max=0.0).sum(dim=0)
            for number, table in zip(part.results, product.unbind(), strict=True):
                values[number] = table
    total = values[-1].log() + logs
    return values, total, (lost < -SAFE).expand(total.shape) | (total.detach() == -torch.inf)


def _parts(wave: Wave, values: Sequence[Tensor]) -> list[Wave]:
    """A wave, or its steps one by one: large tables are not worth a copy, which stacking them is. Nor can tables be
    stacked of which some have one entry for all conditions of a batch.
    """
    small = max(values[wave.lefts[0]].numel(), values[wave.rights[0]].numel()) <= SMALL
    if small and all(len({values[number].shape for number in side}) == 1 for side in (wave.lefts, wave.rights)):
        return [wave]
    each = zip(wave.lefts, wave.rights, wave.results, strict=True)
    return [replace(wave, lefts=(left,), rights=(right,), results=(number,)) for left, right, number in each]


def _together(wave: Wave, values: Sequence[Tensor]) -> Tensor:
    """The products of a wave: (steps, batch, ..)."""
    axes = [[WAVE, *each] for each in wave.axes]
    if len(wave.results) == 1:
        left, right = values[wave.lefts[0]][None], values[wave.rights[0]][None]
    else:
        left = torch.stack([values[number] for number in wave.lefts])
        right = torch.stack([values[number] for number in wave.rights])
    found: Tensor = torch.einsum(left, axes[0], right, axes[1], axes[2])
    return found


def marginals(order: Order, tables: Sequence[Tensor], wanted: Sequence[int], count: int) -> list[Tensor]:
    """How likely the values of some tables of one variable are: (count, values) each, NaN where nothing is possible.

    That is the gradient of the log of the sum by the logs of these tables, taken backwards along the order. On the
    way up whatever no condition speaks of is computed once, and on the way down only what leads to a table wanted.
    """
    values, _, doubtful = _summed(order, tables)
    first = len(order.scopes)
    leads = [number in set(wanted) for number in range(first)]
    for step in order.steps:
        leads.append(leads[step.left] or leads[step.right])
    down = {first + len(order.steps) - 1: torch.ones((), dtype=torch.float64)}
    for number, step in reversed(list(enumerate(order.steps, first))):
        if not leads[number]:
            continue
        above, pair = down.pop(number), (step.left, step.right)
        for side, other in ((0, 1), (1, 0)):
            if leads[pair[side]]:
                known = {*step.kept, *step.scopes[other]}
                scope = tuple(variable for variable in step.scopes[side] if variable in known)
                product = multiplied(above, step.kept, values[pair[other]], step.scopes[other], scope)
                scaled, _ = scaled_down(product, len(scope))
                down[pair[side]] = _widened(scaled, scope, step.scopes[side])
    found = []
    for number in wanted:
        product = values[number] * down[number]
        product = product.expand(count, order.sizes[order.scopes[number][0]])
        found.append(product / product.sum(dim=1, keepdim=True))  # 0 / 0 where nothing is possible
    for place in doubtful.expand(count).nonzero()[:, 0].tolist():
        alone = [_entry(table, scope, place) for table, scope in zip(tables, order.scopes, strict=True)]
        found = [each.clone() for each in found]
        for each, row in zip(found, _log_marginals(order, alone, wanted), strict=True):
            each[place] = row
    return found


def _widened(table: Tensor, scope: Scope, wanted: Scope) -> Tensor:
    """A table with an axis of length 1 for each variable that it does not read."""
    if scope == wanted:
        return table
    front = (ROW,) if table.dim() > len(scope) else ()
    return aligned(table, (*front, *scope), (*front, *wanted))


def _log_marginals(order: Order, tables: Sequence[Tensor], wanted: Sequence[int]) -> list[Tensor]:
    """The same for one condition, by way of logs."""
    with torch.enable_grad():
        logs = [
            table.log().clamp(min=IMPOSSIBLE).requires_grad_(number in set(wanted))
            for number, table in enumerate(tables)
        ]
        total = log_values(order, logs, torch.logsumexp)[-1]
        gradients = torch.autograd.grad(total, [logs[number] for number in wanted])
    return [each if total > IMPOSSIBLE / 2 else torch.full_like(each, torch.nan) for each in gradients]


def _entry(table: Tensor, scope: Scope, place: int) -> Tensor:
    return table[place] if table.dim() > len(scope) else table


def scaled_down(table: Tensor, axes: int) -> tuple[Tensor, Tensor]:
    """A table over its largest entry, for each condition, and the log of that."""
    most = table.detach()
    most = most.amax(dim=tuple(range(-axes, 0))) if axes else most
    safe = torch.where(most > 0, most, 1.0)
    return table / safe.view([*safe.shape, *[1] * axes]), safe.log()


def multiplied(left: Tensor, one: Scope, right: Tensor, other: Scope, kept: Scope) -> Tensor:
    """Two tables multiplied and summed over what is not kept."""
    name = {variable: place for place, variable in enumerate(dict.fromkeys((*one, *other)), 1)}
    axes = [[name[variable] for variable in scope] for scope in (one, other)]
    batched = [left.dim() > len(one), right.dim() > len(other)]
    axes = [[0, *each] if front else each for each, front in zip(axes, batched, strict=True)]
    wanted = [*([0] if any(batched) else []), *(name[variable] for variable in kept)]
    found: Tensor = torch.einsum(left, axes[0], right, axes[1], wanted)
    return found


def log_values(order: Order, logs: Sequence[Tensor], reduce: Reduce) -> list[Tensor]:
    """Logs of all tables, those on the way included, for one condition; the last is the log of the whole.

    `reduce` is `torch.logsumexp` for sums, `torch.amax` for the largest product.
    """
    values = list(logs)
    for step in order.steps:
        joined = _joined(step, values)
        values.append(reduce(joined, tuple(range(-len(step.summed), 0))) if step.summed else joined)
    return values


def _joined(step: Step, values: Sequence[Tensor]) -> Tensor:
    """The sum of two logs, with one axis for each variable kept and, behind them, for each that is summed over."""
    wanted = (*step.kept, *step.summed)
    parts = [
        aligned(values[number], scope, wanted)
        for number, scope in zip((step.left, step.right), step.scopes, strict=True)
    ]
    return parts[0] + parts[1]


def aligned(table: Tensor, scope: Sequence[Hashable], wanted: Sequence[Hashable]) -> Tensor:
    """A table with the axes wanted, of length 1 where it does not read a variable."""
    order = [scope.index(variable) for variable in wanted if variable in scope]
    return table.permute(order)[tuple(slice(None) if variable in scope else None for variable in wanted)]


def best(order: Order, logs: Sequence[Tensor]) -> tuple[float, dict[int, int]]:
    """The log of the largest product, and the value of each variable there."""
    values = log_values(order, logs, torch.amax)
    return float(values[-1]), decoded(order, values)


def decoded(order: Order, values: Sequence[Tensor]) -> dict[int, int]:
    """The point of the largest product, from logs of all tables with the largest entries kept."""
    point: dict[int, int] = {}
    for step in reversed(order.steps):
        if not step.summed:
            continue
        row = _joined(step, values)[tuple(point[variable] for variable in step.kept)]
        place = int(row.flatten().argmax())
        for variable, size in reversed([(variable, order.sizes[variable]) for variable in step.summed]):
            place, point[variable] = divmod(place, size)
    return point


def draw(order: Order, logs: Sequence[Tensor], count: int, generator: torch.Generator) -> dict[int, Tensor]:
    """Values of all variables, as likely as their product: drawn back along the order, (count,) each."""
    values = log_values(order, logs, torch.logsumexp)
    drawn: dict[int, Tensor] = {}
    for step in reversed(order.steps):
        if not step.summed:
            continue
        wide = math.prod(order.sizes[variable] for variable in step.summed)
        found = []
        for rows in torch.arange(count).split(max(1, ROOM // wide)):
            parts = torch.zeros((), dtype=torch.float64)
            for number, scope in zip((step.left, step.right), step.scopes, strict=True):
                known = tuple(variable for variable in scope if variable in step.kept)
                own = tuple(variable for variable in scope if variable not in step.kept)
                table = values[number].permute([scope.index(variable) for variable in (*known, *own)])
                part = table[tuple(drawn[variable][rows] for variable in known)]
                part = part if known else part.expand(len(rows), *part.shape)
                parts = parts + aligned(part, (ROW, *own), (ROW, *step.summed))
            found.append(pick(torch.softmax(parts.flatten(1), dim=1), generator))
        place = torch.cat(found)
        for variable in reversed(step.summed):
            drawn[variable] = place % order.sizes[variable]
            place = place // order.sizes[variable]
    return drawn
