"""The layers that a saved network may be made of: a closed list, so that a file never carries code.

Each layer says how it is written to a file and how it maps a box of inputs to a box of outputs
(interval arithmetic), from which proved bounds on a rule's grades follow.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.func import functional_call

from nbr.errors import NbrError

MONOTONE: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "identity": nn.Identity,
}
Box = tuple[Tensor, Tensor]


def layers(network: nn.Module) -> list[nn.Module] | None:
    """The chain of known layers that a network is, or None if it is something else."""
    if type(network) is nn.Sequential:
        chains = [layers(part) for part in network]
        return None if any(chain is None for chain in chains) else [part for chain in chains for part in chain or []]
    return [network] if type(network) is nn.Linear or _name(network) else None


def widths(network: nn.Module) -> tuple[int, int] | None:
    """How many numbers a chain of known layers takes and gives; None where that is not known.

    >>> widths(nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)))
    (3, 2)
    """
    linear = [layer for layer in layers(network) or [] if isinstance(layer, nn.Linear)]
    return (linear[0].weight.shape[1], linear[-1].weight.shape[0]) if linear else None


def run(network: nn.Module, inputs: Tensor) -> Tensor:
    """The network in the precision of its inputs, whatever that of its weights: inference is float64.

    Nothing of the network is touched, so that several threads may ask it: known layers are computed from their weights,
    and any other network is asked by a copy that shares its weights, and in which nothing is left to chance.
    """
    chain = layers(network)
    if chain is None:
        return _run_copy(network, inputs)
    for layer in chain:
        if isinstance(layer, nn.Linear):
            bias = None if layer.bias is None else layer.bias.to(inputs.dtype)
            inputs = nn.functional.linear(inputs, layer.weight.to(inputs.dtype), bias)
        else:
            inputs = layer(inputs)
    return inputs


def _run_copy(network: nn.Module, inputs: Tensor) -> Tensor:
    state: dict[str, Tensor] = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    exact = {key: value.to(inputs.dtype) for key, value in state.items() if value.is_floating_point()}
    shared = {id(value): value for value in state.values()}
    output: Tensor = functional_call(copy.deepcopy(network, shared).eval(), exact, (inputs,))
    return output


def box(network: nn.Module, low: Tensor, high: Tensor) -> Box | None:
    """What the network can give for inputs between low and high, or None if a layer is not known."""
    chain = layers(network)
    if chain is None:
        return None
    for layer in chain:
        if isinstance(layer, nn.Linear):
            weight = layer.weight.to(low.dtype)
            centre, spread = (low + high) / 2, (high - low) / 2
            middle = centre @ weight.T + (0 if layer.bias is None else layer.bias.to(low.dtype))
            reach = spread @ weight.abs().T
            low, high = middle - reach, middle + reach
        else:
            low, high = layer(low), layer(high)
    return low, high


def write(network: nn.Module) -> tuple[list[str], dict[str, Tensor]]:
    """The network as a list of layer names and its tensors."""
    chain = layers(network)
    if chain is None:
        known = ", ".join(["linear", *MONOTONE])
        raise NbrError(f"its network has a layer that is not one of {known}, or is not a Sequential of them")
    names: list[str] = []
    tensors: dict[str, Tensor] = {}
    for position, layer in enumerate(chain):
        if isinstance(layer, nn.Linear):
            names.append("linear")
            tensors[f"{position}.weight"] = layer.weight.detach()
            if layer.bias is not None:
                tensors[f"{position}.bias"] = layer.bias.detach()
        else:
            names.append(_name(layer))
    return names, tensors


def read(names: Sequence[object], tensors: Mapping[str, Tensor]) -> nn.Module:
    """The inverse of `write`; sizes come from the tensors, so a file cannot ask for more memory than it has."""
    chain: list[nn.Module] = []
    for position, name in enumerate(names):
        if name == "linear":
            chain.append(_linear(tensors.get(f"{position}.weight"), tensors.get(f"{position}.bias")))
        elif isinstance(name, str) and name in MONOTONE:
            chain.append(MONOTONE[name]())
        else:
            raise NbrError(f"unknown layer {name!r:.60}")
    linear = [layer for layer in chain if isinstance(layer, nn.Linear)]
    for before, after in pairwise(linear):
        if before.weight.shape[0] != after.weight.shape[1]:
            told = f"{before.weight.shape[0]} numbers is followed by one that takes {after.weight.shape[1]}"
            raise NbrError(f"a layer that gives {told}")
    if not linear:
        raise NbrError("a network has no linear layer")
    return nn.Sequential(*chain)


def _name(layer: nn.Module) -> str:
    return next((name for name, kind in MONOTONE.items() if type(layer) is kind), "")


def _linear(weight: Tensor | None, bias: Tensor | None) -> nn.Linear:
    if weight is None or weight.ndim != 2 or not weight.is_floating_point() or not torch.isfinite(weight).all():
        raise NbrError("a linear layer has no proper weight matrix")
    sound = bias is None or (bias.shape == weight.shape[:1] and bias.is_floating_point())
    if not sound or (bias is not None and not torch.isfinite(bias).all()):
        raise NbrError("a linear layer has a bias that does not fit")
    rows, columns = weight.shape
    layer = nn.Linear(columns, rows, bias=bias is not None, dtype=weight.dtype, device="meta")
    layer.weight = nn.Parameter(weight)
    if bias is not None:
        layer.bias = nn.Parameter(bias)
    return layer
