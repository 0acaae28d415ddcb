"""The few values of each variable that statements can tell apart: labels, or pieces of a number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from nbr.language import Expression, linears, modulos
from nbr.priors import Allowed
from nbr.ways import Unfit
from nbr.world import Variable, World

MOST_STEPS = 512  # values of a number with a step that are told apart one by one where it is added or compared


@dataclass(frozen=True)
class ValueCodes:
    """For each value a code that stands for it, and all that it stands for: a mask of labels, or pieces."""

    codes: Tensor
    allowed: tuple[Allowed, ...]

    def __len__(self) -> int:
        return len(self.codes)


def codes_of_values(
    world: World, statements: Iterable[Expression], cuts: Mapping[str, Iterable[float]]
) -> dict[str, ValueCodes]:
    """The values of all variables: numbers are cut where statements compare them, and at the cuts given."""
    said = list(statements)
    every = {name: set(numbers) for name, numbers in cuts.items()}
    for statement in said:
        for name, numbers in statement.cuts(world).items():
            every.setdefault(name, set()).update(numbers)
    added = {name for statement in said for each in (*linears(statement), *modulos(statement)) for name in each.names()}
    found = {}
    for name, variable in world.variables.items():
        if not variable.numeric:
            codes = torch.arange(len(variable.labels), dtype=torch.float64)
            found[name] = ValueCodes(codes, tuple(torch.eye(len(variable.labels), dtype=torch.bool)))
        elif variable.step and name in added:
            found[name] = _each(name, variable)
        else:
            found[name] = _pieces(variable, every.get(name, set()))
    return found


def _each(name: str, variable: Variable) -> ValueCodes:
    assert variable.size is not None
    if variable.size > MOST_STEPS:
        raise Unfit(f"{name!r} is added up or compared and has {variable.size:,} values, more than {MOST_STEPS}")
    codes = variable.low + variable.step * torch.arange(variable.size, dtype=torch.float64)
    return ValueCodes(codes, tuple([(code, code)] for code in codes.tolist()))


def _pieces(variable: Variable, cuts: set[float]) -> ValueCodes:
    """Cuts, and what lies between them; with a step only where there are values.

    >>> from nbr.world import Real
    >>> _pieces(Real(0, 10), {0.0, 4.0}).allowed
    ([(0.0, 0.0)], [(0.0, 4.0)], [(4.0, 4.0)], [(4.0, inf)])
    >>> _pieces(Real(0, 4, step=1), {1.0, 2.0}).codes
    tensor([0., 1., 2., 3.], dtype=torch.float64)
    """
    inner = sorted(cut for cut in cuts if variable.low <= cut <= variable.high)
    edges = [-math.inf, *inner, math.inf]
    codes: list[float] = []
    allowed: list[Allowed] = []
    for low, high in pairwise(edges):
        if low > -math.inf and _valid(variable, low):
            codes.append(low)
            allowed.append([(low, low)])
        middle = _between(variable, low, high)
        if middle is not None:
            codes.append(middle)
            allowed.append([(low, high)])
    return ValueCodes(torch.tensor(codes, dtype=torch.float64), tuple(allowed))


def _valid(variable: Variable, value: float) -> bool:
    return not variable.step or abs(value / variable.step - round(value / variable.step)) < 1e-9


def _between(variable: Variable, low: float, high: float) -> float | None:
    """A value strictly between two cuts, or up to the ends of the range; None if there is none."""
    if not variable.step:
        start, end = max(low, variable.low), min(high, variable.high)
        return (start + end) / 2 if start < end else None
    step = variable.step
    first = math.floor(low / step + 1e-9) + 1 if low > -math.inf else math.ceil(variable.low / step - 1e-9)
    last = math.ceil(high / step - 1e-9) - 1 if high < math.inf else math.floor(variable.high / step + 1e-9)
    return first * step if first <= last else None
