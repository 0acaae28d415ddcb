"""A number that is normal within its bounds: how models described numbers that were learned before `numbers` was."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.priors.columns import Allowed
from nbr.world import Variable

WIDE = 9  # deviations beyond which nothing is left


@dataclass(frozen=True)
class Normal:
    """A mean and a standard deviation; the curve is cut at the bounds, and its height goes on beyond them."""

    variable: Variable
    mean: float
    spread: float

    def __post_init__(self) -> None:
        sound = math.isfinite(self.mean) and 0 < self.spread < math.inf
        inside = self._below(self.variable.high) - self._below(self.variable.low) if sound else 0.0
        if not math.sqrt(2 * math.pi) * self.spread * inside > 0:
            raise NbrError(f"no value is near a mean of {self.mean:g} with a spread of {self.spread:g}")

    @property
    def mass(self) -> Tensor:
        return torch.ones(1, dtype=torch.float64)

    def locate(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """One state for all, and the log density."""
        z = (codes - self.mean) / self.spread
        inside = self._below(self.variable.high) - self._below(self.variable.low)
        score = -0.5 * z**2 - math.log(math.sqrt(2 * math.pi) * self.spread * inside)
        return torch.zeros_like(codes, dtype=torch.long), score.masked_fill(codes.isnan(), 0.0)

    def admits(self, allowed: Allowed) -> Tensor:
        inside = self._below(self.variable.high) - self._below(self.variable.low)
        return torch.tensor([sum(b - a for a, b in self._pieces(allowed)) / inside], dtype=torch.float64)

    def draw(self, states: Tensor, generator: torch.Generator, allowed: Allowed | None = None) -> Tensor:
        pieces = self._pieces(((-math.inf, math.inf),) if allowed is None else allowed)
        ends = torch.tensor([b - a for a, b in pieces], dtype=torch.float64).cumsum(0)
        share = torch.rand(len(states), generator=generator, dtype=torch.float64) * ends[-1]
        piece = torch.searchsorted(ends[:-1].contiguous(), share, right=True)
        start = torch.tensor([a for a, _ in pieces], dtype=torch.float64) - torch.cat([ends.new_zeros(1), ends[:-1]])
        normal = torch.special.ndtri((start[piece] + share).clamp(1e-12, 1 - 1e-12))
        drawn: Tensor = (self.mean + self.spread * normal).clamp(self.variable.low, self.variable.high)
        return drawn

    @property
    def edges(self) -> Tensor:
        """Steps of one deviation, between which the curve is nearly straight."""
        steps = self.mean + self.spread * torch.arange(-WIDE, WIDE + 1, dtype=torch.float64)
        found: Tensor = steps.clamp(self.variable.low, self.variable.high).unique()
        return found

    def below(self, values: Tensor) -> Tensor:
        low, high = self._below(self.variable.low), self._below(self.variable.high)
        found: Tensor = ((torch.special.ndtr((values - self.mean) / self.spread) - low) / (high - low)).clamp(0.0, 1.0)
        return found

    def _pieces(self, allowed: Allowed) -> list[tuple[float, float]]:
        """Pieces within the bounds, as shares of the whole curve."""
        low, high = self.variable.low, self.variable.high
        cut = [(max(float(a), low), min(float(b), high)) for a, b in allowed]
        return [(self._below(a), self._below(b)) for a, b in cut if a <= b]

    def _below(self, edge: float) -> float:
        return 0.5 * math.erfc((self.mean - edge) / self.spread / math.sqrt(2))
