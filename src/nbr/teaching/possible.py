"""Examples that cannot hold, by themselves or beside the others: found before anything is learned from them."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.rules import sensor_values
from nbr.teaching.examples import Examples
from nbr.teaching.statements import Statement, Statements
from nbr.world import World

ROUNDS = 20  # of what one row says of a picture being passed on to others
ROWS = 1024  # at a time


def check(world: World, examples: Examples, said: Statements) -> None:
    """Raise an error that names an example which can never hold, or which contradicts what others say of its pictures.

    A picture that stands in several rows has one label. What each row leaves of it is handed to the others until
    nothing changes; so not every contradiction among many rows is found, but none is made up.
    """
    sizes = {name: len(sensor_values(name, world.variables[name])) for name in examples.where}
    left = {name: torch.ones(len(examples.pool), size, dtype=torch.float64) for name, size in sizes.items()}
    alike: dict[tuple[str, ...], Tensor] = {}  # variables with the same values share what is left of a picture
    for name in examples.where:
        left[name] = alike.setdefault(sensor_values(name, world.variables[name]), left[name])
    sure = (examples.beliefs == 1).nonzero()[:, 0]
    again = len(torch.cat(list(examples.where.values())).unique()) < examples.looks
    for round_ in range(ROUNDS if again else 1):
        before = [each.clone() for each in alike.values()]
        for rows in (sure if round_ else torch.arange(len(examples))).split(ROWS):
            _narrow(examples, said, rows, left, again, round_ > 0)
        if all(torch.equal(one, other) for one, other in zip(before, alike.values(), strict=True)):
            return


def _narrow(
    examples: Examples, said: Statements, rows: Tensor, left: dict[str, Tensor], again: bool, later: bool
) -> None:
    """Take from what is left of each picture the labels with which its rows cannot hold."""
    for number in said.group[rows].unique().tolist():
        mine = rows[said.group[rows] == number]
        logs, supported = _supported(said.each[number], said.place[mine], examples, mine, left if later else None)
        for row, log in zip(mine.tolist(), logs.tolist(), strict=True):
            if log == -torch.inf:
                raise NbrError(_told(examples, row, later))
        if again:
            sure = examples.beliefs[mine] == 1
            for name, fits in supported.items():
                places = examples.where[name][mine[sure]]
                left[name][torch.zeros_like(left[name]).index_add_(0, places, 1 - fits[sure]) > 0] = 0.0
                gone = (left[name][places].sum(dim=1) == 0).nonzero()[:, 0]
                if len(gone):
                    raise NbrError(_told(examples, int(mine[sure][gone[0]]), True))


def _supported(
    statement: Statement, places: Tensor, examples: Examples, rows: Tensor, left: dict[str, Tensor] | None
) -> tuple[Tensor, dict[str, Tensor]]:
    """The log of how many points are left of each row, and which values of each variable some of them have."""
    variables = statement.model.world.variables
    weights = {}
    for name in statement.sensed:
        size = len(sensor_values(name, variables[name]))
        flat = torch.ones(len(rows), size, dtype=torch.float64)
        weights[name] = (flat if left is None else left[name][examples.where[name][rows]].clone()).requires_grad_()
    with torch.enable_grad():
        logs = statement.network.weighed(weights | statement.known(places), [statement.said] * len(rows))
        slopes = torch.autograd.grad(logs.sum(), list(weights.values()), allow_unused=True)
    found = {}
    for (name, weight), slope in zip(weights.items(), slopes, strict=True):
        found[name] = weight.detach() if slope is None else ((slope > 0) & (weight > 0)).double()
    return logs.detach(), found


def _told(examples: Examples, row: int, beside: bool) -> str:
    text = examples.texts[row if len(examples.texts) > 1 else 0]
    words = set(re.findall(r"\w+", text))
    numbers = ", ".join(f"{name} = {column[row]}" for name, column in examples.columns.items() if name in words)
    said = f"row {int(examples.number[row])} of the examples, {text!r}{f' with {numbers}' if numbers else ''},"
    if not beside:
        return f"{said} can never hold"
    pictures = [int(where[row]) for where in examples.where.values()]
    others = [
        int(examples.number[other])
        for other in range(len(examples))
        if other != row and any(int(where[other]) in pictures for where in examples.where.values())
    ]
    told = ", ".join(map(str, others[:3])) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return f"{said} contradicts what is said of the same pictures in row {told}"
