"""P(Q | C) by contraction: the sums of P_0 P_keep over Q and C, and over C, as products of small tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from nbr.factors import Network
from nbr.language import And, Expression
from nbr.model import Model
from nbr.ways import Unfit

Asked = tuple[Expression, Expression | None]


def network(model: Model, said: Sequence[Expression], seconds: float) -> Network:
    """The tables of a density, for whatever questions and conditions say; `Unfit` says why there are none."""
    if any(body.codec is not None for body in model.bodies):
        raise Unfit("rules on codes are not tables")
    if model.closed:
        raise Unfit("variables are closed")
    return Network.of(model.world, model.base, [body.rules for body in model.bodies], said, seconds=seconds)


def contracted(model: Model, asked: Sequence[Asked], seconds: float) -> list[float | None] | None:
    """P(Q | C) of each question, None where C has probability 0; None for all where the tables would be too large.

    All are one batch, and a condition that several questions share is summed over once.
    """
    whole = list(dict.fromkeys(condition for _, condition in asked))
    both = [question if condition is None else And((condition, question)) for question, condition in asked]
    try:
        tables = network(model, [*both, *(each for each in whole if each is not None)], seconds)
        with torch.no_grad():
            logs = tables.log_sums([*both, *whole])
    except Unfit:
        return None
    within = dict(zip(whole, logs[len(both) :].tolist(), strict=True))
    found: list[float | None] = []
    for (_, condition), log in zip(asked, logs[: len(both)].tolist(), strict=True):
        rest = within[condition]
        found.append(min(1.0, math.exp(log - rest)) if rest > -math.inf else None)
    return found
