"""One nonexpansive network as a classifier of two labels: the plainest rule with a proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr import registry
from nbr.classify.descent import Descent, Loss, rightness
from nbr.classify.inputs import Pictures, progress
from nbr.classify.recipe import Recipe
from nbr.classify.storage import header, networks, restored, written
from nbr.lipschitz import bound, rounding
from nbr.lipschitz.networks import length
from nbr.storage import container

Array = NDArray[Any]
CHUNK = 1024


@registry.kind("model", "nonexpansive")
class NonexpansiveClassifier(Pictures, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A network that never moves two inputs apart, trained for a margin of a little more than `epsilon`.

    Its output changes by at most `lipschitz_`, which is about 1, times the L2 distance of two inputs: a proof
    of robustness that comes for free. Useful by itself, and as a rule of `BeliefClassifier`, which hands the proof on.
    """

    def __init__(
        self,
        epsilon: float = 2.0,
        *,
        widths: Sequence[int] = (384, 384, 384, 384),
        epochs: int = 60,
        batch_size: int = 256,
        beta: float = 1.1,
        augment: float = 0.5,
        box: tuple[float, float] | None = None,
        random_state: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.widths = widths
        self.epochs = epochs
        self.batch_size = batch_size
        self.beta = beta
        self.augment = augment
        self.box = box
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> NonexpansiveClassifier:
        """Train with the logistic loss of the output, lowered by beta times epsilon where it should be high."""
        sample = self._sample(X, y)
        recipe = Recipe(
            epsilon=float(self.epsilon),
            epochs=self.epochs,
            batch=self.batch_size,
            beta=self.beta,
            augment=self.augment,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )
        path = None if self.checkpoint is None else Path(self.checkpoint)
        sign = 2.0 * sample.side.float() - 1
        beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon

        def loss_of_epoch(epoch: int) -> Loss:
            weight = recipe.weight_of_right(epoch)

            def loss(scores: Tensor, rows: Tensor) -> Tensor:
                margin = scores[0] * sign[rows]
                return (softplus(-sharp * (margin - beta)) + weight * rightness(margin, recipe)).mean() / sharp

            return loss

        descent = Descent(sample, recipe, list(self.widths), 1, 0, path)
        self.network_ = descent.train(loss_of_epoch, progress(self.verbose))
        self.lipschitz_ = float(bound(self.network_))
        self.recipe_ = asdict(recipe)
        if path is not None:
            path.unlink(missing_ok=True)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """The output of the network: above 0 for the second label."""
        network = self._points(X).split(CHUNK)
        with torch.no_grad():
            parts = [self.network_.double()(part)[0, :, 0] for part in network]
        return torch.cat(parts).numpy()

    def predict(self, X: ArrayLike) -> Array:
        """The label on whose side the output is."""
        best = (self.decision_function(X) > 0).astype(int)
        found: Array = self.classes_[best]
        return found

    def rounding(self, X: ArrayLike) -> Array:
        """How far float64 may be off in the output."""
        return rounding(self.network_, length(self._points(X)))[0].numpy()

    def certified_radius(self, X: ArrayLike) -> Array:
        """A radius for each input: no perturbation of at most that L2 length changes its label."""
        sure: Array = np.maximum(np.abs(self.decision_function(X)) - self.rounding(X), 0)
        return sure / self.lipschitz_

    def as_module(self) -> nn.Module:
        """From inputs to two logits as a torch module, with gradients: for those who want to attack it."""
        return _Logits(self.network_.requires_grad_(False))  # gradients of inputs are wanted alone

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trained classifier to a .nbr file, which `nbr.load` reads."""
        container.save(self, path)

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The trained classifier as plain data and tensors, for a file."""
        return header(self), written(self.network_)

    @classmethod
    def from_spec(cls, model: registry.Spec, parts: registry.Parts) -> NonexpansiveClassifier:
        """The inverse of `spec`."""
        found = restored(cls, model)
        found.network_ = networks(parts.tensors)
        found.lipschitz_ = float(bound(found.network_))
        inside = 0.0 if found.box is None else found.box[0]
        found.decision_function(np.full((1, found.n_features_in_), inside))
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class _Logits(nn.Module):
    """Half the output for the second label, minus half for the first."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor) -> Tensor:
        margin = self.network.to(inputs.dtype)(inputs.flatten(1))[0, :, 0]
        return torch.stack([-margin / 2, margin / 2], dim=1)
