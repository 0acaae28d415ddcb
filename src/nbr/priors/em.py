"""Mixtures of trees learned from a table with holes, by expectation and maximisation.

Each round weighs the rows by how likely each tree finds them, and then finds for every tree the best one for its rows:
which columns depend on which, from rows that show both, and how strongly, from expected counts. Where numbers are among
them, counts are smoothed towards `curves`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nbr.priors import columns as coding
from nbr.priors.base import HIDDEN
from nbr.priors.columns import Column
from nbr.priors.curves import Scores, told
from nbr.priors.groups import MOST
from nbr.priors.mixture import Trees, locate
from nbr.priors.tree import Tree, information, spanning
from nbr.tables import Table

SMOOTHING = 2.0  # rows that each row of a tree's tables has beside its own, spread as the tree has the column
SHARP = 3.0  # how clearly the rows that trees start from claim the rows near them
CURVES = 60.0  # rows that each row of a tree's tables has beside its own, as `curves` expects them, where numbers are
FOLDED = 3.0  # states a column up to which leaving the last one out is worth the way back
TINY = 1e-7  # of a row: a tree that has no more of it does without
MIXED = 4.0  # rows that a tree's columns have beside its own, spread as all rows have them


def columns(table: Table, states: int) -> list[Column]:
    """The columns of a table, numbers in about so many states; every label of a group is one."""
    return [
        coding.learn(values[~values.isnan()], variable, states, MOST if name.startswith(HIDDEN) else coding.LABELS)
        for values, (name, variable) in zip(table.codes.unbind(dim=1), table.world.variables.items(), strict=True)
    ]


@dataclass(frozen=True)
class StateRows:
    """Distinct rows as states, how often each occurs, and the mean log of what is left within their states."""

    states: Tensor  # (rows, columns); -1 is a hole
    weights: Tensor
    rest: Tensor  # (rows,)

    @classmethod
    def of(cls, columns: Sequence[Column], codes: Tensor) -> StateRows:
        states, score = locate(columns, codes)
        distinct, member, counts = torch.unique(states, dim=0, return_inverse=True, return_counts=True)
        rest = torch.zeros(len(distinct), dtype=torch.float64).index_add(0, member, score) / counts
        return cls(distinct, counts.double(), rest)

    def scores(self, model: Trees) -> Tensor:
        """The log-likelihood of each distinct row."""
        return model.weigh(self.states).logsumexp(dim=1) + self.rest

    def mean(self, model: Trees) -> float:
        """The mean log-likelihood of a row."""
        return float(self.weights @ self.scores(model) / self.weights.sum())


class TreeLearner:
    """Holds what the rounds share: the columns, the rows as states and as indicators."""

    def __init__(self, table: Table, columns: Sequence[Column]) -> None:
        self.world, self.columns = table.world, list(columns)
        self.rows = StateRows.of(self.columns, table.codes)
        self.valid = coding.pad(self.columns)  # (columns, states): which there are
        hidden = np.array([name.startswith(HIDDEN) for name in table.world.names])
        self.sizes = self.valid.sum(axis=1) - hidden  # a group has one more label, for rows that break its pattern
        self.flat = np.flatnonzero(self.valid)  # all states of all columns in one row
        owner = self.flat // self.valid.shape[1]
        self.member = (owner[:, None] == np.arange(len(self.columns))).astype(np.float64)
        seen = torch.nn.functional.one_hot(self.rows.states.clamp(min=0), self.valid.shape[1]).bool()
        seen &= (self.rows.states >= 0)[:, :, None]
        self.seen = seen.flatten(1)[:, torch.from_numpy(self.flat)].float()  # (rows, states of all columns)
        self.complete = bool((self.rows.states >= 0).all())
        self._narrow = self._last_states()
        self.scores = Scores.of(self.columns, self.valid.shape[1])
        self.whole = self._marginals(self._pairs(self.rows.weights), np.full(len(self.flat), 1e-3))

    def start(self, components: int, seed: int) -> Tensor:
        """Shares of each row among the trees, from as many rows picked at random: (rows, components)."""
        if components == 1:
            return torch.ones(len(self.seen), 1, dtype=torch.float64)
        generator = torch.Generator().manual_seed(seed)
        chance = self.rows.weights / self.rows.weights.sum()
        centres = torch.multinomial(chance, components, replacement=len(chance) < components, generator=generator)
        near = (self.seen @ self.seen[centres].T).double()
        spread = near.std(dim=0, correction=0).mean().clamp(min=1e-9)
        return torch.softmax(
            SHARP * near / spread + torch.rand(near.shape, generator=generator, dtype=torch.float64), dim=1
        )

    def begun(self, components: int, seed: int) -> Trees:
        """So many trees before the first round."""
        return self.fitted(self.start(components, seed))

    def alone(self) -> Trees:
        """Every column by itself."""
        one, own = torch.ones(1, dtype=torch.float64), torch.arange(len(self.columns))
        table = torch.from_numpy(self._spread(self.whole))[:, None, :].expand(-1, self.valid.shape[1], -1)
        return Trees(self.world, self.columns, one, [Tree(own, own, table.contiguous())])

    def shares(self, model: Trees, codes: Tensor) -> Tensor:
        """Shares of each row as another mixture has them, whose columns may be cut elsewhere: (rows, components)."""
        mine = torch.unique(locate(self.columns, codes)[0], dim=0, return_inverse=True)[1]
        each = torch.softmax(model.weigh(locate(model.columns, codes)[0]), dim=1)
        total = torch.zeros(len(self.rows.states), each.shape[1], dtype=torch.float64).index_add(0, mine, each)
        return total / self.rows.weights[:, None]

    def improve(self, model: Trees) -> tuple[Trees, float]:
        """One round: a better mixture, and the mean log-likelihood of the one before."""
        scores = model.weigh(self.rows.states)
        total = scores.logsumexp(dim=1)
        mean = float(self.rows.weights @ (total + self.rows.rest) / self.rows.weights.sum())
        return self.fitted((scores - total[:, None]).exp(), model.trees), mean

    def fitted(self, shares: Tensor, before: Sequence[Tree] | None = None) -> Trees:
        """The best trees for rows shared among them; with holes, expected counts are those of the trees before."""
        trees, weighted = [], shares * self.rows.weights[:, None]
        for number, rows in enumerate(weighted.unbind(dim=1)):
            trees.append(self._tree(rows, before[number] if before is not None else None))
        weights = weighted.sum(dim=0) + 1e-3
        return Trees(self.world, self.columns, weights / weights.sum(), trees)

    def _tree(self, rows: Tensor, before: Tree | None) -> Tree:
        pairs = self._pairs(rows)
        order, parent = spanning(self._gain(pairs))
        own = self._marginals(pairs, MIXED * self.whole)
        counts = self._padded(pairs, parent)
        tree = Tree(torch.from_numpy(order), torch.from_numpy(parent), self._table(counts, own, parent))
        if self.complete:
            return tree
        same = before is not None and torch.equal(before.parent, tree.parent) and torch.equal(before.order, tree.order)
        return self._expected(before if same and before is not None else tree, rows, parent)

    def _gain(self, pairs: np.ndarray) -> np.ndarray:
        """What each column tells of each other, by counts or by a curve, whichever is more."""
        gain = information(pairs, self.member, self.sizes)
        if not self.scores.ordered.any():
            return gain
        curves = told(pairs, self.member, self.sizes, self.scores, self.flat)
        together: np.ndarray = np.where(np.isinf(gain), gain, np.maximum(gain, curves))
        return together

    def _last_states(self) -> tuple[Tensor, np.ndarray] | None:
        """Without holes the last state of a column is where no other is: fewer indicators, and how all follow."""
        if not self.complete or self.sizes.mean() > FOLDED:
            return None
        owner = self.member.argmax(axis=1)
        last = np.r_[owner[1:] != owner[:-1], True]
        back = np.zeros((len(owner), int((~last).sum()) + 1))
        back[np.flatnonzero(~last), np.arange((~last).sum())] = 1
        back[last] = -(self.member.T @ back)
        back[last, -1] = 1
        one = torch.ones(len(self.seen), 1)
        return torch.cat([self.seen[:, torch.from_numpy(~last)], one], dim=1), back

    def _pairs(self, rows: Tensor) -> np.ndarray:
        """How often two states occur together among weighted rows: (states of all columns, the same)."""
        seen, back = self._narrow or (self.seen, None)
        mine = rows > TINY * self.rows.weights
        seen, rows = (seen, rows) if mine.all() else (seen[mine], rows[mine])
        pairs = (seen.T @ (seen * rows[:, None].float())).double().numpy()
        return pairs if back is None else (back @ pairs @ back.T).clip(min=0.0)

    def _expected(self, tree: Tree, rows: Tensor, parent: np.ndarray) -> Tree:
        """The maximisation step where rows have holes, by a tree's own expectation of what they hide."""
        found = torch.zeros_like(tree.table)
        model = Trees(self.world, self.columns, torch.ones(1, dtype=torch.float64), [tree])
        mine = rows > TINY * self.rows.weights
        for part, weights in zip(model.split(self.rows.states[mine]), model.split(rows[mine]), strict=True):
            found += tree.counts(model.evidence(part), weights)
        counts = found.numpy()
        shown = counts.sum(axis=1) / np.where(parent == np.arange(len(parent)), counts.shape[1], 1)[:, None]
        own = (shown + MIXED * self._spread(self.whole)) * self.valid
        own = own / own.sum(axis=1, keepdims=True)
        return Tree(tree.order, tree.parent, self._table(counts, own[self.valid], parent))

    def _marginals(self, pairs: np.ndarray, beside: np.ndarray) -> np.ndarray:
        """How likely each state of each column is where pairs occur so often: (states of all columns,)."""
        counts = pairs.diagonal() + beside
        total: np.ndarray = counts / (self.member @ (self.member.T @ counts))
        return total

    def _padded(self, pairs: np.ndarray, parent: np.ndarray) -> np.ndarray:
        """Counts of each column with its parent, as a tree's tables are: (columns, states, states)."""
        columns, most = self.valid.shape
        spread = np.zeros((columns * most, columns * most), dtype=np.float64)
        spread[np.ix_(self.flat, self.flat)] = pairs
        blocks = spread.reshape(columns, most, columns, most)
        found: np.ndarray = blocks[parent, :, np.arange(columns), :]
        return found

    def _table(self, counts: np.ndarray, own: np.ndarray, parent: np.ndarray) -> Tensor:
        """P(state | parent's state), smoothed towards the column's own distribution; a root has only that."""
        chance = self._spread(own)
        counts = np.where((parent == np.arange(len(parent)))[:, None, None], 0.0, counts)
        table = counts + SMOOTHING * chance[:, None, :]
        if self.scores.ordered.any():
            table += CURVES * self.scores.expected(counts, parent, chance)
        return torch.from_numpy(table / table.sum(axis=2, keepdims=True))

    def _spread(self, flat: np.ndarray) -> np.ndarray:
        full = np.zeros(self.valid.shape)
        full[self.valid] = flat
        return full
