"""Linear inequalities that a statement implies: what it says of many variables at once, for bounds over boxes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nbr.language import Expression
from nbr.language import expressions as ex
from nbr.world import World

Halfspace = tuple[Tensor, float]  # slopes . z >= number
OPPOSITE = {">=": "<", ">": "<=", "<=": ">", "<": ">=", "=": "!=", "!=": "="}


def halfspaces(statement: Expression, holds: bool, world: World) -> list[Halfspace]:
    """What follows from a statement, or from its opposite.

    >>> from nbr.language import parse
    >>> halfspaces(parse("count(x0, ~x1, x2)>=2"), True, World.bits(3))
    [(tensor([ 1., -1.,  1.], dtype=torch.float64), 1.0)]
    """
    match statement:
        case ex.Not():
            return halfspaces(statement.part, not holds, world)
        case ex.And() | ex.Or() if isinstance(statement, ex.And) == holds:
            return [found for part in statement.parts for found in halfspaces(part, holds, world)]
        case ex.Implies() if not holds:
            return halfspaces(statement.premise, True, world) + halfspaces(statement.conclusion, False, world)
        case ex.Count() | ex.Majority():
            operator, number = (
                (statement.operator, statement.number)
                if isinstance(statement, ex.Count)
                else (">", len(statement.parts) / 2)
            )
            return _counted(statement.parts, operator if holds else OPPOSITE[operator], number, world)
    return []


def _counted(parts: tuple[Expression, ...], operator: str, number: float, world: World) -> list[Halfspace]:
    slopes, denied = torch.zeros(len(world), dtype=torch.float64), 0
    for part in parts:
        sign = 1.0
        while isinstance(part, ex.Not):
            part, sign = part.part, -sign
        if not isinstance(part, ex.Atom) or not world.variables[part.name].boolean:
            return []
        if part.operator not in ("", "=", "!="):
            return []
        sign = sign if (part.codes(world)[0] == 1) == (part.operator != "!=") else -sign
        slopes[world.column(part.name)] += sign
        denied += sign < 0
    least, most = -math.inf, math.inf
    if operator in (">=", ">", "="):
        least = math.floor(number) + 1 if operator == ">" else math.ceil(number)
    if operator in ("<=", "<", "="):
        most = math.ceil(number) - 1 if operator == "<" else math.floor(number)
    found = [(slopes, float(least - denied))] if least > -math.inf else []
    return found + ([(-slopes, float(denied - most))] if most < math.inf else [])
