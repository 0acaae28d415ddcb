"""Columns as a few classes each, and the literals that short clauses are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nbr.density import Classes, allowed_values, crossed_points
from nbr.errors import NbrError
from nbr.language import Atom, Expression, Not, compares_numbers
from nbr.priors import Prior
from nbr.tables import Table
from nbr.world import Variable, World

LABELS = 12  # of a choice that literals speak of, the most frequent first
CUTS = 7  # of a number: so many quantiles
CELLS = 1 << 20  # combinations of classes that one rule may read


@dataclass(frozen=True)
class Literal:
    """What a pattern asks of one column: the classes, and the statement that denies it."""

    column: int
    mask: np.ndarray  # over the classes of the column
    statement: Expression
    denial: Expression


@dataclass(frozen=True)
class Broken:
    """Where a rule does not hold, as a table over the classes of the columns it reads."""

    columns: tuple[int, ...]
    strides: tuple[int, ...]
    table: np.ndarray

    def at(self, codes: np.ndarray) -> np.ndarray:
        """Whether it is broken at points, told as (columns, points)."""
        found: np.ndarray = self.table[self.number(codes)]
        return found

    def number(self, codes: np.ndarray, without: int = -1) -> np.ndarray:
        """The place of each point in the table, one column left at its first class."""
        parts = [codes[at] * stride for at, stride in zip(self.columns, self.strides, strict=True) if at != without]
        total = np.zeros(codes.shape[1], dtype=np.int32)
        for part in parts:
            total += part
        return total


@dataclass(frozen=True)
class Coarse:
    """All columns of a world, each with classes that neither rules nor literals look into."""

    world: World
    columns: tuple[Classes, ...]
    literals: tuple[Literal, ...]

    @classmethod
    def of(cls, table: Table, statements: Sequence[Expression], literals: bool) -> Coarse:
        """The classes that statements tell apart, and literals of every column that has two values or more."""
        for statement in statements:
            if compares_numbers([statement]):
                raise NbrError(f"beliefs of rules that compare numbers with each other are not learned: {statement}")
        columns, found = [], []
        for at, (name, variable) in enumerate(table.world.variables.items()):
            atoms = _atoms(name, variable, table.codes[:, at]) if literals else []
            mine = [atom for each in statements for atom in each.atoms() if atom.name == name]
            classes = Classes.of(table.world, [name], [*mine, *atoms] or [_anything(name, variable)])
            columns.append(classes)
            truths = [atom.holds_among(table.world, classes.values[0]).numpy() for atom in atoms]
            found += [each for atom, mask in zip(atoms, truths, strict=True) for each in _both(at, atom, mask)]
        return cls(table.world, tuple(columns), tuple(found))

    @property
    def sizes(self) -> list[int]:
        return [column.count for column in self.columns]

    def find(self, codes: Tensor) -> np.ndarray:
        """The class of every cell, -1 where it is not observed or not known: (columns, rows)."""
        outside = self.world.outside(codes).numpy()
        found = np.empty((codes.shape[1], len(codes)), dtype=np.int16)
        for at, (column, variable) in enumerate(zip(self.columns, self.world.variables.values(), strict=True)):
            hole = codes[:, at].isnan().numpy() | (outside[:, at] & (not variable.numeric))
            filled = codes.clone()
            filled[:, at] = torch.where(torch.from_numpy(hole), column.values[0][0], codes[:, at])
            found[at] = np.where(hole, -1, column.find(filled).numpy())
        return found

    def masses(self, prior: Prior) -> list[np.ndarray] | None:
        """The probability of each class of each column under a prior; None if it does not know."""
        if prior.log_mass({}) is None:
            return None
        return [self._mass(prior, at) for at in range(len(self.columns))]

    def broken(self, statement: Expression) -> Broken:
        """Where a statement does not hold."""
        names = [name for name in self.world.names if name in statement.names()]
        at = [self.world.column(name) for name in names]
        sizes = [self.columns[column].count for column in at]
        if math.prod(sizes) > CELLS:
            raise NbrError(
                f"the rule {str(statement)!r} reads too many combinations of values to learn a belief for it"
            )
        points = crossed_points(
            self.world, torch.zeros(1, len(self.world), dtype=torch.float64), [self.columns[i] for i in at]
        )
        return Broken(tuple(at), _strides(sizes), ~statement.holds(self.world, points).numpy())

    def pattern(self, literals: Sequence[int]) -> Broken:
        """Where several literals of different columns hold together, and so their clause does not."""
        chosen = sorted((self.literals[each] for each in literals), key=lambda each: each.column)
        table = np.ones(1, dtype=bool)
        for each in chosen:
            table = np.logical_and.outer(table, each.mask).ravel()
        at = tuple(each.column for each in chosen)
        return Broken(at, _strides([self.columns[column].count for column in at]), table)

    def _mass(self, prior: Prior, at: int) -> np.ndarray:
        column, name = self.columns[at], self.world.names[at]
        variable = self.world.variables[name]
        found = []
        for value in column.values[0].tolist():
            if column.atoms[0]:
                here = torch.tensor([value], dtype=torch.float64)
                parts = [atom if bool(atom.holds_among(self.world, here)) else Not(atom) for atom in _told(column)]
                inside = allowed_values(self.world, name, parts)
            else:
                inside = torch.arange(variable.size or 0) == value
            found.append(math.exp(prior.log_mass({name: inside}) or 0.0))
        return np.array(found) / math.fsum(found)


def _told(column: Classes) -> list[Atom]:
    return [atom for atom in column.atoms[0] if isinstance(atom, Atom)]


def _strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The last counts fastest."""
    return tuple(math.prod(sizes[at + 1 :]) for at in range(len(sizes)))


def _anything(name: str, variable: Variable) -> Atom:
    """A statement that tells no two values of a column apart, for columns that no rule reads."""
    if not variable.numeric:
        return Atom(name, "in", variable.labels)
    return Atom(name, ">=", (variable.show(variable.low) if variable.unit else repr(variable.low),))


def _atoms(name: str, variable: Variable, codes: Tensor) -> list[Atom]:
    """What literals say of a column, without those that deny it."""
    seen = codes[~codes.isnan()].numpy()
    if variable.boolean:
        return [Atom(name)]
    if not variable.numeric:
        often = np.bincount(seen[seen >= 0].astype(int), minlength=len(variable.labels))
        order = np.argsort(-often, kind="stable")[: 1 if len(variable.labels) == 2 else LABELS]
        return [Atom(name, "=", (variable.labels[label],)) for label in order] if len(variable.labels) > 1 else []
    if not len(seen):
        return []
    cuts = np.unique(np.quantile(seen, np.arange(1, CUTS + 1) / (CUTS + 1), method="higher"))
    words = [variable.show(cut) for cut in cuts if cut > variable.low]
    kept = [word for word in dict.fromkeys(words) if variable.low < variable.code(word) <= variable.high]
    return [Atom(name, ">=", (word,)) for word in kept]


def _both(column: int, atom: Atom, mask: np.ndarray) -> list[Literal]:
    opposite = {">=": "<", "=": "!="}
    other: Expression = Atom(atom.name, opposite[atom.operator], atom.values) if atom.operator else Not(atom)
    return [Literal(column, mask, atom, other), Literal(column, ~mask, other, atom)]
