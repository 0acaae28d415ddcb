"""Linear functions that a network never leaves within a region of its inputs.

Going backwards from the last layer, each activation is replaced by the line above it or the one below it, whichever
the sign of what follows asks for (Zhang and others, 2018, CROWN). Tighter than interval arithmetic, since what two
neurons have in common is not lost, and it says which input matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from nbr.rules.layers import layers

RIDGE = 1e-9


@dataclass(frozen=True)
class Region:
    """Boxes from low to high, (boxes, variables), and within each the points whose sums are between least and most.

    The sums, weights (sums, variables) times a point, say how a network sees many inputs at once: cutting a box along
    them tells more than cutting it along one input after the other.
    """

    low: Tensor
    high: Tensor
    sums: Tensor
    least: Tensor  # (boxes, sums)
    most: Tensor

    @cached_property
    def centre(self) -> Tensor:
        return (self.low + self.high) / 2

    @cached_property
    def reach(self) -> Tensor:
        return (self.high - self.low) / 2

    @cached_property
    def _fit(self) -> Tensor:
        """What the shares of the sums in a linear function are found by: least squares where the box is wide."""
        wide = self.sums * self.reach.square()[:, None]
        square = wide @ self.sums.T
        scale = square.diagonal(dim1=1, dim2=2).mean(dim=1) + 1e-12
        ridge = RIDGE * scale[:, None, None] * torch.eye(len(self.sums), dtype=square.dtype)
        found: Tensor = torch.linalg.solve(square + ridge, wide)
        return found.transpose(1, 2)  # (boxes, variables, sums)

    def split(self, slopes: Tensor) -> tuple[Tensor, Tensor]:
        """Slopes (boxes, rows, variables) as shares of the sums and a rest: any shares are right, these are good."""
        if not len(self.sums):
            return slopes[:, :, :0], slopes
        shares = slopes @ self._fit
        return shares, slopes - shares @ self.sums

    def maximum(self, slopes: Tensor) -> Tensor:
        """At most this is slopes . z: (boxes, rows)."""
        if slopes.ndim == 2:  # all boxes share them
            plain = self.centre @ slopes.T + self.reach @ slopes.abs().T
        else:
            plain = (slopes @ self.centre[:, :, None] + slopes.abs() @ self.reach[:, :, None])[:, :, 0]
        if not len(self.sums):
            return plain
        shares, rest = self.split(slopes)
        middle, extent = (self.least + self.most)[:, :, None] / 2, (self.most - self.least)[:, :, None] / 2
        within = shares @ middle + shares.abs() @ extent
        return plain.minimum((within + rest @ self.centre[:, :, None] + rest.abs() @ self.reach[:, :, None])[:, :, 0])


@dataclass(frozen=True)
class _Activation:
    """Lines around an activation for the values that reach it: slopes and intercepts below and above."""

    below: Tensor
    below_at: Tensor
    above: Tensor
    above_at: Tensor


Stages = list[tuple[Tensor, Tensor] | _Activation]


def lines(network: nn.Module, columns: Sequence[int], region: Region) -> tuple[Tensor, Tensor] | None:
    """Lines above the outputs of a network that reads some columns of a region; None if a layer is not known.

    Slopes (boxes, outputs, variables) and intercepts (boxes, outputs).
    """
    chain = layers(network)
    if chain is None:
        return None
    low, high = region.low[:, columns], region.high[:, columns]
    whole = torch.eye(region.low.shape[1], dtype=low.dtype)[columns]
    stages: Stages = [(whole, low.new_zeros(len(columns)))]
    for layer in chain:
        if isinstance(layer, nn.Linear):
            bias = low.new_zeros(layer.out_features) if layer.bias is None else layer.bias.to(low.dtype)
            stages.append((layer.weight.to(low.dtype), bias))
            every = torch.eye(layer.out_features, dtype=low.dtype)
            ends = [_above(stages, sign * every, region) for sign in (-1.0, 1.0)]
            (under, down), (over, up) = ends
            low, high = -region.maximum(under) - down, region.maximum(over) + up
        else:
            stages.append(_activation(layer, low, high))
            low, high = layer(low), layer(high)
    slopes, intercepts = _above(stages, torch.eye(low.shape[1], dtype=low.dtype), region)
    return slopes.expand(len(low), -1, -1), intercepts


def _above(stages: Stages, wanted: Tensor, region: Region) -> tuple[Tensor, Tensor]:
    """Lines above `wanted` (outputs, width) times what the stages give; slopes that all boxes share stay shared."""
    slopes, intercepts = wanted, wanted.new_zeros(len(region.low), len(wanted))
    for stage in reversed(stages):
        if isinstance(stage, tuple):
            intercepts = intercepts + slopes @ stage[1]
            slopes = slopes @ stage[0]
        else:
            up, down = slopes.clamp(min=0), slopes.clamp(max=0)
            for part, at in ((up, stage.above_at), (down, stage.below_at)):
                intercepts = intercepts + (at @ part.T if part.ndim == 2 else (part @ at[:, :, None])[:, :, 0])
            slopes = (up * stage.above[:, None]).addcmul_(down, stage.below[:, None])
    return slopes, intercepts


def _activation(layer: nn.Module, low: Tensor, high: Tensor) -> _Activation:
    zero, one = torch.zeros_like(low), torch.ones_like(low)
    if isinstance(layer, nn.Identity):
        return _Activation(one, zero, one, zero)
    if not isinstance(layer, nn.ReLU):  # monotone: between its values at the ends
        return _Activation(zero, layer(low), zero, layer(high))
    bent = (low < 0) & (high > 0)
    chord = torch.where(bent, high / torch.where(bent, high - low, one), (low >= 0).to(low.dtype))
    below = torch.where(bent, (high > -low).to(low.dtype), chord)
    return _Activation(below, zero, chord, torch.where(bent, -chord * low, zero))
