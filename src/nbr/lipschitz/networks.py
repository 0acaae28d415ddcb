"""Many nonexpansive networks at once, and a sound bound on how far they can move two inputs apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from nbr.errors import NbrError
from nbr.lipschitz.layers import Convolution, Dense, GroupSort, MaxMin
from nbr.lipschitz.stiefel import retract

UNIT = 2.0**-53  # rounding of one operation in float64


def dense(inputs: int, widths: Sequence[int], count: int = 1, shared: int = 0, seed: int = 0) -> nn.Sequential:
    """`count` networks with MaxMin after layers of these widths, and one number out: (n, inputs) -> (count, n, 1).

    The first `shared` layers are the same for all networks.

    >>> dense(5, [8, 4], count=3, shared=1)(torch.zeros(7, 5)).shape
    torch.Size([3, 7, 1])
    """
    if any(width % 2 for width in widths):
        raise NbrError(f"widths are even, since MaxMin takes pairs, not {list(widths)}")
    generator = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for number, (before, after) in enumerate(pairwise([inputs, *widths])):
        layers += [Dense(before, after, 1 if number < shared else count, generator), MaxMin()]
    return nn.Sequential(*layers, Dense([inputs, *widths][-1], 1, count, generator))


def bound(network: nn.Module) -> Tensor:
    """For each network a number that its Lipschitz constant in L2 does not exceed, in float64.

    The product of the norms of its layers: singular values of dense ones, all frequencies of convolutions, 1 for
    activations that sort. Rounding of the decomposition is allowed for.
    """
    total = torch.ones(1, dtype=torch.float64)
    for layer in _chain(network):
        if isinstance(layer, Dense):
            total = total * _norms(layer.weight)
        elif isinstance(layer, Convolution):
            norm = layer.norm().detach()
            total = total * norm.clamp(max=1.0) * (1 + 1e-12)
    return total


def finish(network: nn.Module) -> None:
    """Bring every dense layer to norm at most 1 as exactly as its weights can hold, in place."""
    with torch.no_grad():
        for layer in _chain(network):
            if not isinstance(layer, Dense):
                continue
            weight = layer.weight.double()
            tall = weight.shape[-2] > weight.shape[-1]
            rows = retract(weight.mT if tall else weight, rounds=4)
            rows = rows.mT if tall else rows
            layer.weight.copy_(rows / _norms(rows).clamp(min=1.0)[:, None, None])


def rounding(network: nn.Module, length: Tensor) -> Tensor:
    """How far float64 may be off in the outputs for inputs of the given L2 lengths: (count, n).

    A product W x of m terms is off by at most m u |W||x| a row, so by m u |W|_F |x| in length; later layers hand it on.
    """
    error = torch.zeros_like(length)[None]
    size = length[None]
    for layer in _chain(network):
        if isinstance(layer, Dense):
            weight, bias = layer.weight.detach().double(), layer.bias.detach().double()[:, 0]
            terms = weight.shape[-1] + 2
            slip = terms * UNIT / (1 - terms * UNIT)
            frobenius, shift = weight.flatten(1).norm(dim=1)[:, None], bias.norm(dim=1)[:, None]
            norm = _norms(weight)[:, None]
            error = norm * error + slip * (frobenius * (size + error) + shift)
            size = norm * size + shift
        elif isinstance(layer, Convolution):
            raise NbrError("rounding of convolutions is not bounded yet")
    return 1.01 * error  # the bound was itself computed in float64


def _norms(weight: Tensor) -> Tensor:
    """Upper bounds on spectral norms; LAPACK's singular values are off by a small multiple of the rounding unit."""
    values = np.linalg.svd(weight.detach().double().numpy(), compute_uv=False)[:, 0]
    slack = 16 * max(weight.shape[-2:]) * UNIT
    return torch.from_numpy(values * (1 + slack))


def _chain(network: nn.Module) -> list[nn.Module]:
    layers = list(network) if isinstance(network, nn.Sequential) else [network]
    for layer in layers:
        if not isinstance(layer, (Dense, Convolution, MaxMin, GroupSort, nn.Flatten)):
            raise NbrError(f"no Lipschitz bound is known for a layer {type(layer).__name__}")
    return layers


def length(points: Tensor) -> Tensor:
    """L2 lengths of points (n, size), rounded up."""
    exact: Tensor = points.double().norm(dim=1)
    return exact * (1 + points.shape[1] * UNIT)
