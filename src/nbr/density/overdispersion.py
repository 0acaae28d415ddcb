"""How far a model is off the rows it was learned from, beyond what chance does to counts: its dispersion.

A model that smooths wrongly is surer than its rows allow. Of every value of a column given every value of another, the
squared difference between the model and the rows counted, in units of the variance that chance gives it, is 1 on
average where the model is right and did not see the rows, and less where it learned from them. A mean above 1 divides
the rows that stand behind an answer, as overdispersion does in generalised linear models.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nbr.density.marginal_table import marginals
from nbr.language import Atom, Expression, Not
from nbr.model import Model
from nbr.tables import Table

CONDITIONS = 48  # values of columns, under which all others are compared
SECONDS = 2.0
ROUGH = 0.25  # of a row: the least variance that a count of a share has


def dispersion(model: Model, table: Table, seed: int = 0) -> float:
    """The mean squared difference between model and rows in units of chance, at least 1.

    1 too where the shares of all values cannot be told in `SECONDS` or there is nothing to compare. Of a number the
    values are those up to its median and those beyond.
    """
    told = {name: _statements(model, name, table.codes[:, at]) for at, name in enumerate(model.world.names)}
    told = {name: each for name, each in told.items() if each}
    literals = [(name, each) for name, statements in told.items() for each in statements]
    generator = torch.Generator().manual_seed(seed)
    picked = [literals[at] for at in torch.randperm(len(literals), generator=generator)[:CONDITIONS].tolist()]
    if len(told) < 2:
        return 1.0
    with torch.no_grad():
        shares, _ = marginals(model, told, [condition for _, condition in picked], SECONDS)
    squares = [
        _squares(shares[name][place], *_counted(table, condition, told[name], name))
        for place, (given, condition) in enumerate(picked)
        for name in shares
        if name != given
    ]
    found = torch.cat(squares) if squares else torch.zeros(0, dtype=torch.float64)
    mean = float(found[~found.isnan()].mean())
    return max(1.0, mean) if math.isfinite(mean) else 1.0


def _statements(model: Model, name: str, codes: Tensor) -> list[Expression]:
    """What a column may be, each row in one of them; none where all rows are alike."""
    variable = model.world.variables[name]
    known = codes[~codes.isnan()]
    if not len(known) or bool((known == known[0]).all()):
        return []
    if not variable.numeric:
        return [Atom(name, "=", (variable.show(code),)) for code in range(len(variable.labels))]
    low = Atom(name, "<=", (variable.show(float(known.median())) if variable.unit else repr(float(known.median())),))
    return [low, Not(low)]


def _counted(table: Table, condition: Expression, statements: list[Expression], name: str) -> tuple[Tensor, Tensor]:
    """In how many rows that meet the condition each statement holds, and how many those are; holes count nowhere."""
    weights = torch.ones(len(table), dtype=torch.float64) if table.counts is None else table.counts.double()
    given = next(iter(condition.names()))
    seen = ~table.codes[:, [table.world.column(given), table.world.column(name)]].isnan().any(dim=1)
    met = weights * (condition.holds(table.world, table.codes) & seen)
    held = torch.stack([each.holds(table.world, table.codes) for each in statements]).double() @ met
    return held, met.sum()


def _squares(shares: Tensor, held: Tensor, rows: Tensor) -> Tensor:
    """NaN where no row was counted or the model has no share."""
    variance = torch.maximum(shares * (1 - shares), ROUGH / (rows + 1)) / rows
    return (held / rows - shares) ** 2 / variance
