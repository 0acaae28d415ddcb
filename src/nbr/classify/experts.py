"""Networks that tell one label from the rest, and share the examples of their label among them: section 4.4.

Since no G_i moves by more than its input does, lowering G_i by beta where it should be high, and raising it where it
should be low, is at least as bad as any attack of L2 size beta. Training against that, the paper's "poor man's
adversarial training", costs nothing extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr.classify.descent import Loss, NetworkDescent, rightness
from nbr.classify.frames import against_rest
from nbr.classify.layouts import Layout
from nbr.classify.recipe import Recipe, TrainingSample, Watcher


@dataclass(frozen=True)
class Experts(Layout):
    """`each` networks for every label: the first ones speak for the first label, the next ones for the second."""

    labels: int
    each: int

    @property
    def table(self) -> Tensor:
        return against_rest(self._own, self.labels)

    def train(self, sample: TrainingSample, recipe: Recipe, watch: Watcher, path: Path | None = None) -> nn.Sequential:
        """Networks trained by equation (16).

        Every network of another label has to reject an example. At first each network gets one cluster of the examples
        of its own label: left to themselves, all would go to the network that happens to be ahead. Later an example is
        the business of the network that takes it most robustly, and one that no network of its label takes with at
        least gamma is left to memory, which is looked at again after each epoch.
        """
        widths = [recipe.width] * recipe.depth + [recipe.head]
        descent = NetworkDescent(sample, recipe, widths, self.labels * self.each, recipe.depth, path)
        owner = self._kinds(sample, recipe)
        beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon

        def loss_of_epoch(epoch: int) -> Loss:
            early, weight = not recipe.is_settled(epoch), recipe.weight_of_right(epoch)
            taken = torch.ones(len(owner))
            if recipe.memories and not early:
                taken = (self._best(descent.scores(), sample.labels)[0] >= recipe.gamma * recipe.epsilon).float()

            def loss(scores: Tensor, rows: Tensor) -> Tensor:
                own, other = self._best(scores, sample.labels[rows])
                if early:
                    own = scores.gather(0, owner[None, rows])[0]
                pulled = softplus(-sharp * (own - beta)) * taken[rows]
                robust = (pulled + softplus(sharp * (other + beta))) / 2
                return sample.mean(robust + weight * rightness((own - other) / 2, recipe), rows) / sharp

            return loss

        return descent.train(loss_of_epoch, watch)

    def reached(self, scores: Tensor, labels: Tensor) -> Tensor:
        return self._mine(scores, labels).amax(dim=1)

    def spoken(self, scores: Tensor, labels: Tensor) -> Tensor:
        """An example is the business of the network of its label that takes it furthest."""
        owner = self._mine(scores, labels).argmax(dim=1)
        return owner[:, None] == torch.arange(len(self._own))

    def shares(self, taken: Tensor, labels: Tensor) -> Tensor:
        size = torch.bincount(labels).double()
        return taken.sum(dim=0).double() / size[self._own]

    @property
    def _own(self) -> Tensor:
        """The label that each network speaks for."""
        return torch.arange(self.labels).repeat_interleave(self.each)

    def _mine(self, scores: Tensor, labels: Tensor) -> Tensor:
        return scores.masked_fill(self._own != labels[:, None], -torch.inf)

    def _best(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The largest score of the networks for each example's label, and of those for the other ones."""
        largest = scores.unflatten(0, (-1, self.each)).amax(dim=1)
        own = largest.gather(0, labels[None])[0]
        return own, largest.scatter(0, labels[None], -torch.inf).amax(dim=0)

    def _kinds(self, sample: TrainingSample, recipe: Recipe) -> Tensor:
        """A network of its own label for each example, alike ones to the same."""
        from sklearn.cluster import KMeans  # slow to load, and needed in training alone

        owner = torch.zeros(len(sample.labels), dtype=torch.long)
        for label in range(self.labels):
            mine = sample.labels == label
            count = min(self.each, int(mine.sum()))
            kinds = KMeans(count, n_init=1, random_state=recipe.seed).fit_predict(sample.points[mine].numpy())
            owner[mine] = label * self.each + torch.from_numpy(kinds).long()
        return owner
