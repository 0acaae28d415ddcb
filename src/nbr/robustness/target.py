"""What an attack sees of a classifier: logits with gradients in float64, and the box that inputs live in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

BEYOND = 20.0  # times the range of inputs


@dataclass(frozen=True)
class Target:
    """A module from inputs (n, ...) to logits (n, labels); nothing of it is clamped or hidden.

    `raw` decides much alike without what saturates, such as the bare scores of rules: attacks that follow gradients go
    down both. `surrogate` is any classifier of the same task: seeded CW starts from what breaks it.
    """

    module: nn.Module
    low: float = 0.0
    high: float = 1.0
    raw: nn.Module | None = None
    surrogate: nn.Module | None = None

    def logits(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.module(inputs)
        return found

    def margin(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """The logit of the label minus the largest other one: below 0 where the label is lost."""
        logits = self.logits(inputs)
        own = logits.gather(1, labels[:, None])[:, 0]
        others = logits.scatter(1, labels[:, None], -torch.inf).amax(dim=1)
        return own - others

    def lost(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """Where the label is no longer predicted; a tie counts as lost."""
        with torch.no_grad():
            return torch.cat(
                [
                    self.margin(part, label) <= 0
                    for part, label in zip(inputs.split(256), labels.split(256), strict=True)
                ]
            )

    def without_box(self) -> Target:
        """The same with inputs that may have any value, for all that an attack will come to: foolbox wants an end."""
        middle, half = (self.low + self.high) / 2, BEYOND * (self.high - self.low) / 2
        return replace(self, low=middle - half, high=middle + half)

    def clip(self, inputs: Tensor) -> Tensor:
        return inputs.clamp(self.low, self.high)


class Cut(nn.Module):
    """A classifier of many labels as one of a few: their logits alone, as the paper does with ten labels."""

    def __init__(self, module: nn.Module, labels: Sequence[int]) -> None:
        super().__init__()
        self.module, self.labels = module, list(labels)

    def forward(self, inputs: Tensor) -> Tensor:
        logits: Tensor = self.module(inputs)
        return logits[:, self.labels]


def distance(first: Tensor, second: Tensor) -> Tensor:
    """L2 distances of two batches: (n,)."""
    found: Tensor = (first - second).flatten(1).norm(dim=1)
    return found
