"""Many nonexpansive networks at once, and a sound bound on how far they can move two inputs apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from nbr.errors import NbrError
from nbr.lipschitz.layers import Convolution, Dense, GroupSort, MaxMin
from nbr.lipschitz.neighbours import Local
from nbr.lipschitz.stiefel import retract

UNIT = 2.0**-53  # rounding of one operation in float64
LOST = 2.0**-500  # squares of smaller numbers are lost: what is computed by them is rounded up by as much


def dense(inputs: int, widths: Sequence[int], count: int = 1, shared: int = 0, seed: int = 0) -> nn.Sequential:
    """`count` dense networks with MaxMin after each hidden layer, and one output each.

    Args:
        inputs: The size of an input.
        widths: The units of each hidden layer; even.
        count: The number of networks.
        shared: The number of first layers that all networks share.
        seed: The seed of the first weights.

    Returns:
        A module that maps (n, inputs) to (count, n, 1).

    >>> dense(5, [8, 4], count=3, shared=1)(torch.zeros(7, 5)).shape
    torch.Size([3, 7, 1])
    """
    if any(width % 2 for width in widths):
        raise NbrError(f"widths must be even, since MaxMin takes pairs, not {list(widths)}")
    generator = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for number, (before, after) in enumerate(pairwise([inputs, *widths])):
        layers += [Dense(before, after, 1 if number < shared else count, generator), MaxMin()]
    return nn.Sequential(*layers, Dense([inputs, *widths][-1], 1, count, generator))


def bound(network: nn.Module) -> Tensor:
    """A proved upper bound on the Lipschitz constant of each network in L2, in float64.

    It is the product of the norms of the layers: singular values of dense ones and of what mixes the channels of local
    ones, all frequencies of convolutions, 1 for activations that sort. Rounding of the decomposition is included.

    Args:
        network: A module made of the layers of this package.

    Returns:
        One bound for each network, shape (count,).
    """
    total = torch.ones(1, dtype=torch.float64)
    for layer in checked(network):
        if isinstance(layer, Dense | Local):
            total = total * _norms(_matrix(layer).weight)
        elif isinstance(layer, Convolution):
            norm = layer.norm().detach()
            total = total * norm.clamp(max=1.0) * (1 + 1e-12)
    return total


def finish(network: nn.Module) -> None:
    """Bring every dense and every local layer to norm at most 1, as exactly as its weights can represent, in place.

    Args:
        network: A module made of the layers of this package.
    """
    with torch.no_grad():
        for layer in checked(network):
            if not isinstance(layer, Dense | Local):
                continue
            weight = _matrix(layer).weight.double()
            tall = weight.shape[-2] > weight.shape[-1]
            rows = retract(weight.mT if tall else weight, rounds=4)
            rows = rows.mT if tall else rows
            _matrix(layer).weight.copy_(rows / _norms(rows).clamp(min=1.0)[:, None, None])


def rounding(network: nn.Module, length: Tensor) -> Tensor:
    """A bound on the rounding error of the outputs in float64.

    A product W x of m terms is off by at most m u |W||x| in each row, so by m u |W|_F |x| in length; later layers
    pass it on. The same at each of the places of a local layer, whose parts of x are not longer than x together.

    Args:
        network: A module made of the layers of this package.
        length: The L2 lengths of inputs, shape (n, 1).

    Returns:
        Bounds, shape (count, n).
    """
    error = torch.zeros_like(length)[None]
    size = length[None]
    for layer in checked(network):
        if isinstance(layer, Dense | Local):
            matrix, places = _matrix(layer), layer.places if isinstance(layer, Local) else 1
            weight, bias = matrix.weight.detach().double(), matrix.bias.detach().double()[:, 0]
            terms = weight.shape[-1] + 2
            slip = terms * UNIT / (1 - terms * UNIT)
            frobenius = weight.flatten(1).norm(dim=1)[:, None] + LOST
            shift = math.sqrt(places) * (bias.norm(dim=1)[:, None] + LOST)
            norm = _norms(weight)[:, None]
            error = norm * error + slip * (frobenius * (size + error) + shift)
            size = norm * size + shift
        elif isinstance(layer, Convolution):
            raise NbrError("rounding of convolutions is not bounded yet")
    return 1.01 * error  # the bound was itself computed in float64


def _matrix(layer: Dense | Local) -> Dense:
    """What a layer multiplies by: of a local one the same at every place."""
    return layer.mix if isinstance(layer, Local) else layer


def _norms(weight: Tensor) -> Tensor:
    """Upper bounds on spectral norms; LAPACK's singular values are off by a small multiple of the rounding unit."""
    values = np.linalg.svd(weight.detach().double().numpy(), compute_uv=False)[:, 0]
    slack = 16 * max(weight.shape[-2:]) * UNIT
    return torch.from_numpy(values * (1 + slack) + LOST)


def checked(network: nn.Module) -> list[nn.Module]:
    """The layers of networks for which a bound is known; an error says what it does not cover.

    Shapes have to chain, numbers to be finite, and what sorts has to get whole groups: two halves of different widths,
    say, would be broadcast, and that stretches. Before a dense layer the places of a picture are made flat.
    """
    layers = list(network) if isinstance(network, nn.Sequential) else [network]
    if not layers:
        raise NbrError("a network has no layers")
    width: int | None = None  # of the vectors that the next layer gets, where that is known
    count, places = 1, 1  # how many vectors it gets: of so many networks, and of so many places of each picture
    for number, layer in enumerate(layers, 1):
        where = f"layer {number} of a network"
        if isinstance(layer, Dense):
            if places > 1:
                raise NbrError(f"{where} is dense, and gets {places} places of a picture, which are to be made flat")
            count, width = _dense(layer, count, width, where)
        elif isinstance(layer, Local):
            width, places = _local(layer, count, None if width is None else places * width, where), layer.places
        elif isinstance(layer, Convolution):
            _finite(layer, where)
            if layer.weight.dim() != 4 or layer.weight.shape[2] != layer.weight.shape[3]:
                raise NbrError(f"{where}: a convolution has square filters, not {tuple(layer.weight.shape)}")
            width = None
        elif isinstance(layer, (MaxMin, GroupSort)):
            group = layer.group if isinstance(layer, GroupSort) else 2
            if width is not None and width % group:
                raise NbrError(f"{where}: {type(layer).__name__} takes groups of {group}, and gets {width} numbers")
        elif isinstance(layer, nn.Flatten) and (layer.start_dim, layer.end_dim) == (1, -1):
            width, places = None if width is None else places * width, 1
        else:
            raise NbrError(f"no Lipschitz bound is known for a layer {type(layer).__name__}")
    return layers


def _local(layer: Local, count: int, size: int | None, where: str) -> int:
    """How many channels come out, if it takes what it gets."""
    needed = layer.size[0] * layer.size[1] * layer.channels
    if size not in (None, needed) or count != 1:
        raise NbrError(f"{where} takes pictures of {needed} numbers, and gets {count} x {size}")
    if layer.mix.weight.shape[0] != 1:
        raise NbrError(f"{where} mixes the channels of a picture by one matrix, not {layer.mix.weight.shape[0]}")
    return _dense(layer.mix, 1, layer.block**2 * layer.channels, where)[1]


def _dense(layer: Dense, count: int, width: int | None, where: str) -> tuple[int, int]:
    """How many networks a layer is of and how many numbers each gives, if it takes what it gets."""
    shape, bias = tuple(layer.weight.shape), tuple(layer.bias.shape)
    if len(shape) != 3 or 0 in shape or bias != (shape[0], 1, shape[1]):
        raise NbrError(f"{where}: weights {shape} and biases {bias} do not fit together")
    if width not in (None, shape[2]) or count not in (1, shape[0]):
        raise NbrError(f"{where} takes {shape[0]} x {shape[2]} numbers, and gets {count} x {width}")
    _finite(layer, where)
    return shape[0], shape[1]


def finite(part: Tensor) -> bool:
    """Whether all entries are finite numbers: by the smallest and the largest, in one pass."""
    return not part.numel() or bool(torch.stack(part.aminmax()).isfinite().all())


def _finite(layer: Dense | Convolution, where: str) -> None:
    for name, part in (("weight", layer.weight), ("bias", layer.bias)):
        if not finite(part.detach()):
            raise NbrError(f"{where}: a {name} is not a finite number")


def length(points: Tensor) -> Tensor:
    """L2 lengths of points (n, size), rounded up."""
    exact: Tensor = points.double().norm(dim=1)
    return exact * (1 + points.shape[1] * UNIT) + LOST
