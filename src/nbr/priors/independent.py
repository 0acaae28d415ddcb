"""Every variable on its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors import columns as coding
from nbr.priors import numbers
from nbr.priors.base import Curve, Factor, Prior
from nbr.priors.columns import Allowed, Column
from nbr.priors.normal import Normal
from nbr.tables import Table
from nbr.world import Variable, World


@registry.kind("prior", "independent")
class Independent(Prior):
    """Independent variables: weights for bits and choices; for reals a uniform, normal or tabulated distribution.

    Args:
        world: The variables.
        columns: For each variable in order the weights of its values, shape (values,); for a real an empty tensor
            (uniform), a mean and a standard deviation (normal within its bounds), or a table of `numbers`.
    """

    def __init__(self, world: World, columns: Sequence[Tensor]) -> None:
        super().__init__(world)
        self.columns = tuple(torch.as_tensor(column, dtype=torch.float64) for column in columns)
        self._each = []
        for (name, variable), column in zip(world.variables.items(), self.columns, strict=True):
            flat = column.dim() == 1 and len(column) in (0, 2)
            fits = flat or column.dim() == 2 if variable.numeric else _weighs(column, variable)
            if not fits or not bool(column[~column.isnan()].isfinite().all()):
                raise NbrError(f"the prior of {name!r} does not fit: {column.tolist()!r:.200}")
            try:
                self._each.append(_single(variable, column))
            except NbrError as error:
                raise NbrError(f"the prior of {name!r}: {error}") from None

    @property
    def independent(self) -> tuple[Tensor, ...]:
        return self.columns

    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        return self.sample_within({}, count, generator)

    def log_prob(self, points: Tensor) -> Tensor:
        """The same; a cell that is NaN was not observed and counts nothing."""
        total = points.new_zeros(len(points), dtype=torch.float64)
        for position, column in enumerate(self._each):
            total += column.locate(points[:, position])[1]
        return total

    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        drawn = self.sample(len(codes) * count, generator).view(len(codes), count, -1)
        return torch.where(codes[:, None].isnan(), drawn, codes[:, None])

    def pieces(self, at: int, values: Tensor) -> Tensor:
        return torch.zeros(len(values), dtype=torch.long)  # no other variable changes what a value is

    def log_alike(self, points: Tensor) -> Tensor:
        numbers = torch.tensor([variable.numeric for variable in self.world.variables.values()])
        return self.log_prob(points.masked_fill(numbers, torch.nan))

    def log_mass(self, allowed: Mapping[str, Allowed]) -> float:
        each = dict(zip(self.world.names, self._each, strict=True))
        masses = [float((each[name].mass * each[name].admits(values)).sum()) for name, values in allowed.items()]
        return sum(math.log(mass) if mass > 0 else -math.inf for mass in masses)

    def sample_within(self, allowed: Mapping[str, Allowed], count: int, generator: torch.Generator) -> Tensor:
        if self.log_mass(allowed) == -math.inf:
            raise NbrError("nothing can be drawn: no point of the prior meets the condition")
        alone = torch.zeros(count, dtype=torch.long)
        named = zip(self.world.names, self._each, strict=True)
        return torch.stack([column.draw(alone, generator, allowed.get(name)) for name, column in named], dim=1)

    def factors(self, values: Mapping[str, Sequence[Allowed]]) -> list[Factor]:
        """One for each variable: the mass of each of its values."""
        found: list[Factor] = []
        for name, column in zip(self.world.names, self._each, strict=True):
            masses = torch.stack([(column.mass * column.admits(each)).sum() for each in values[name]])
            found.append(((name,), masses / masses.sum()))
        return found

    def curve(self, name: str) -> Curve | None:
        column = self._each[self.world.column(name)]
        edges = column.edges
        return None if edges is None else Curve(edges, lambda at: column.locate(at)[1].exp(), column.below)

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        return {"prior": "independent"}, {str(i): column for i, column in enumerate(self.columns)}

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Independent:
        world = parts.context["world"]
        return cls(world, [parts.tensors.get(str(i), torch.zeros(0)) for i in range(len(world))])


def uniform(world: World) -> Independent:
    """Every point is equally likely.

    Args:
        world: The variables.
    """
    sizes = [len(variable.labels) for variable in world.variables.values()]
    return Independent(world, [torch.ones(size) for size in sizes])


def marginals(table: Table) -> Independent:
    """Independent columns with the frequencies of a table.

    Args:
        table: The table, as read by `nbr.tables.read`.
    """
    columns = []
    for position, variable in enumerate(table.world.variables.values()):
        seen = table.codes[:, position]
        seen = seen[~seen.isnan()]
        if variable.numeric:
            columns.append(numbers.learn(seen, variable).packed() if len(seen) else seen)
        else:
            columns.append(coding.counts(seen, len(variable.labels)))
    return Independent(table.world, columns)


def product(variable: Variable, one: Tensor, other: Tensor) -> Tensor:
    """The product of two distributions of a number, on the cells of both; an atom of either stays one."""
    both = [_single(variable, column) for column in (one, other)]
    tables = [column.numbers for column in both if isinstance(column, Column) and column.numbers is not None]
    edges = torch.unique(torch.cat([table.cells[:, :2].flatten() for table in tables]))
    centre = (edges[1:] + edges[:-1]) / 2
    atoms = torch.full_like(centre, math.nan)
    for table in tables:
        known = table.cells[:, 2][~table.cells[:, 2].isnan()]
        atoms[torch.searchsorted(edges[1:-1].contiguous(), known, right=True)] = known
    grain = min(table.grain for table in tables)
    density = sum(column.locate(torch.where(atoms.isnan(), centre, atoms))[1] for column in both)
    assert isinstance(density, Tensor)
    mass = torch.where(atoms.isnan(), edges.diff(), grain) * density.exp()
    cells = torch.stack([edges[:-1], edges[1:], atoms, mass / mass.sum()], dim=1)
    ends = torch.tensor([numbers.BLIND] * 2, dtype=torch.float64) * cells[[0, -1], 3]
    return numbers.NumberCells(variable, cells, ends, min(table.step for table in tables), grain).packed()


def _weighs(column: Tensor, variable: Variable) -> bool:
    return column.shape == (variable.size,) and bool((column >= 0).all()) and 0 < float(column.sum()) < math.inf


def _single(variable: Variable, column: Tensor) -> Column | Normal:
    """A column of one state: all that it holds is alike to the others."""
    if not variable.numeric:
        return Column(variable, torch.zeros(len(column), dtype=torch.long), column / column.sum(), None)
    if len(column) == 2 and column.dim() == 1:
        return Normal(variable, float(column[0]), float(column[1]))
    known = numbers.NumberCells.unpacked(variable, column) if len(column) else numbers.learn(column, variable)
    return Column(variable, torch.zeros(len(known.cells), dtype=torch.long), known.mass, known)
