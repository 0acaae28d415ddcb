"""Columns that are one variable: which values they take together, and what is left for rows that break the pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors import columns as coding
from nbr.priors.base import HIDDEN
from nbr.priors.columns import distributed, pick
from nbr.tables import Table
from nbr.world import Choice, Variable, World

MOST = 48  # labels that a group may have
BROKEN = 0.5  # rows that a group has beside its own as such that break its pattern


@dataclass(frozen=True)
class ColumnGroup:
    """Columns, the combinations of their values that rows show (labels), and each column by itself (another label).

    A row of the last label has its columns each on its own, so that no combination is impossible.
    """

    columns: tuple[int, ...]  # places in the world
    patterns: Tensor  # (patterns, columns), codes
    alone: tuple[Tensor, ...]  # for each column how likely each of its values is, where no pattern holds

    def __post_init__(self) -> None:
        shape, count = self.patterns.shape, len(self.columns)
        if len(shape) != 2 or not shape[0] or not shape[1] == len(self.alone) == count > 1:
            raise NbrError("columns that are one variable are at least two, with the values that they take together")
        for values, chance in zip(self.patterns.unbind(dim=1), self.alone, strict=True):
            fits = (values >= 0) & (values < len(chance)) & (values == values.round())
            if not bool(fits.all()) or not distributed(chance) or not bool((chance > 0).all()):
                raise NbrError("columns that are one variable have values and shares that do not fit their kinds")

    @property
    def size(self) -> int:
        """Labels: a pattern each, and one for rows that meet none."""
        return len(self.patterns) + 1

    @cached_property
    def given(self) -> tuple[Tensor, ...]:
        """How likely each value of each column is, given the label: (labels, values) each."""
        return tuple(
            torch.cat([torch.nn.functional.one_hot(values.long(), len(chance)).double(), chance[None]])
            for values, chance in zip(self.patterns.unbind(dim=1), self.alone, strict=True)
        )

    def labels(self, codes: Tensor) -> Tensor:
        """The label of each row, NaN where holes leave several: (rows,). For learning; `weigh` is exact."""
        mine = codes[:, self.columns]
        found = torch.full((len(mine),), float(len(self.patterns)), dtype=torch.float64)
        meets = torch.zeros(len(mine))
        for number, pattern in enumerate(self.patterns):
            fits = ((mine == pattern) | mine.isnan()).all(dim=1)
            found[fits] = number
            meets += fits
        holes = mine.isnan().any(dim=1)
        found[holes & (meets != 1)] = torch.nan
        return found

    def weigh(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """How likely what is seen of each row is, given the label, (rows, labels); how many cells are no value."""
        total = torch.ones(len(codes), self.size, dtype=torch.float64)
        strange = torch.zeros(len(codes), dtype=torch.float64)
        for at, chance in zip(self.columns, self.given, strict=True):
            seen = codes[:, at]
            known = (seen >= 0) & (seen < chance.shape[1])
            total[known] *= chance.T[seen[known].long()]
            strange += ~known & ~seen.isnan()
        return total, strange

    def admits(self, masks: Mapping[int, Tensor]) -> Tensor:
        """The share of each label that single columns allow: (labels,)."""
        total = torch.ones(self.size, dtype=torch.float64)
        for at, chance in zip(self.columns, self.given, strict=True):
            if at in masks:
                total *= chance @ masks[at].double()
        return total

    def draw(self, labels: Tensor, masks: Mapping[int, Tensor], generator: torch.Generator) -> Tensor:
        """Values of the columns, given labels; only allowed ones: (rows, columns)."""
        broken = labels == len(self.patterns)
        found = self.patterns[torch.where(broken, 0, labels)]
        count = int(broken.sum())
        for place, (at, chance) in enumerate(zip(self.columns, self.alone, strict=True)):
            weights = chance * masks[at].double() if at in masks else chance
            if count:
                found[broken, place] = pick(weights.expand(count, -1), generator).double()
        return found

    def spec(self, world: World) -> tuple[registry.Spec, registry.Tensors]:
        alone = {f"alone.{place}": chance for place, chance in enumerate(self.alone)}
        return {"columns": [world.names[at] for at in self.columns]}, {"patterns": self.patterns} | alone

    @classmethod
    def from_spec(cls, world: World, spec: registry.Spec, parts: registry.Parts) -> ColumnGroup:
        names = spec["columns"]
        columns = tuple(world.column(name) for name in names)
        alone = tuple(parts.tensors[f"alone.{place}"].double() for place in range(len(columns)))
        variables = list(world.variables.values())
        if any(len(chance) != discrete(variables[at]) for at, chance in zip(columns, alone, strict=True)):
            raise NbrError("columns that are one variable do not have the number of values that the world states")
        return cls(columns, parts.tensors["patterns"].double(), alone)


def discrete(variable: Variable) -> int:
    """How many values a bit or a choice has; 0 for a number."""
    return variable.size or 0


def learn(table: Table, columns: Sequence[int]) -> ColumnGroup | None:
    """The group of some columns as rows without holes show it; None where they take too many values together."""
    mine = table.codes[:, list(columns)]
    whole = mine[((mine >= 0) & ~mine.isnan()).all(dim=1)]
    if not len(whole):
        return None
    patterns = torch.unique(whole, dim=0).flip(0)  # of dummies the first label is the first column
    if len(patterns) >= MOST:
        return None
    variables = list(table.world.variables.values())
    alone = []
    for at in columns:
        seen = table.codes[:, at]
        weights = coding.counts(seen[~seen.isnan()], discrete(variables[at]))
        alone.append(weights / weights.sum())
    return ColumnGroup(tuple(columns), patterns, tuple(alone))


def grouped_world(world: World, groups: Sequence[ColumnGroup]) -> World:
    """The columns that stand alone, as they are, then a choice for each group."""
    inside = {at for group in groups for at in group.columns}
    found: dict[str, Variable] = {
        name: variable for at, (name, variable) in enumerate(world.variables.items()) if at not in inside
    }
    for number, group in enumerate(groups):
        found[f"{HIDDEN}{number}"] = Choice(*range(group.size))
    return World(found)


def grouped(table: Table, groups: Sequence[ColumnGroup]) -> Table:
    """A table in which columns that are one variable are one column."""
    inside = {at for group in groups for at in group.columns}
    rest = [at for at in range(len(table.world)) if at not in inside]
    codes = [table.codes[:, at] for at in rest] + [group.labels(table.codes) for group in groups]
    return Table(grouped_world(table.world, groups), torch.stack(codes, dim=1), table.notes, table.counts)
