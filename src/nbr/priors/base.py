"""What every prior is: a distribution over the points of one world."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.world import World


class Prior(ABC):
    """A distribution over the points of a world."""

    def __init__(self, world: World) -> None:
        self.world = world

    @abstractmethod
    def sample(self, count: int, generator: torch.Generator) -> Tensor:
        """Points drawn at random: (count, variables)."""

    @abstractmethod
    def log_prob(self, points: Tensor) -> Tensor | None:
        """The log probability (or density) of points, or None if it cannot be scored.

        A cell that is NaN was not observed, and is summed over.
        """

    @abstractmethod
    def complete(self, codes: Tensor, count: int, generator: torch.Generator) -> Tensor:
        """Rows with their holes filled at random, given what is observed of them: (rows, count, variables)."""

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        """The prior as plain data and tensors, for a file."""
        raise NbrError(f"the prior {type(self).__name__} cannot be saved")
