"""Which networks there are, what each of them tells apart, and how the first training step trains them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from torch import Tensor, nn

from nbr.classify.recipe import Recipe, TrainingSample, Watcher


class Layout(ABC):
    """Networks on frames of two groups of labels; each speaks for its group 1."""

    @property
    @abstractmethod
    def table(self) -> Tensor:
        """The group that each network puts each label in, -1 outside its frame: (networks, labels)."""

    @abstractmethod
    def train(self, sample: TrainingSample, recipe: Recipe, watch: Watcher, path: Path | None = None) -> nn.Sequential:
        """The first step of section 4.4: networks that share their first layers."""

    @abstractmethod
    def reached(self, scores: Tensor, labels: Tensor) -> Tensor:
        """How far the networks take each example for its label, from their scores (n, networks): (n,)."""

    @abstractmethod
    def spoken(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Which examples of its group 1 each network is there for: (n, networks)."""

    @abstractmethod
    def shares(self, taken: Tensor, labels: Tensor) -> Tensor:
        """The share |T'|/|T| of its group 1 that each network was trained on, from those it takes: (networks,)."""
