"""Every variable on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors.base import Prior
from nbr.tables import Table
from nbr.world import Real, World

SMOOTHING = 0.5  # added to the count of every label, so that none is impossible


@registry.kind("prior", "independent")
class Independent(Prior):
    """Every variable on its own: weights for bits and choices, uniform or normal within bounds for reals.

    `columns` has, for each variable in order, the weights of its values; for a real, nothing (uniform) or its
    mean and standard deviation.
    """

    def __init__(self, world: World, columns: Sequence[Tensor]) -> None:
        super().__init__(world)
        self.columns = tuple(torch.as_tensor(column, dtype=torch.float64) for column in columns)
        for (name, variable), column in zip(world.variables.items(), self.columns, strict=True):
            sizes = (0, 2) if isinstance(variable, Real) else (variable.size,)
            if len(column) not in sizes or not bool(column.isfinite().all()) or bool((column[-1:] < 0).any()):
                raise NbrError(f"the prior of {name!r} does not fit: {column.tolist()}")

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        drawn = []
        for variable, column in zip(self.world.variables.values(), self.columns, strict=True):
            if not isinstance(variable, Real):
                drawn.append(torch.multinomial(column, count, replacement=True, generator=generator).double())
                continue
            share = torch.rand(count, generator=generator, dtype=torch.float64)
            if len(column):
                low, high = (_normal_share(edge, column) for edge in (variable.low, variable.high))
                share = torch.special.ndtri((low + share * (high - low)).clamp(1e-12, 1 - 1e-12))
                drawn.append((column[0] + column[1] * share).clamp(variable.low, variable.high))
            else:
                drawn.append(variable.low + share * (variable.high - variable.low))
        return torch.stack(drawn, dim=1)

    def log_prob(self, points: Tensor) -> Tensor:
        """The same; a cell that is NaN was not observed and counts nothing."""
        total = points.new_zeros(len(points), dtype=torch.float64)
        for position, (variable, column) in enumerate(zip(self.world.variables.values(), self.columns, strict=True)):
            values = points[:, position]
            if not isinstance(variable, Real):
                part = (column / column.sum()).log()[values.nan_to_num().long()]
            elif len(column):
                low, high = (_normal_share(edge, column) for edge in (variable.low, variable.high))
                z = (values - column[0]) / column[1]
                part = -0.5 * z**2 - math.log(math.sqrt(2 * math.pi)) - (column[1] * (high - low)).log()
            else:
                part = torch.full_like(values, -math.log(variable.high - variable.low))
            total += part.masked_fill(values.isnan(), 0.0)
        return total

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        drawn = self.sample(len(codes) * count, generator).view(len(codes), count, -1)
        return torch.where(codes[:, None].isnan(), drawn, codes[:, None])

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        return {"prior": "independent"}, {str(i): column for i, column in enumerate(self.columns)}

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Independent:
        world = parts.context["world"]
        return cls(world, [parts.tensors.get(str(i), torch.zeros(0)) for i in range(len(world))])


def uniform(world: World) -> Independent:
    """Nothing is known: every value is as likely as any other."""
    return Independent(world, [torch.ones(variable.size or 0) for variable in world.variables.values()])


def marginals(table: Table) -> Independent:
    """Every column as often as it is seen, and independent of the others."""
    columns = []
    for position, variable in enumerate(table.world.variables.values()):
        seen = table.codes[:, position]
        seen = seen[~seen.isnan()]
        if isinstance(variable, Real):
            spread = seen.std() if len(seen) > 1 and seen.std() > 0 else torch.tensor(variable.high - variable.low)
            columns.append(torch.stack([seen.mean(), spread]) if len(seen) else seen)
        else:
            columns.append(torch.bincount(seen.long(), minlength=variable.size).double() + SMOOTHING)
    return Independent(table.world, columns)


def _normal_share(edge: float, column: Tensor) -> Tensor:
    share: Tensor = torch.special.ndtr((edge - column[0]) / column[1])
    return share
