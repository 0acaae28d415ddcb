"""Networks that tell two labels apart, one for each pair, with their first layers in common.

Ten networks of ten labels, each against the rest, may both move by eps where two of them are compared: a slope of 2.
Here the comparison of two labels is itself a function G_ab of slope 1, a head of its own on the layers in common. A
label a is sure to stay within the smallest G_ab over its rivals b.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr.classify.descent import Loss, NetworkDescent
from nbr.classify.layouts import Layout
from nbr.classify.recipe import Recipe, TrainingSample, Watcher


@dataclass(frozen=True)
class Pairs(Layout):
    """A network for each pair of labels; it speaks for the first of them, and judges no other label."""

    labels: int

    @property
    def table(self) -> Tensor:
        pairs = self._pairs
        found = torch.full((len(pairs), self.labels), -1)
        rows = torch.arange(len(pairs))
        found[rows, pairs[:, 0]], found[rows, pairs[:, 1]] = 1, 0
        return found

    def train(self, sample: TrainingSample, recipe: Recipe, watch: Watcher, path: Path | None = None) -> nn.Sequential:
        """Networks trained for the smallest lead of an example's label over its rivals, lowered by beta.

        The loss is the cross-entropy of the lowered leads; later, examples that are left to memory are not pulled.
        """
        count, beta, sharp = len(self._pairs), recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon
        widths = [recipe.width] * recipe.depth + [recipe.head]
        descent = NetworkDescent(sample, recipe, widths, count, recipe.depth, path)
        which, sign = self._rivals

        def leads(scores: Tensor, labels: Tensor) -> Tensor:
            return scores.T.gather(1, which[labels]) * sign[labels]

        def loss_of_epoch(epoch: int) -> Loss:
            weight, taken = recipe.weight_of_right(epoch), torch.ones(len(sample.labels))
            if recipe.memories and recipe.is_settled(epoch):
                smallest = leads(descent.scores(), sample.labels).amin(dim=1)
                taken = (smallest >= recipe.gamma * recipe.epsilon).float()

            def loss(scores: Tensor, rows: Tensor) -> Tensor:
                lead = leads(scores, sample.labels[rows])
                robust = _entropy(sharp * (lead - beta)) * taken[rows]
                right = _entropy(2 * sharp * (lead - 0.1 * recipe.epsilon))
                return sample.mean(robust + weight * right, rows) / sharp

            return loss

        return descent.train(loss_of_epoch, watch)

    def reached(self, scores: Tensor, labels: Tensor) -> Tensor:
        which, sign = self._rivals
        return (scores.gather(1, which[labels]) * sign.to(scores.dtype)[labels]).amin(dim=1)

    def spoken(self, scores: Tensor, labels: Tensor) -> Tensor:
        """All examples of the label that it speaks for."""
        return labels[:, None] == self._pairs[:, 0]

    def shares(self, taken: Tensor, labels: Tensor) -> Tensor:
        return torch.ones(len(self._pairs), dtype=torch.float64)

    @property
    def _pairs(self) -> Tensor:
        return torch.tensor(list(combinations(range(self.labels), 2)))

    @property
    def _rivals(self) -> tuple[Tensor, Tensor]:
        """For each label the networks that compare it with another, and 1 where they speak for it, else -1."""
        table = self.table.T
        which = torch.stack([(row >= 0).nonzero()[:, 0] for row in table])
        return which, 2.0 * table.gather(1, which) - 1


def _entropy(leads: Tensor) -> Tensor:
    """log(1 + sum over rivals of exp(-lead)): (n,)."""
    return softplus((-leads).logsumexp(dim=1))
