"""A tree of columns: each depends on one other (Chow and Liu 1968), and all sums over it are exact.

P(x) = product over columns i of P(x_i | x_parent(i)). What is known of a row is its evidence, a weight for each state
of each column: one state for a cell that was observed, all for a hole, a share for what a condition allows. Messages
from the leaves to the root sum over everything at once, for many rows side by side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.priors.columns import ROUNDING, pick

SCALED = 12  # columns after which weights are scaled again
TINIEST = 1e-300  # what a scale is at least
TOGETHER = 30  # rows that show two columns together, before one may depend on the other


@dataclass(frozen=True)
class Tree:
    """Columns in an order in which parents stand first; the parent of each, itself for a root; P(state | parent's)."""

    order: Tensor  # (columns,)
    parent: Tensor  # (columns,)
    table: Tensor  # (columns, states of the parent, states); for a root all rows are alike

    def check(self, valid: Tensor) -> None:
        """Raise an error unless this is a tree of columns with these states (columns, states), and all sums are 1."""
        columns, most = valid.shape
        if self.table.shape != (columns, most, most) or not self.order.shape == self.parent.shape == (columns,):
            raise NbrError(f"a tree of {columns} columns and {most} states has parts of other shapes")
        place = torch.full((columns,), -1)
        if torch.equal(self.order.sort().values, torch.arange(columns)):
            place[self.order] = torch.arange(columns)
        within = bool(((self.parent >= 0) & (self.parent < columns)).all())
        own = torch.arange(columns)
        if not within or not bool(((place[self.parent] < place) | (self.parent == own)).all()) or int(place.min()) < 0:
            raise NbrError("in a tree of columns the parent of each stands before it")
        above = valid[self.parent] | (self.parent == own)[:, None]  # a root has alike rows for all states
        off = (self.table.sum(dim=2) - 1).abs()[above]
        outside = self.table.masked_select(~valid[:, None, :].expand_as(self.table))
        if not bool((self.table >= 0).all()) or not bool((off < ROUNDING).all()) or bool((outside != 0).any()):
            raise NbrError("the chances of a column's states in a tree sum to 1, whatever its parent's state")

    def log_complete(self, states: Tensor) -> Tensor:
        """The log probability of rows without holes, by looking up."""
        columns, most = self.table.shape[:2]
        places = (torch.arange(columns) * most + states[:, self.parent]) * most + states
        return self._logs.take(places).sum(dim=1)

    @cached_property
    def _logs(self) -> Tensor:
        return self.table.log()

    def gather(self, evidence: Tensor) -> tuple[Tensor, Tensor]:
        """Messages from the leaves up: for each column the weight of its states by all below it, and the log total.

        Weights are scaled to at most 1 after every few columns, so that many do not underflow.
        """
        weights, total = self._gathered(evidence)
        return weights.permute(2, 0, 1), total

    def _gathered(self, evidence: Tensor) -> tuple[Tensor, Tensor]:
        """The same as (columns, states, rows): rows last, where they lie side by side."""
        weights, total = evidence.permute(1, 2, 0).contiguous(), evidence.new_zeros(len(evidence))
        if weights.data_ptr() == evidence.data_ptr():
            weights = weights.clone()
        parents, below = self.parent.tolist(), [1] * len(self.parent)  # columns since weights were scaled
        for column in self.order.flip(0).tolist():
            parent = parents[column]
            if parent == column:
                total += (self.table[column, 0] @ weights[column]).log()
                continue
            weights[parent] *= self.table[column] @ weights[column]
            below[parent] += below[column]
            if below[parent] >= SCALED:
                most = weights[parent].amax(dim=0)
                most = torch.where(most > 0, most, 1.0)
                weights[parent] /= most
                total += most.log()
                below[parent] = 1
        return weights, total

    def draw(self, weights: Tensor, generator: torch.Generator) -> Tensor:
        """States of all columns, from the root down, given the weights that `gather` found: (rows, columns)."""
        states = torch.zeros(weights.shape[:2], dtype=torch.long)
        for column in self.order.tolist():
            chance = self.table[column, states[:, self.parent[column]]] * weights[:, column]
            states[:, column] = pick(chance, generator)
        return states

    def redraw(self, states: Tensor, columns: Tensor, generator: torch.Generator) -> Tensor:
        """Rows of states with some columns drawn anew given all others: only what is near these is looked at."""
        order, parents, hidden = self.order.tolist(), self.parent.tolist(), columns.tolist()
        states = states.clone()
        weights = {column: states.new_ones(len(states), self.table.shape[2], dtype=torch.float64) for column in hidden}
        for column in reversed(order):
            parent = parents[column]
            if parent == column or parent not in weights:
                continue
            known = self.table[column].T[states[:, column]] if column not in weights else None
            joined = weights[parent] * (weights[column] @ self.table[column].T if known is None else known)
            weights[parent] = joined / joined.amax(dim=1, keepdim=True).clamp(min=TINIEST)
        for column in order:
            if column in weights:
                chance = self.table[column, states[:, parents[column]]] * weights[column]
                states[:, column] = pick(chance, generator)
        return states

    def draw_alike(self, weights: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """So many rows of states, all given the same weights (columns, states): as `draw`, and much faster."""
        columns, most = weights.shape
        chance = self.table * weights[:, None, :]
        ends = chance.cumsum(dim=2)
        ends = ends / ends[:, :, -1:]
        last = most - 1 - (chance.flip(2) > 0).double().argmax(dim=2)
        ends = ends.masked_fill(torch.arange(most) >= last[:, :, None], torch.inf)  # rounding must not reach beyond
        share = torch.rand(columns, count, generator=generator, dtype=torch.float64)
        states = torch.zeros(columns, count, dtype=torch.long)
        for column, parent in zip(self.order.tolist(), self.parent[self.order].tolist(), strict=True):
            states[column] = (share[column] >= ends[column, :, :-1].T[:, states[parent]]).sum(dim=0)
        return states.T

    def counts(self, evidence: Tensor, rows: Tensor) -> Tensor:
        """How often each pair of states of parent and column is expected, rows weighted: as `table` in shape."""
        weights, _ = self._gathered(evidence)
        found = torch.zeros_like(self.table)
        belief = torch.zeros_like(weights)  # the posterior of every column
        for column in self.order.tolist():
            parent, table = int(self.parent[column]), self.table[column]
            if parent == column:
                belief[column] = _normal(weights[column] * table[0][:, None])
                found[column] = belief[column] @ rows
                continue
            message = table @ weights[column]
            above = torch.where(message > 0, belief[parent] / message, 0.0)
            found[column] = table * ((above * rows) @ weights[column].T)
            belief[column] = _normal((table.T @ above) * weights[column])
        return found


def _normal(weights: Tensor) -> Tensor:
    total = weights.sum(dim=0)
    return weights / torch.where(total > 0, total, 1.0)


def information(pairs: np.ndarray, member: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """What each column tells of each other, in nats, less what chance would seem to tell (the BIC): (columns, columns).

    `pairs` counts how often two states occur together, (states, states), over the states of all columns in a row;
    `member` tells whose they are, (states, columns). Only rows that show both columns count. Minus infinity where
    fewer than 30 rows do.
    """
    rows = member.T @ pairs @ member
    joint = member.T @ _plog(pairs) @ member
    own = member.T @ _plog(pairs @ member)
    with np.errstate(divide="ignore", invalid="ignore"):
        told = (joint - own - own.T + _plog(rows)) / rows
        cost = np.log(rows) * np.outer(sizes - 1, sizes - 1) / 2 / rows
    gain: np.ndarray = np.where(rows >= TOGETHER, told - cost, -math.inf)
    return gain


def _plog(counts: np.ndarray) -> np.ndarray:
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def spanning(gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The forest with the largest sum of gains, all above 0 (Prim): an order, parents first, and each one's parent."""
    count = len(gain)
    left, parent, best = np.ones(count, dtype=bool), np.arange(count), np.zeros(count)
    order = []
    for _ in range(count):
        at = int(np.argmax(np.where(left, best, -1.0)))
        order.append(at)
        left[at] = False
        closer = left & (gain[at] > best)
        best[closer], parent[closer] = gain[at, closer], at
    return np.array(order), parent
