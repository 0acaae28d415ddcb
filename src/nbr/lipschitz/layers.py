"""Layers that never move two inputs apart in L2: dense, convolutional, and sorting activations.

Dense layers hold `count` networks side by side: inputs are (n, size) or (1, n, size), the same for all networks, or
(count, n, size), and outputs (count, n, size). Weights start, and under `Stiefel` stay, with orthonormal rows or
columns: gradients then keep their length on the way back, which is what makes nonexpansive networks trainable.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from nbr.errors import NbrError


class Dense(nn.Module):
    """`count` linear maps x -> W x + b with W on the Stiefel manifold.

    Args:
        inputs: The size of an input.
        outputs: The size of an output.
        count: The number of maps.
        generator: The source of randomness for the first weights.
    """

    def __init__(self, inputs: int, outputs: int, count: int = 1, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(_orthogonal(count, outputs, inputs, generator))
        self.bias = nn.Parameter(torch.zeros(count, 1, outputs))

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor) -> Dense:
        """A layer of these weights (count, outputs, inputs) and biases (count, 1, outputs), those of a file, say."""
        layer = cls.__new__(cls)
        nn.Module.__init__(layer)
        layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
        return layer

    def forward(self, x: Tensor) -> Tensor:
        count, outputs, _ = self.weight.shape
        if x.dim() == 3 and len(x) == 1:
            x = x[0]
        if x.dim() == 2:  # one large product instead of many small ones
            flat = x @ self.weight.flatten(0, 1).T
            return flat.view(len(x), count, outputs).transpose(0, 1) + self.bias
        return torch.baddbmm(self.bias, x, self.weight.mT)


class Convolution(nn.Module):
    """A convolution with zero padding, divided by the norm of its operator when that exceeds 1.

    The operator with zero padding is a part of the circular one on the enlarged picture, whose singular values are
    those of one small matrix for each frequency.

    Args:
        channels: The number of input channels; pictures are (n, channels, height, width).
        filters: The number of output channels.
        kernel: The side of the square filters.
        size: The height and the width of a picture.
        generator: The source of randomness for the first weights.
    """

    def __init__(
        self,
        channels: int,
        filters: int,
        kernel: int,
        size: tuple[int, int],
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        start = torch.randn(filters, channels, kernel, kernel, generator=generator)
        self.weight = nn.Parameter(start / math.sqrt(channels * kernel * kernel))
        self.bias = nn.Parameter(torch.zeros(filters))

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-2:] != self.size:  # the norm is that of pictures of this size
            raise NbrError(f"a convolution of pictures {self.size} was given some of {tuple(x.shape[-2:])}")
        weight = self.weight / self.norm().clamp(min=1.0).to(self.weight.dtype)
        return nn.functional.conv2d(x, weight.to(x.dtype), self.bias.to(x.dtype), padding="same")

    def norm(self) -> Tensor:
        """The largest singular value over all frequencies, an upper bound for the operator."""
        kernel = self.weight.shape[-1]
        enlarged = (self.size[0] + kernel - 1, self.size[1] + kernel - 1)
        spectrum = torch.fft.fft2(self.weight.double(), s=enlarged)
        largest: Tensor = torch.linalg.matrix_norm(spectrum.permute(2, 3, 0, 1), ord=2).amax()
        return largest


class MaxMin(nn.Module):
    """The maximum and the minimum of each pair: a permutation that depends on the input, so it keeps all norms.

    >>> MaxMin()(torch.tensor([[1.0, 4.0, 3.0, 2.0]]))
    tensor([[3., 4., 1., 2.]])
    """

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] % 2:  # halves of different widths would broadcast, and stretch
            raise NbrError(f"MaxMin takes pairs: an even width, not {x.shape[-1]}")
        sorted_pairs: Tensor = _SortedPairs.apply(x)  # type: ignore[no-untyped-call]
        return sorted_pairs


class _SortedPairs(torch.autograd.Function):
    """MaxMin with a gradient of a few products: that of torch's maximum and minimum takes five times as long."""

    @staticmethod
    def forward(context: Any, x: Tensor) -> Tensor:
        context.save_for_backward(x)
        first, second = x.chunk(2, dim=-1)
        sorted_pairs = torch.empty_like(x)
        larger, smaller = sorted_pairs.chunk(2, dim=-1)
        torch.maximum(first, second, out=larger)
        torch.minimum(first, second, out=smaller)
        return sorted_pairs

    @staticmethod
    def backward(context: Any, slope: Tensor) -> Tensor:
        (x,) = context.saved_tensors
        first, second = x.chunk(2, dim=-1)
        larger, smaller = slope.chunk(2, dim=-1)
        swapped = (larger - smaller) * ((first - second).sign() + 1) / 2  # where they are equal, half and half
        return torch.cat([smaller + swapped, larger - swapped], dim=-1)


class GroupSort(nn.Module):
    """Sort within groups of neighbours; groups of two are MaxMin in another order.

    Args:
        group: The size of a group.

    >>> GroupSort(4)(torch.tensor([[1.0, 4.0, 3.0, 2.0]]))
    tensor([[1., 2., 3., 4.]])
    """

    def __init__(self, group: int) -> None:
        super().__init__()
        if group < 1:
            raise NbrError(f"GroupSort takes groups of at least one, not {group}")
        self.group = group

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[-1] % self.group:
            raise NbrError(f"GroupSort takes groups of {self.group}: a multiple of that as width, not {x.shape[-1]}")
        sorted_groups: Tensor = x.unflatten(-1, (-1, self.group)).sort(dim=-1).values
        return sorted_groups.flatten(-2)


def _orthogonal(count: int, outputs: int, inputs: int, generator: torch.Generator | None) -> Tensor:
    weight = torch.empty(count, outputs, inputs)
    for one in weight:
        nn.init.orthogonal_(one, generator=generator)
    return weight
