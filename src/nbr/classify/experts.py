"""The first training step of section 4.4: networks that share the examples of their label among them.

Since no G_i moves by more than its input does, lowering G_i by beta where it should be high, and raising it where it
should be low, is at least as bad as any attack of L2 size beta. Training against that, the paper's "poor man's
adversarial training", costs nothing extra.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import torch
from sklearn.cluster import KMeans
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr import checkpoints
from nbr.classify.recipe import Recipe, Sample, Watcher
from nbr.learning.training import deterministic
from nbr.lipschitz import Dense, Stiefel, dense, finish


class Experts:
    """Networks and all the state of their training, equation (16).

    Half of the networks speak for each label, and every network of the other label has to reject an example. At first
    each network gets one cluster of the examples of its label: left to themselves, all would go to the network that
    happens to be ahead. Later an example is the business of the network that takes it most robustly, and one that no
    network of its label takes with at least gamma is left to memory, which is looked at again after each epoch.
    """

    def __init__(self, sample: Sample, recipe: Recipe, path: Path | None, label: str) -> None:
        self.sample, self.recipe, self.path = sample, recipe, path
        self.run = {"label": label, "recipe": asdict(recipe)}
        self.basis = _principal(sample.points, recipe.width)  # as many as a layer can tell apart without loss
        widths = [recipe.width] * recipe.depth + [recipe.head]
        self.networks = dense(len(self.basis), widths, 2 * recipe.networks, recipe.depth, recipe.seed)
        self.optimiser = Stiefel(self.networks, lr=recipe.rate)
        self.owner = _kinds(sample, recipe)
        self.epoch = 0
        self._restore()

    def train(self, watch: Watcher) -> nn.Sequential:
        """Train to the end, or on from a checkpoint; the finished networks read points as they are."""
        with deterministic():
            while self.epoch < self.recipe.epochs:
                self._pass()
                self.epoch += 1
                watch("networks", self.epoch, self.recipe.epochs)
                self._save()
        return self._finished()

    def _pass(self) -> None:
        recipe, sample = self.recipe, self.sample
        generator = torch.Generator().manual_seed((recipe.seed << 20) + self.epoch)
        early = self.epoch < recipe.settled * recipe.epochs
        taken = torch.ones(len(sample.points)) if early else self._taken()
        order = torch.randperm(len(sample.points), generator=generator)
        batches = [
            part for part in order.split(recipe.batch) if len(part) > recipe.batch // 2 or len(order) < recipe.batch
        ]
        beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon
        for number, rows in enumerate(batches):
            done = (self.epoch + number / len(batches)) / recipe.epochs
            for group in self.optimiser.param_groups:
                group["lr"] = recipe.rate * (1 - done)
            points = sample.changed(rows, recipe.augment, generator) @ self.basis.T
            scores = self.networks(points)[..., 0]
            own, other = _best(scores, sample.side[rows])
            if early:
                own = scores.gather(0, self.owner[None, rows])[0]
            pulled = softplus(-sharp * (own - beta)) * taken[rows]
            loss = (pulled + softplus(sharp * (other + beta))).mean() / sharp
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()

    def _taken(self) -> Tensor:
        """Which examples the networks are to take, the others being left to memory."""
        if not self.recipe.memories:
            return torch.ones(len(self.sample.points))
        with torch.no_grad():
            parts = zip(self.sample.points.split(2048), self.sample.side.split(2048), strict=True)
            own = [_best(self.networks(points @ self.basis.T)[..., 0], side)[0] for points, side in parts]
        return (torch.cat(own) >= self.recipe.gamma * self.recipe.epsilon).float()

    def _finished(self) -> nn.Sequential:
        first = self.networks[0]
        assert isinstance(first, Dense)
        folded = Dense(self.sample.points.shape[1], first.weight.shape[1], first.weight.shape[0])
        with torch.no_grad():
            folded.weight.copy_((first.weight.double() @ self.basis.double()).float())
            folded.bias.copy_(first.bias)
        network = nn.Sequential(folded, *list(self.networks)[1:])
        finish(network)
        return network

    def _save(self) -> None:
        if self.path is None:
            return
        tensors = {f"now.{name}": value for name, value in self.networks.named_parameters()}
        for name, value in self.networks.named_parameters():
            tensors |= {f"{key}.{name}": part for key, part in self.optimiser.state[value].items()}
        checkpoints.save(self.path, self.run, {"epoch": self.epoch}, tensors)

    def _restore(self) -> None:
        found = None if self.path is None else checkpoints.restore(self.path, self.run)
        if found is None:
            return
        state, tensors = found
        self.epoch = state["epoch"]
        for name, value in self.networks.named_parameters():
            with torch.no_grad():
                value.copy_(tensors[f"now.{name}"])
            self.optimiser.state[value] = {key: tensors[f"{key}.{name}"] for key in ("momentum", "square")}


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


def _principal(points: Tensor, most: int) -> Tensor:
    """Orthonormal rows that span the directions in which points differ most."""
    size = points.shape[1]
    if size <= most:
        return torch.eye(size)
    moments = points.double().T @ points.double()
    basis: Tensor = torch.linalg.eigh(moments).eigenvectors[:, -most:]
    return basis.T.flip(0).float().contiguous()
