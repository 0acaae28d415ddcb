"""Every value of one variable, how often it is; of a number its quantiles; each with what rows leave possible.

The range of the number below which a share q of the rows lies is that between the numbers below which the ends of
Wilson's interval of q lie: it holds for any distribution of the number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr import clock
from nbr.density.behind import rows_under
from nbr.density.marginal_table import marginals
from nbr.density.ranges import wilson
from nbr.density.sampling import draw
from nbr.density.single import Probability, probability
from nbr.errors import NbrError
from nbr.language import Atom, Expression
from nbr.model import Model
from nbr.ways import SHARES
from nbr.world import Variable

BELOW = (0.05, 0.25, 0.5, 0.75, 0.95)  # below which a number is told
LABELS = 24  # of a choice that are told one by one, the likeliest
CUTS = 64  # of a number at a time ...
ROUNDS = 3  # ... and each time between two of those before
FINE = 2000  # of what a number may be, how finely it is told
DRAWS = 4096  # where it cannot be summed


@dataclass(frozen=True)
class Quantile:
    """The number below which a share of the rows lies, and its range, in words of its variable."""

    share: float
    value: str
    range: tuple[str, str] | None

    def as_json(self) -> dict[str, object]:
        return {"share": self.share, "value": self.value, "range": None if self.range is None else list(self.range)}


@dataclass(frozen=True)
class RankedValues:
    """The values of a variable with their probabilities, the likeliest first; or the quantiles of a number."""

    variable: str
    given: str | None
    values: tuple[tuple[str, Probability], ...] = ()
    left: int = 0  # less likely values that are not told
    quantiles: tuple[Quantile, ...] = ()
    rows: float | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "variable": self.variable,
            "given": self.given,
            "rows": self.rows,
            "probabilities": [{"value": value, **found.as_json()} for value, found in self.values],
            "quantiles": [each.as_json() for each in self.quantiles],
        }


def value_probabilities(model: Model, name: str, given: str | None, budget: float, seed: int) -> RankedValues:
    """How often each value of a variable is under a condition; an error where that cannot be weighed.

    Args:
        model: with a prior
        name: of a variable
        given: a condition in words, which may have evidence with a degree
        budget: seconds for all values together
        seed: where randomness comes from
    """
    deadline, variable = clock.now() + budget, model.world.variables[name]
    observing, condition = model.observing(given)
    if variable.numeric:
        with torch.no_grad():
            return _quantiles(model, observing, name, given, condition, deadline, seed)
    labels = [variable.show(code) for code in range(variable.size or 0)]
    statements = [Atom(name, "=", (label,)) for label in labels]
    order = list(range(len(labels)))
    if len(labels) > LABELS:
        with torch.no_grad():
            shares, why = marginals(observing, {name: statements}, [condition], SHARES["likeliest labels"] * budget)
        if name not in shares:
            raise NbrError(f"{name!r} has too many values to compute: {why}; ask for one variable alone")
        order = shares[name][0].argsort(descending=True, stable=True).tolist()[:LABELS]
    found = []
    for number, at in enumerate(order):
        left = max(0.01, deadline - clock.now()) / (len(order) - number)
        found.append((labels[at], probability(model, statements[at], given, budget=left, seed=seed)))
    found.sort(key=lambda each: -1.0 if each[1].value is None else -each[1].value)
    return RankedValues(name, given, tuple(found), len(labels) - len(order), rows=found[0][1].rows)


def _quantiles(
    model: Model,
    observing: Model,
    name: str,
    given: str | None,
    condition: Expression | None,
    deadline: float,
    seed: int,
) -> RankedValues:
    variable = model.world.variables[name]
    generator = torch.Generator().manual_seed(seed)
    rest = rows_under(model, observing, condition, generator, 0.2 * (deadline - clock.now()))
    rows = rest.rows([name])
    ends = {}
    if rows is not None and model.seen is not None and rest.together([name]):
        ends = {share: wilson(share, share, rows / model.seen.dispersion) for share in BELOW}
    wanted = sorted({*BELOW, *(end for each in ends.values() for end in each)})
    codes = _inverted(observing, name, condition, torch.tensor(wanted, dtype=torch.float64), deadline)
    if codes is None:
        drawn = draw(observing, DRAWS, condition, generator).points[:, model.world.column(name)].sort().values
        codes = drawn[(torch.tensor(wanted) * (DRAWS - 1)).long()]
    shown = dict(zip(wanted, (_shown(variable, code) for code in codes.tolist()), strict=True))
    told = [
        Quantile(share, shown[share], (shown[ends[share][0]], shown[ends[share][1]]) if share in ends else None)
        for share in BELOW
    ]
    return RankedValues(name, given, quantiles=tuple(told), rows=rows)


def _inverted(model: Model, name: str, condition: Expression | None, shares: Tensor, deadline: float) -> Tensor | None:
    """The numbers up to which these shares lie, ascending; None where shares cannot be summed.

    Each round asks for the shares up to some cuts, and the next ones lie between two of them.
    """
    variable = model.world.variables[name]
    few = variable.size is not None and variable.size <= CUTS * CUTS
    if few and variable.size is not None:
        cuts = variable.low + variable.step * torch.arange(variable.size, dtype=torch.float64)
    else:
        cuts = torch.linspace(variable.low, variable.high, CUTS + 1, dtype=torch.float64)
    high = cuts
    for _ in range(ROUNDS):
        statements = [Atom(name, "<=", (_word(variable, cut),)) for cut in cuts.tolist()]
        found, _ = marginals(model, {name: statements}, [condition], max(0.05, deadline - clock.now()))
        if name not in found or bool(found[name].isnan().any()):
            return None
        below = found[name][0].cummax(0).values
        at = torch.searchsorted(below, shares - 1e-12).clamp(max=len(cuts) - 1)
        high, low = cuts[at], cuts[(at - 1).clamp(min=0)]
        if few:
            break
        inner = torch.linspace(0, 1, CUTS // 4 + 1, dtype=torch.float64)
        cuts = torch.unique(low[:, None] + (high - low)[:, None] * inner)
    return high


def _shown(variable: Variable, code: float) -> str:
    """As exactly as rows are told apart: in thousandths of what it may be."""
    if variable.unit or variable.step:
        return variable.show(code)
    return variable.show(round(code, -math.floor(math.log10((variable.high - variable.low) / FINE))))


def _word(variable: Variable, code: float) -> str:
    return variable.show(code) if variable.unit else repr(code)
