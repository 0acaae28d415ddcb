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
    """Networks trained by equation (16): the first half speaks for the first label, the rest for the second.

    Every network of the other label has to reject an example. At first each network gets one cluster of the examples
    of its own label: left to themselves, all would go to the network that happens to be ahead. Later an example is the
    business of the network that takes it most robustly, and one that no network of its label takes with at least gamma
    is left to memory, which is looked at again after each epoch.
    """
    widths = [recipe.width] * recipe.depth + [recipe.head]
    descent = Descent(sample, recipe, widths, 2 * recipe.networks, recipe.depth, path)
    owner = _kinds(sample, recipe)
    beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon

    def loss_of_epoch(epoch: int) -> Loss:
        early, weight = not recipe.is_settled(epoch), recipe.weight_of_right(epoch)
        taken = torch.ones(len(owner))
        if recipe.memories and not early:
            taken = (_best(descent.scores(), sample.side)[0] >= recipe.gamma * recipe.epsilon).float()

        def loss(scores: Tensor, rows: Tensor) -> Tensor:
            own, other = _best(scores, sample.side[rows])
            if early:
                own = scores.gather(0, owner[None, rows])[0]
            pulled = softplus(-sharp * (own - beta)) * taken[rows]
            robust = (pulled + softplus(sharp * (other + beta))) / 2
            return (robust + weight * rightness((own - other) / 2, recipe)).mean() / sharp

        return loss

    return descent.train(loss_of_epoch, watch)


def _best(scores: Tensor, side: Tensor) -> tuple[Tensor, Tensor]:
    """The largest score of the networks for each example's label, and of those for the other one."""
    first, second = scores.chunk(2)
    first, second = first.amax(dim=0), second.amax(dim=0)
    return torch.where(side == 0, first, second), torch.where(side == 0, second, first)


def _kinds(sample: Sample, recipe: Recipe) -> Tensor:
    """A network of its own label for each example, alike ones to the same."""
    owner = torch.zeros(len(sample.side), dtype=torch.long)
    for side in (0, 1):
        mine = sample.side == side
        count = min(recipe.networks, int(mine.sum()))
        kinds = KMeans(count, n_init=1, random_state=recipe.seed).fit_predict(sample.points[mine].numpy())
        owner[mine] = side * recipe.networks + torch.from_numpy(kinds).long()
    return owner
