"""Rows that count differently: survey weights, and how often each row was seen.

A survey's weights say for how many others a row stands. Rows of unequal weights are worth fewer of equal ones,
(sum of w)^2 / (sum of w^2) of them (Kish), and so many are drawn, each as often as its weight asks for: systematic
sampling, in which no row comes more than one time too often or too seldom.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from nbr.errors import NbrError
from nbr.tables.table import Table
from nbr.world import World

OFTEN = 100  # times that a whole number may say a row was seen


def weighed(table: Table, column: str, seed: int = 0) -> Table:
    """The rows of a table drawn by a column of weights, which is no variable any more.

    Args:
        table: with the column, read as a number
        column: weights from 0 on; a row without one is left out
        seed: decides which rows stand for a fraction of one
    """
    at = table.world.column(column)
    if not table.world.variables[column].numeric:
        raise NbrError(f"column {column!r} cannot be a column of weights: it contains text")
    if table.counts is not None:
        raise NbrError("a table whose rows are already counted does not take weights")
    world = World({name: variable for name, variable in table.world.variables.items() if name != column})
    rest = [place for place in range(len(table.world)) if place != at]
    weights = table.codes[:, at].nan_to_num(0.0)
    told = tuple(note for note in table.notes if not note.startswith(f"{column}:"))
    drawn = _drawn(Table(world, table.codes[:, rest], told), weights, f"column {column!r}", seed)
    note = f"{column}: weights; {len(table):,} rows are worth {len(drawn):,} of equal weight, which were drawn"
    return Table(world, drawn.codes, (*told, note))


def repeated(table: Table, weights: ArrayLike, seed: int = 0) -> Table:
    """Rows as often as they count: whole numbers as they stand, others as `weighed` has them."""
    given = torch.from_numpy(np.asarray(weights, dtype=np.float64).copy())
    if given.dim() != 1 or len(given) != len(table):
        raise NbrError(f"sample weights are one for each of {len(table)} rows, not of shape {tuple(given.shape)}")
    if bool(((given == given.round()) & (given >= 0) & (given <= OFTEN)).all()) and bool((given > 0).any()):
        return table.part(torch.arange(len(table)).repeat_interleave(given.long()))
    return _drawn(table, given, "the sample weights", seed)


def _drawn(table: Table, weights: Tensor, what: str, seed: int) -> Table:
    if not bool((weights.isfinite() & (weights >= 0)).all()) or not bool((weights > 0).any()):
        raise NbrError(f"{what}: weights must be numbers of at least 0, not all of them zero")
    worth = int((weights.sum() ** 2 / (weights**2).sum()).round())
    ends = (weights / weights.sum() * worth).cumsum(0) + np.random.default_rng(seed).random()
    counts = torch.diff(ends.floor(), prepend=torch.zeros(1, dtype=torch.float64)).long()
    return table.part(torch.arange(len(table)).repeat_interleave(counts))
