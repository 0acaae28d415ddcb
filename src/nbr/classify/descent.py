"""Training nonexpansive networks on examples: passes over shuffled and slightly changed inputs, with checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr.classify.recipe import Recipe, Sample, Watcher
from nbr.learning.training import deterministic
from nbr.lipschitz import Dense, Stiefel, dense, finish
from nbr.storage import checkpoints

Loss = Callable[[Tensor, Tensor], Tensor]  # of scores (networks, batch) and the rows they belong to
SCORED = 2048  # examples at a time


def rightness(margin: Tensor, recipe: Recipe) -> Tensor:
    """A loss for not being right, or only just: some of it keeps examples that cannot be robust on their side."""
    return softplus(-2 * recipe.sharpness / recipe.epsilon * (margin - 0.1 * recipe.epsilon))


class Descent:
    """Networks, their optimiser and the epoch they are in.

    Inputs are first turned onto their principal directions, as many as the first layer can tell apart without loss; the
    finished networks have this turn folded in and read inputs as they are.
    """

    def __init__(
        self,
        sample: Sample,
        recipe: Recipe,
        widths: Sequence[int],
        count: int,
        shared: int,
        path: Path | None = None,
    ) -> None:
        self.sample, self.recipe, self.path = sample, recipe, path
        self.run = {"sample": sample.fingerprint, "recipe": asdict(recipe)}
        self.basis = _principal(sample.points, widths[0])
        self.networks = dense(len(self.basis), widths, count, shared, recipe.seed)
        self.optimiser = Stiefel(self.networks, lr=recipe.rate)
        self.epoch = 0
        self._restore()

    def train(self, loss_of_epoch: Callable[[int], Loss], watch: Watcher) -> nn.Sequential:
        """Go through all epochs that are left, each with its loss."""
        with deterministic():
            while self.epoch < self.recipe.epochs:
                self._pass(loss_of_epoch(self.epoch))
                self.epoch += 1
                watch("networks", self.epoch, self.recipe.epochs)
                self._save()
        return self._finished()

    def scores(self) -> Tensor:
        """Scores of all examples, unchanged: (networks, n)."""
        with torch.no_grad():
            parts = [self.networks(part @ self.basis.T)[..., 0] for part in self.sample.points.split(SCORED)]
        return torch.cat(parts, dim=1)

    def _pass(self, loss: Loss) -> None:
        recipe, sample = self.recipe, self.sample
        generator = torch.Generator().manual_seed((recipe.seed << 20) + self.epoch)
        order = torch.randperm(len(sample.points), generator=generator)
        batches = [part for part in order.split(recipe.batch) if 2 * len(part) > min(recipe.batch, len(order))]
        for number, rows in enumerate(batches):
            done = (self.epoch + number / len(batches)) / recipe.epochs
            for group in self.optimiser.param_groups:
                group["lr"] = recipe.rate * (1 - done)
            points = sample.changed(rows, recipe.augment, generator) @ self.basis.T
            self.optimiser.zero_grad()
            loss(self.networks(points)[..., 0], rows).backward()
            self.optimiser.step()

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
        tensors: dict[str, Tensor] = {f"now.{name}": value for name, value in self.networks.named_parameters()}
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


def _principal(points: Tensor, most: int) -> Tensor:
    """Orthonormal rows that span the directions in which points differ most."""
    size = points.shape[1]
    if size <= most:
        return torch.eye(size)
    moments = points.double().T @ points.double()
    basis: Tensor = torch.linalg.eigh(moments).eigenvectors[:, -most:]
    return basis.T.flip(0).float().contiguous()
