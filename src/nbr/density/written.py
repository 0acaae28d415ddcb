"""Base rates that an expert writes: the [prior] table of a .toml.

    [prior]
    flat = 0.02                              # of a bit: how often it is 1
    weather = { dry = 0.7, wet = 0.3 }       # of a choice: a share for each label; the others share what is left
    temperature = { mean = 12, spread = 8 }  # of a number: normal within its bounds

What is not named is uniform, and every variable is independent of the others: what goes together is told by rules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from nbr.errors import NbrError, suggest
from nbr.language import names_in_range
from nbr.model import Model
from nbr.priors import Independent, Prior, numbers, uniform
from nbr.world import Variable, World

ROUNDING = 1e-6
CELLS = 256  # of a number with a step


def written(world: World, table: object) -> Independent:
    """The prior of a [prior] table."""
    if not isinstance(table, Mapping):
        raise NbrError("[prior] must be a table of names, as in flat = 0.02")
    columns = dict(zip(world.names, uniform(world).columns, strict=True))
    named: set[str] = set()
    for key, said in table.items():
        for name in names_in_range(key):
            try:
                world.column(name)
                if name in named:
                    raise NbrError("it appears twice")
                columns[name] = _column(world.variables[name], said)
            except NbrError as error:
                raise NbrError(f"[prior] {name!r}: {error}") from None
            named.add(name)
    return Independent(world, list(columns.values()))


def by_hand(prior: Prior | Model) -> dict[str, object]:
    """The inverse: a [prior] table, if the prior can be written as one.

    >>> from nbr.world import Bit, Choice
    >>> world = World(flat=Bit(), weather=Choice("dry", "wet"))
    >>> by_hand(Independent(world, [torch.tensor([0.75, 0.25]), torch.tensor([1.0, 1.0])]))
    {'flat': 0.25}
    """
    if not isinstance(prior, Prior) or prior.independent is None:
        raise NbrError("a .toml file cannot hold this prior: save the model as .nbr")
    found: dict[str, object] = {}
    for (name, variable), column in zip(prior.world.variables.items(), prior.independent, strict=True):
        if len(column) == 0 or (not variable.numeric and bool((column == column[0]).all())):
            continue  # uniform, as what is not named
        if variable.numeric and (column.dim() == 2 or variable.step):
            raise NbrError(f"a .toml file cannot hold the prior of {name!r}: save the model as .nbr")
        shares = (column if variable.numeric else column / column.sum()).tolist()
        if variable.boolean:
            found[name] = shares[1]
        elif not variable.numeric:
            found[name] = dict(zip(variable.labels, shares, strict=True))
        else:
            found[name] = {"mean": shares[0], "spread": shares[1]}
    return found


def _column(variable: Variable, said: object) -> Tensor:
    if variable.boolean:
        share = _share(said, "for a bit, give the probability of 1, a number from 0 to 1, as in 0.02")
        return torch.tensor([1 - share, share], dtype=torch.float64)
    if not variable.numeric:
        return _labels(variable, said)
    if not isinstance(said, Mapping) or set(said) != {"mean", "spread"}:
        raise NbrError("a number takes { mean = .., spread = .. }")
    mean, spread = (_number(said[key], f"{key!r} must be a number") for key in ("mean", "spread"))
    if not spread > 0:
        raise NbrError(f"the spread must be above 0, not {spread:g}")
    if not variable.low - 6 * spread <= mean <= variable.high + 6 * spread:
        raise NbrError(f"the mean {mean:g} lies more than 6 spreads beyond its bounds: no value is near it")
    return _counts(variable, mean, spread) if variable.step else torch.tensor([mean, spread], dtype=torch.float64)


def _counts(variable: Variable, mean: float, spread: float) -> Tensor:
    """The curve over the values of a number with a step, each up to halfway to the next; many share a cell."""
    assert variable.size is not None
    wide = math.ceil(variable.size / CELLS)
    starts = torch.arange(0, variable.size, wide, dtype=torch.float64)
    ends = torch.cat([starts[1:], torch.tensor([float(variable.size)], dtype=torch.float64)])
    low, high = (variable.low + variable.step * (edge - 0.5) for edge in (starts, ends))
    below = [torch.special.ndtr((edge - mean) / spread) for edge in (low, high)]
    mass = (below[1] - below[0]).clamp(min=0.0)
    if not mass.sum() > 0:
        raise NbrError(
            f"no value from {variable.show(variable.low)} to {variable.show(variable.high)} is near its mean"
        )
    cells = torch.stack([low, high, torch.full_like(low, math.nan), mass / mass.sum()], dim=1)
    tails = torch.full((2,), numbers.BLIND, dtype=torch.float64)
    return numbers.NumberCells(variable, cells, tails, variable.step, variable.step).packed()


def _labels(variable: Variable, said: object) -> Tensor:
    example = ", ".join(f"{label} = {1 / len(variable.labels):.2g}" for label in variable.labels[:2])
    if not isinstance(said, Mapping):
        raise NbrError(f"for a choice, give a share for each label, as in {{ {example} }}")
    known = {}
    for label, share in said.items():
        if label not in variable.labels:
            raise NbrError(f"{label!r} is not one of its labels" + suggest(label, variable.labels))
        known[label] = _share(share, f"the share of {label!r} must be a number from 0 to 1")
    total, others = sum(known.values()), len(variable.labels) - len(known)
    if total > 1 + ROUNDING or (not others and total < 1 - ROUNDING):
        raise NbrError(f"the shares of its labels add up to {total:g}, not to 1")
    left = max(0.0, 1 - total) / others if others else 0.0
    return torch.tensor([known.get(label, left) for label in variable.labels], dtype=torch.float64)


def _share(value: object, wanted: str) -> float:
    share = _number(value, wanted)
    if not 0 <= share <= 1:
        raise NbrError(f"{wanted}; not {share:g}")
    return share


def _number(value: object, wanted: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NbrError(f"{wanted}; not {value!r}")
    return float(value)
