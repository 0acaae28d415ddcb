"""Training nonexpansive networks on examples: passes over shuffled and slightly changed inputs, with checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus
from torch.optim.lr_scheduler import LambdaLR

from nbr.classify.recipe import Recipe, TrainingSample, Watcher
from nbr.lipschitz import Dense, Local, Stiefel, dense, finish, local
from nbr.training import Checkpoint, Loop, fingerprint, here, shuffled

Loss = Callable[[Tensor, Tensor], Tensor]  # of scores (networks, batch) and their rows: a mean over these
SCORED = 2048  # examples at a time


def rightness(margin: Tensor, recipe: Recipe) -> Tensor:
    """A loss for not being right, or only just: some of it keeps examples that cannot be robust on their side."""
    return softplus(-2 * recipe.sharpness / recipe.epsilon * (margin - 0.1 * recipe.epsilon))


class NetworkDescent:
    """Networks on their way down a loss.

    Dense ones get inputs turned onto their principal directions, as many as the first layer can tell apart without
    loss; the finished networks have this turn folded in and read inputs as they are. Local ones start at the mean
    colour of the pictures.
    """

    def __init__(
        self,
        sample: TrainingSample,
        recipe: Recipe,
        widths: Sequence[int],
        count: int,
        shared: int,
        path: Path | None = None,
    ) -> None:
        self.sample, self.recipe, self.process = sample, recipe, here()
        self.basis: Tensor | None = None
        if recipe.local and sample.shape is not None:
            networks = local(sample.shape, widths[-2], widths[-1], count, seed=recipe.seed)
            _start_at_mean(networks, sample.points)
        else:
            self.basis = _principal(sample.points, widths[0])
            networks = dense(len(self.basis), widths, count, shared, recipe.seed)
        self.networks = networks.to(sample.points.dtype)
        self.checkpoint = None if path is None else Checkpoint(path, self._fingerprint(widths, count, shared))

    def train(self, loss_of_epoch: Callable[[int], Loss], watch: Watcher) -> nn.Sequential:
        """Go through all epochs that are left, each with its loss, which is asked for when the epoch begins."""
        recipe, sample = self.recipe, self.sample
        count = len(shuffled(len(sample.points), recipe.batch, _source(recipe, 0)))
        current: list[tuple[torch.Generator, list[Tensor], Loss]] = []

        def loss(step: int) -> Tensor:
            epoch, number = divmod(step, count)
            if number == 0:
                source = _source(recipe, epoch)
                current[:] = [(source, shuffled(len(sample.points), recipe.batch, source), loss_of_epoch(epoch))]
            source, batches, goal = current[0]
            rows = batches[number]
            points, own = sample.changed(rows, recipe.augment, source, self.process), self.process.share(rows)
            scores = self._scores(points)
            return goal(scores, own) * (len(own) / len(rows)) if len(own) else scores.sum()  # fewer rows than processes

        optimiser = Stiefel(self.networks, lr=recipe.rate, process=self.process)
        Loop(
            optimiser,
            loss,
            recipe.epochs * count,
            schedule=LambdaLR(optimiser, lambda step: 1 - (step // count + step % count / count) / recipe.epochs),
            kept={"networks": self.networks},
            rest=count,
            checkpoint=self.checkpoint,
            process=self.process,
        ).run(watch, "networks")
        return self._finished()

    def scores(self) -> Tensor:
        """Scores of all examples, unchanged: (networks, n)."""
        with torch.no_grad():
            parts = self.sample.points.split(SCORED)
            own = [self._scores(self.process.share(part)).T for part in parts]
            return torch.cat([self.process.together(each, len(part)) for each, part in zip(own, parts, strict=True)]).T

    def _scores(self, points: Tensor) -> Tensor:
        scores: Tensor = self.networks(points if self.basis is None else points @ self.basis.T)[..., 0]
        return scores

    def _finished(self) -> nn.Sequential:
        first, *others = self.networks
        if self.basis is not None:
            assert isinstance(first, Dense)
            with torch.no_grad():
                first = Dense.of((first.weight.double() @ self.basis.double()).float(), first.bias.clone())
        network = nn.Sequential(first, *others)
        finish(network)
        return network

    def _fingerprint(self, widths: Sequence[int], count: int, shared: int) -> str:
        sample = [self.sample.fingerprint, self.sample.shape]
        return fingerprint(
            sample=sample, recipe=asdict(self.recipe), widths=list(widths), networks=count, shared=shared
        )


def _source(recipe: Recipe, epoch: int) -> torch.Generator:
    """Where an epoch's order and changes come from: as it was when the networks that ship were trained."""
    return torch.Generator().manual_seed((recipe.seed << 20) + epoch)


def _principal(points: Tensor, most: int) -> Tensor:
    """Orthonormal rows that span the directions in which points differ most."""
    size = points.shape[1]
    if size <= most:
        return torch.eye(size, dtype=points.dtype)
    moments = points.double().T @ points.double()
    basis: Tensor = torch.linalg.eigh(moments).eigenvectors[:, -most:]
    return basis.T.flip(0).to(points.dtype).contiguous()


def _start_at_mean(networks: nn.Sequential, points: Tensor) -> None:
    """Biases of the first layer for which the mean colour of the pictures is 0."""
    first = networks[0]
    assert isinstance(first, Local)
    with torch.no_grad():
        colour = points.view(-1, first.channels).mean(dim=0).repeat(first.block**2)
        first.mix.bias.copy_(-(first.mix.weight @ colour)[:, None])
