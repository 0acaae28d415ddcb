"""Many trees side by side.

What one condition asks of all of them goes to the next column of every tree at a step: 256 trees of 69 columns take 69
steps that way instead of 17,664. And of two states log P(x_i | x_j) is a sum of a constant, x_i, x_j and x_i x_j with
weights, so that the log-likelihoods of whole rows by all trees are one product of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from nbr.priors.tree import Tree

ROOM = 1 << 23  # numbers in all tables, up to which they are put together
DRAWN = 1 << 22  # numbers looked up at a time
PRODUCTS = 1 << 18  # of two columns, at a time


class Forest:
    """Trees of the same columns, as `Tree` with one more axis in front."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.order, self.parent, self.table = (
            torch.stack([getattr(tree, name) for tree in trees]) for name in ("order", "parent", "table")
        )
        self.trees = torch.arange(len(trees))

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Forest | None:
        """None where tables are too large, or there is only one tree."""
        return cls(trees) if len(trees) > 1 and len(trees) * trees[0].table.numel() <= ROOM else None

    def log_complete(self, states: Tensor) -> Tensor | None:
        """As `Tree.log_complete`, of rows without holes: (rows, trees). None where there are more than two states."""
        if self._products is None:
            return None
        constant, single, double, one, other = self._products
        found = []
        for part in states.double().split(max(1, PRODUCTS // len(double))):
            row = part.T.contiguous()  # whole rows are copied in a fraction of the time of single cells
            found.append(torch.addmm(constant + part @ single, (row[one] * row[other]).T, double))
        return torch.cat(found)

    @cached_property
    def _products(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor] | None:
        """Weights of 1, of each column and of each product of two that some tree has, and which two those are."""
        count, columns, most = self.table.shape[:3]
        if most != 2 or not bool((self.table > 0).all()):
            return None
        logs, own = self.table.log().flatten(2).unbind(dim=2), torch.arange(columns).expand(count, -1)
        root = self.parent == own
        single = torch.zeros(count, columns, dtype=torch.float64).scatter_add(1, own, logs[1] - logs[0])
        single = single.scatter_add(1, self.parent, torch.where(root, 0.0, logs[2] - logs[0]))
        both = torch.where(root, 0.0, logs[3] - logs[2] - logs[1] + logs[0])
        pair = torch.minimum(own, self.parent) * columns + torch.maximum(own, self.parent)
        pairs, place = pair.unique(return_inverse=True)
        double = torch.zeros(count, len(pairs), dtype=torch.float64).scatter_add(1, place, both)
        return logs[0].sum(dim=1), single.T.contiguous(), double.T.contiguous(), pairs // columns, pairs % columns

    def gather(self, evidence: Tensor) -> tuple[Tensor, Tensor]:
        """As `Tree.gather`, for one evidence (columns, states): weights (trees, columns, states), totals (trees,)."""
        trees = self.trees
        weights, total = evidence.expand(len(trees), -1, -1).clone(), evidence.new_zeros(len(trees))
        for column in self.order.flip(1).unbind(dim=1):
            parent = self.parent[trees, column]
            root = parent == column
            message = (self.table[trees, column] @ weights[trees, column][:, :, None])[:, :, 0]
            joined = weights[trees, parent] * torch.where(root[:, None], 1.0, message)
            most = torch.where(root, message[:, 0], joined.amax(dim=1))
            some = torch.where(most > 0, most, 1.0)
            weights[trees, parent] = joined / torch.where(root, 1.0, some)[:, None]
            total += torch.where(root, most, some).log()
        return weights, total

    def draw(self, component: Tensor, weights: Tensor, generator: torch.Generator) -> Tensor:
        """States of a row from the tree that each entry names, given weights as `gather` finds: (rows, columns)."""
        chance = self.table * weights[:, :, None, :]
        ends, most = chance.cumsum(dim=3), chance.shape[3]
        ends = ends / ends[..., -1:]
        last = most - 1 - (chance.flip(3) > 0).double().argmax(dim=3)
        ends = ends.masked_fill(torch.arange(most) >= last[..., None], torch.inf)  # rounding must not reach beyond
        parts = component.split(max(1, DRAWN // most))
        return torch.cat([self._drawn(part, ends[..., :-1], generator) for part in parts])

    def _drawn(self, component: Tensor, ends: Tensor, generator: torch.Generator) -> Tensor:
        columns, most = self.order.shape[1], ends.shape[2]
        column = self.order[component].T.contiguous()  # (steps, rows)
        place = component * columns + column  # in what is kept of all trees in one row
        first = torch.arange(len(component)) * columns  # of a row among all states
        own, above = first + column, first + self.parent.flatten()[place]
        ends = ends.reshape(-1, ends.shape[3])
        states = torch.zeros(len(component) * columns, dtype=torch.long)
        for step in range(columns):
            share = torch.rand(len(component), 1, generator=generator, dtype=torch.float64)
            known = ends.index_select(0, place[step] * most + states.take(above[step]))
            states[own[step]] = (share >= known).sum(dim=1)
        return states.view(-1, columns)
