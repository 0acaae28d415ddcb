"""What the training of a robust classifier is told: its settings and its examples."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.classify.augment import affine
from nbr.training import Watcher

__all__ = ["Recipe", "Sample", "Watcher"]


@dataclass(frozen=True)
class Recipe:
    """Settings of the three steps; lengths are in units of the input."""

    epsilon: float = 2.0  # the radius to be robust at
    frames: str = "rest"  # what networks tell apart: each label from the rest, or pairs of labels
    networks: int = 7  # for each label, where they tell it from the rest
    width: int = 384  # of the layers that all networks share
    depth: int = 5  # how many these are
    head: int = 64  # width of the layer that each network has of its own
    epochs: int = 120
    batch: int = 256
    rate: float = 0.1
    beta: float = 1.1  # times epsilon: what the first step lowers and raises scores by
    plain: float = 0.15  # weight of being right at all in the first step
    late: float = 3.0  # times plain, once settled
    shift: float = 0.5  # times epsilon: the same in the second step
    sharpness: float = 8.0  # divided by epsilon: s of the first step
    gamma: float = 0.0  # times epsilon: what the best network must reach, or the example is memorised
    settled: float = 0.9  # share of the first step after which being right counts more, and memory may take examples
    augment: float = 0.5  # strength of changes to pictures
    omega: float = 0.5  # weight of the unmoved cross-entropy in the third step
    memories: bool = True
    seed: int = 0

    def weight_of_right(self, epoch: int) -> float:
        """The weight of being right at all in an epoch of the first step."""
        return self.plain * (self.late if self.is_settled(epoch) else 1.0)

    def is_settled(self, epoch: int) -> bool:
        return epoch >= self.settled * self.epochs


@dataclass(frozen=True)
class Sample:
    """Training examples: flat points, the numbers of their labels, and the height and width of pictures if they are.

    `weights` say how much each example counts; their mean is 1.
    """

    points: Tensor
    labels: Tensor
    shape: tuple[int, int] | None
    weights: Tensor | None = None

    @property
    def kinds(self) -> int:
        """How many labels there are."""
        return int(self.labels.max()) + 1

    @property
    def fingerprint(self) -> str:
        """Tells one sample from another."""
        parts = [self.points, self.labels] + ([] if self.weights is None else [self.weights])
        return hashlib.sha256(b"".join(part.numpy().tobytes() for part in parts)).hexdigest()

    def mean(self, values: Tensor, rows: Tensor) -> Tensor:
        """The mean of values of some rows, each counted by its weight."""
        return values.mean() if self.weights is None else (values * self.weights[rows]).mean()

    def changed(self, rows: Tensor, strength: float, generator: torch.Generator) -> Tensor:
        points = self.points[rows]
        if self.shape is None or not strength:
            return points
        return affine(points.view(-1, *self.shape), strength, generator).flatten(1)
