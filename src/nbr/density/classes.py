"""Values of variables in classes that no statement tells apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.density.conditions import spots
from nbr.language import Expression
from nbr.world import World


@dataclass(frozen=True)
class Classes:
    """Values of some variables in classes that no statement tells apart."""

    world: World
    columns: tuple[int, ...]
    atoms: tuple[tuple[Expression, ...], ...]  # for each column, what tells its values apart; nothing: all are
    values: tuple[Tensor, ...]  # for each column, one value of each class
    keys: tuple[Tensor, ...]

    @classmethod
    def of(cls, world: World, names: Sequence[str], statements: Sequence[Expression] | None) -> Classes:
        atoms, values, keys = [], [], []
        for name in names:
            mine = () if statements is None else _atoms(name, statements)
            each = _values(world, name, mine)
            key, first = _first(_key(world, name, mine, each))
            atoms.append(mine)
            values.append(each[first])
            keys.append(key)
        return cls(world, tuple(map(world.column, names)), tuple(atoms), tuple(values), tuple(keys))

    @property
    def count(self) -> int:
        return math.prod(len(each) for each in self.values)

    def find(self, points: Tensor) -> Tensor:
        """The class of each point, a number below `count`."""
        found = torch.zeros(len(points), dtype=torch.long)
        for column, atoms, key in zip(self.columns, self.atoms, self.keys, strict=True):
            mine = _key(self.world, self.world.names[column], atoms, points[:, column])
            found = found * len(key) + torch.searchsorted(key, mine.contiguous())
        return found


def _values(world: World, name: str, atoms: Sequence[Expression]) -> Tensor:
    variable = world.variables[name]
    if not atoms and variable.numeric and variable.size is not None:  # a count, each value for itself
        return variable.low + variable.step * torch.arange(variable.size, dtype=torch.float64)
    return spots(world, name, atoms)


def _atoms(name: str, statements: Sequence[Expression]) -> tuple[Expression, ...]:
    return tuple(dict.fromkeys(atom for each in statements for atom in each.atoms() if atom.name == name))


def _key(world: World, name: str, atoms: Sequence[Expression], values: Tensor) -> Tensor:
    """A number for each value, the same for those that no atom tells apart."""
    if not atoms:
        return values
    points = torch.zeros(len(values), len(world), dtype=torch.float64)
    points[:, world.column(name)] = values
    key = torch.zeros(len(values), dtype=torch.float64)
    for power, atom in enumerate(atoms):
        key += atom.holds(world, points).double() * 2.0**power
    return key


def _first(keys: Tensor) -> tuple[Tensor, Tensor]:
    """Distinct keys in order, and where each stands first."""
    distinct, back = torch.unique(keys, return_inverse=True)
    first = torch.full((len(distinct),), len(keys)).scatter_reduce(0, back, torch.arange(len(keys)), "amin")
    return distinct, first


def number_of(parts: Sequence[Classes], points: Tensor) -> Tensor:
    """The combination of classes that each point is in."""
    found = torch.zeros(len(points), dtype=torch.long)
    for part in parts:
        found = found * part.count + part.find(points)
    return found


def crossed_points(world: World, points: Tensor, sides: Sequence[Classes]) -> Tensor:
    """Each point with every combination of the classes of some variables, the last counting fastest."""
    for side in sides:
        for column, values in zip(side.columns, side.values, strict=True):
            points = points.repeat_interleave(len(values), dim=0)
            points[:, column] = values.repeat(len(points) // len(values))
    return points
