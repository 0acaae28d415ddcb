"""One nonexpansive network as a classifier of two labels: the plainest rule with a proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr import registry
from nbr.calculus import Groups
from nbr.classify.checks import check_epsilon
from nbr.classify.descent import Loss, NetworkDescent, rightness
from nbr.classify.estimator import BeliefEstimator
from nbr.classify.evaluation import Evaluation, evaluate
from nbr.classify.inputs import Pictures, progress
from nbr.classify.modules import Logits
from nbr.classify.recipe import Recipe
from nbr.classify.rules import NonexpansiveRules
from nbr.classify.storage import centre_from, centre_of, centred, header, networks, restored, written
from nbr.errors import NbrError
from nbr.lipschitz import Fixed, length
from nbr.training import here

Array = NDArray[Any]


@registry.kind("model", "nonexpansive")
class NonexpansiveClassifier(Pictures, BeliefEstimator):
    """A network with Lipschitz constant 1 for two labels, trained for a margin of a little more than `epsilon`.

    Its output changes by at most `lipschitz_`, which is about 1, times the L2 distance of two inputs, which proves a
    radius for every input. By itself it is one rule with belief 1; as a rule of `BeliefClassifier` it passes its
    proof on.

    Args:
        epsilon: The L2 radius to be robust at, in the units of the inputs.
        widths: The units of each hidden layer; even.
        epochs: The number of passes over the examples.
        batch_size: The number of examples in a training step.
        beta: How far the output is lowered in training, in epsilons.
        augment: How strongly pictures are changed at random in training; 0 leaves them unchanged.
        box: The lowest and the highest value of an input, such as (0, 1).
        preparation: How picture files are prepared: "none", "scale" or "digits".
        random_state: The seed of all randomness.
        n_jobs: The number of processes that classify inputs.
        checkpoint: A file for checkpoints; a run that was stopped continues from it.
        verbose: Whether to show progress on stderr.
    """

    combine = "scaled"
    conflict_tells = False  # one rule contradicts nobody

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
        preparation: str = "none",
        random_state: Any = None,
        n_jobs: int | None = None,
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
        self.preparation = preparation
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NonexpansiveClassifier:
        """Train with the logistic loss of the output, after moving it by beta times epsilon towards the wrong label.

        Args:
            X: Inputs: vectors of shape (n, size), or pictures of shape (n, height, width) or (n, height, width,
                channels).
            y: Two labels, shape (n,).
            sample_weight: The weight of each input, shape (n,).
        """
        sample = self._sample(X, y, sample_weight)
        if sample.kinds > 2:
            words = f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
            raise NbrError(f"{words} RobustClassifier and BeliefClassifier take more labels")
        recipe = Recipe(
            epsilon=check_epsilon(self.epsilon),
            epochs=self.epochs,
            batch=self.batch_size,
            beta=self.beta,
            augment=self.augment,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )
        path = None if self.checkpoint is None else Path(self.checkpoint)
        sign = 2.0 * sample.labels.float() - 1
        beta, sharp = recipe.beta * recipe.epsilon, recipe.sharpness / recipe.epsilon

        def loss_of_epoch(epoch: int) -> Loss:
            weight = recipe.weight_of_right(epoch)

            def loss(scores: Tensor, rows: Tensor) -> Tensor:
                margin = scores[0] * sign[rows]
                each = softplus(-sharp * (margin - beta)) + weight * rightness(margin, recipe)
                return sample.mean(each, rows) / sharp

            return loss

        descent = NetworkDescent(sample, recipe, list(self.widths), 1, 0, path)
        self.rules_ = _one_rule(descent.train(loss_of_epoch, progress(self.verbose)))
        self.recipe_ = asdict(recipe)
        if path is not None and here().first:
            path.unlink(missing_ok=True)
        return self

    @property
    def lipschitz_(self) -> float:
        """A proved Lipschitz constant of the output in L2."""
        check_is_fitted(self, "rules_")
        return float(self.rules_.networks.bound)

    def rounding(self, X: ArrayLike, within: ArrayLike = 0.0) -> Array:
        """A bound on the rounding error of the output in float64.

        Args:
            X: Inputs, as in `predict`.
            within: The L2 distance from these inputs that the bound covers.
        """
        far = torch.as_tensor(within, dtype=torch.float64)
        return self.rules_.networks.rounding((length(self._points(X)) + far)[:, None])[:, 0].numpy()

    def contents(self) -> dict[str, int]:
        """How many networks and weights there are."""
        check_is_fitted(self, "rules_")
        return {"networks": 1, "weights": self.rules_.networks.weights}

    def as_module(self) -> nn.Module:
        """From inputs to two logits as a torch module, with gradients: for those who want to attack it."""
        check_is_fitted(self, "rules_")
        return Logits(self.rules_, self.combine, centre_of(self))

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The trained classifier as plain data and tensors, for a file."""
        model = header(self)
        return model, {**centred(self), **written(self.rules_.networks.module())}

    @classmethod
    def from_spec(cls, model: registry.Spec, parts: registry.Parts) -> NonexpansiveClassifier:
        """The inverse of `spec`."""
        found = restored(cls, model)
        found.rules_ = _one_rule(networks(parts.tensors))
        found.centre_ = centre_from(parts.tensors, found.n_features_in_)
        check_epsilon(found.epsilon)
        size = found.rules_.networks.inputs
        if len(found.classes_) != 2 or size != found.n_features_in_:
            told = f"{len(found.classes_)} labels and inputs of {found.n_features_in_} numbers"
            raise NbrError(f"a network that tells 2 labels by {size} numbers in a classifier of {told}")
        return found

    def _evaluate(self, X: ArrayLike) -> Evaluation:
        points = self._points(X)
        return evaluate(self.rules_, points, self.combine)

    def _kinds(self) -> list[str]:
        return ["network"]

    @property
    def _furthest(self) -> float:
        return math.inf

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _one_rule(network: nn.Module) -> NonexpansiveRules:
    """A rule that is believed to degree 1: its weight of evidence is the output itself."""
    one, none = torch.ones(1, dtype=torch.float64), torch.zeros(0, dtype=torch.float64)
    fixed = Fixed(network)
    memories = torch.zeros(0, fixed.inputs)
    return NonexpansiveRules(Groups(torch.tensor([[0, 1]])), one, one, one, fixed, memories, none)
