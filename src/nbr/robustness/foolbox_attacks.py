"""The attacks that foolbox has, on the margin in float64."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import torch
from torch import Tensor

from nbr.errors import NbrError, install
from nbr.robustness.base import Attack, Attempt
from nbr.robustness.target import Target

try:
    with warnings.catch_warnings():  # of old names that foolbox still imports
        warnings.simplefilter("ignore", DeprecationWarning)
        import foolbox
except ModuleNotFoundError:
    raise NbrError(f"attacks need foolbox: {install('attack')}") from None


def _model(target: Target) -> Any:
    return foolbox.PyTorchModel(target.module.eval(), bounds=(target.low, target.high), device="cpu")


class ProjectedGradient(Attack):
    """Projected gradient descent in the ball of radius epsilon, from the image: noise of a random start would stay."""

    name, knows = "PGD", "gradients"
    stages: ClassVar = {"quick": (10, 50), "paper": (10, 50, 100)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        found = foolbox.attacks.L2ProjectedGradientDescentAttack(
            steps=steps, rel_stepsize=2.5 / steps, random_start=False
        )
        _, inputs, _ = found(_model(target), attempt.images, attempt.labels, epsilons=attempt.epsilon)
        return _tensor(inputs)


class DecoupledDirection(Attack):
    """DDN: direction and norm of the change are decoupled (Rony and others, 2019)."""

    name, knows = "DDN", "gradients"
    stages: ClassVar = {"quick": (100,), "paper": (100, 1000)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        _, inputs, _ = foolbox.attacks.DDNAttack(steps=steps)(
            _model(target), attempt.images, attempt.labels, epsilons=None
        )
        return _tensor(inputs)


class CarliniWagner(Attack):
    """Carlini and Wagner's search for the smallest change: several weights, each up to so many steps while it gains.

    With few steps these are longer, and the search begins with a weight at which the label counts.
    """

    name, knows = "CW", "gradients"
    stages: ClassVar = {"quick": (20, 60), "paper": (20, 60, 600, 10000)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        usual = {} if steps >= 1000 else {"stepsize": 15 / (steps + 30), "binary_search_steps": 4, "initial_const": 1.0}
        found = foolbox.attacks.L2CarliniWagnerAttack(steps=steps, **usual)
        _, inputs, _ = found(_model(target), attempt.images, attempt.labels, epsilons=None)
        return _tensor(inputs)


class Boundary(Attack):
    """A walk along the boundary that sees labels only; starts from inputs that lose the label."""

    name, knows, needs_starts = "BA", "labels", True
    stages: ClassVar = {"quick": (100, 1000), "paper": (100, 1000, 10000, 50000)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        found = foolbox.attacks.BoundaryAttack(steps=steps, tensorboard=False)
        _, inputs, _ = found(
            _model(target), attempt.images, attempt.labels, starting_points=attempt.starts, epsilons=None
        )
        return _tensor(inputs)


def _tensor(inputs: Any) -> Tensor:
    return inputs if isinstance(inputs, torch.Tensor) else torch.as_tensor(inputs.raw)
