"""A trained network that is only asked: asking it changes nothing, in whatever precision, from any thread."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from nbr.errors import NbrError
from nbr.lipschitz.layers import Dense
from nbr.lipschitz.neighbours import Local
from nbr.lipschitz.networks import bound, checked, rounding

CHUNK = 512  # inputs at a time


class Fixed:
    """A copy of nonexpansive networks whose weights never change, with proved bounds.

    Args:
        network: The networks to copy.
    """

    def __init__(self, network: nn.Module) -> None:
        self._hold(copy.deepcopy(network))

    @classmethod
    def taking(cls, network: nn.Module) -> Fixed:
        """The networks themselves, which nobody else has: those of a file, say."""
        found = cls.__new__(cls)
        found._hold(network)
        return found

    def _hold(self, network: nn.Module) -> None:
        *_, last = checked(network)
        if not isinstance(last, Dense) or last.weight.shape[1] != 1:
            raise NbrError("a network whose output is a score ends in a dense layer of one output")
        self._network = network.eval().requires_grad_(False)
        self._copies: dict[torch.dtype, nn.Module] = {}

    def __call__(self, points: Tensor) -> Tensor:
        """The outputs of all networks, in the precision of the points: (n, networks)."""
        network = self._at(points.dtype)
        return torch.cat([network(part)[..., 0].T for part in points.split(CHUNK)])

    @cached_property
    def bound(self) -> Tensor:
        """An upper bound on the Lipschitz constant of each network, in float64."""
        return bound(self._network)

    def rounding(self, length: Tensor) -> Tensor:
        """A bound on the rounding error of the outputs in float64.

        Args:
            length: The L2 lengths of inputs, shape (n, 1) or (n, networks).
        """
        start, slope = self._rounding
        return start + slope * length

    @cached_property
    def _rounding(self) -> tuple[Tensor, Tensor]:
        """The bound is linear in the length of the input."""
        start, end = rounding(self._network, torch.tensor([0.0, 1.0], dtype=torch.float64)).unbind(dim=1)
        return start, (end - start) * (1 + 1e-12)

    @property
    def inputs(self) -> int:
        """The size of an input."""
        first = next(self._network.children())
        if isinstance(first, Local):
            return first.size[0] * first.size[1] * first.channels
        return next(first.parameters()).shape[-1]

    @property
    def count(self) -> int:
        """The number of networks."""
        *_, last = self._network.parameters()
        return last.shape[0]

    @property
    def linear(self) -> bool:
        """Whether they have one layer, without an activation."""
        return len(checked(self._network)) == 1

    @property
    def weights(self) -> int:
        """The number of weights."""
        return sum(value.numel() for value in self._network.parameters())

    def module(self) -> nn.Module:
        """A copy of the networks, which may be changed."""
        return copy.deepcopy(self._network)

    def _at(self, dtype: torch.dtype) -> nn.Module:
        found = self._copies.get(dtype)
        if found is None and dtype == next(self._network.parameters()).dtype:
            found = self._network
        elif found is None:
            found = self._copies[dtype] = copy.deepcopy(self._network).to(dtype)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"_network": self._network, "_copies": {}}
