"""The first training step of section 4.4: networks that share the examples of their label among them.

Since no G_i moves by more than its input does, lowering G_i by beta where it should be high, and raising it where it
should be low, is at least as bad as any attack of L2 size beta. Training against that, the paper's "poor man's
adversarial training", costs nothing extra.
"""

from __future__ import annotations

from pathlib import Path

import torch
from sklearn.cluster import KMeans
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr.classify.descent import Descent, Loss, rightness
from nbr.classify.recipe import Recipe, Sample, Watcher


def experts(sample: Sample, recipe: Recipe, watch: Watcher, path: Path | None = None) -> nn.Sequential:
    """Networks trained by equation (16): the first ones speak for the first label, the next ones for the second.

    Every network of another label has to reject an example. At first each network gets one cluster of the examples
    of its own label: left to themselves, all would go to the network that happens to be ahead. Later an example is the
    business of the network that takes it most robustly, and one that no network of its label takes with at least gamma
    is left to memory, which is looked at again after each epoch.
    """
    widths = [recipe.width] * recipe.depth + [recipe.head]
    descent = Descent(sample, recipe, widths, sample.kinds * recipe.networks, recipe.depth, path)
    owner = _kinds(sample, recipe)
    beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon

    def loss_of_epoch(epoch: int) -> Loss:
        early, weight = not recipe.is_settled(epoch), recipe.weight_of_right(epoch)
        taken = torch.ones(len(owner))
        if recipe.memories and not early:
            taken = (_best(descent.scores(), sample.labels, recipe)[0] >= recipe.gamma * recipe.epsilon).float()

        def loss(scores: Tensor, rows: Tensor) -> Tensor:
            own, other = _best(scores, sample.labels[rows], recipe)
            if early:
                own = scores.gather(0, owner[None, rows])[0]
            pulled = softplus(-sharp * (own - beta)) * taken[rows]
            robust = (pulled + softplus(sharp * (other + beta))) / 2
            return (robust + weight * rightness((own - other) / 2, recipe)).mean() / sharp

        return loss

    return descent.train(loss_of_epoch, watch)


def _best(scores: Tensor, labels: Tensor, recipe: Recipe) -> tuple[Tensor, Tensor]:
    """The largest score of the networks for each example's label, and of those for the other ones."""
    largest = scores.unflatten(0, (-1, recipe.networks)).amax(dim=1)
    own = largest.gather(0, labels[None])[0]
    return own, largest.scatter(0, labels[None], -torch.inf).amax(dim=0)


def _kinds(sample: Sample, recipe: Recipe) -> Tensor:
    """A network of its own label for each example, alike ones to the same."""
    owner = torch.zeros(len(sample.labels), dtype=torch.long)
    for label in range(sample.kinds):
        mine = sample.labels == label
        count = min(recipe.networks, int(mine.sum()))
        kinds = KMeans(count, n_init=1, random_state=recipe.seed).fit_predict(sample.points[mine].numpy())
        owner[mine] = label * recipe.networks + torch.from_numpy(kinds).long()
    return owner
