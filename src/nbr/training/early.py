"""Stopping when held-out rows gain no more, with the weights that did best."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from nbr.errors import NbrError


class EarlyStopping:
    """Looks at a value of a model now and then, and keeps the weights of the best look.

    `patience` is how many looks may pass without gain; there is a look after the last step too.
    """

    def __init__(
        self, model: nn.Module, value: Callable[[], float], *, every: int, patience: int, last_step: int
    ) -> None:
        self.model, self.value = model, value
        self.every, self.patience, self.last_step = every, patience, last_step
        self.best, self.best_step = -math.inf, 0
        self.weights = _copy(model)

    def __call__(self, step: int) -> bool:
        """Whether training should stop after this many steps."""
        if step % self.every and step != self.last_step:
            return False
        value = self.value()
        if not math.isfinite(value):
            raise NbrError(f"training failed at step {step}: the value of the held-out rows is {value}")
        if value > self.best:
            self.best, self.best_step, self.weights = value, step, _copy(self.model)
        return step - self.best_step >= self.patience * self.every

    def restore(self) -> None:
        """Give the model the best weights."""
        self.model.load_state_dict(self.weights)

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "best_step": self.best_step, "weights": self.weights}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.best, self.best_step, self.weights = state["best"], state["best_step"], state["weights"]


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
