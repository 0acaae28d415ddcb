"""Rules that are learned: small networks side by side, each reading its own inputs and giving several rules."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nbr.rules import Neural, Rule
from nbr.world import World


class Bank(nn.Module):
    """A group of rules for each set of inputs, as one batched network.

    The networks have two hidden layers of ReLU units. Inputs are scaled here, by fixed numbers that are folded
    into the first layer when the rules are taken out. Beliefs start at 1/2, as the author's.
    """

    shift: Tensor
    scale: Tensor
    reads: Tensor

    def __init__(self, world: World, inputs: Sequence[tuple[str, ...]], rules: int, width: int, seed: int) -> None:
        super().__init__()
        self.world, self.inputs, self.rules = world, [tuple(names) for names in inputs], rules
        shift, scale, owner = _columns(world)
        reads = torch.tensor([[name in names for name in owner] for names in self.inputs])
        self.register_buffer("shift", shift)
        self.register_buffer("scale", scale)
        self.register_buffer("reads", reads)
        groups, columns = reads.shape
        generator = torch.Generator().manual_seed(seed)

        def weights(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(groups, *shape, generator=generator) * math.sqrt(2 / shape[0]))

        self.first = weights(columns, width)
        self.second = weights(width, width)
        self.last = nn.Parameter(weights(width, rules).detach() / 2)
        self.first_bias = nn.Parameter(torch.randn(groups, 1, width, generator=generator) * 0.1)
        self.second_bias = nn.Parameter(torch.zeros(groups, 1, width))
        self.last_bias = nn.Parameter(torch.zeros(groups, 1, rules))
        self.doubt = nn.Parameter(torch.zeros(groups * rules))  # logits of the beliefs

    @property
    def beliefs(self) -> Tensor:
        return torch.sigmoid(self.doubt)

    def encode(self, points: Tensor) -> Tensor:
        """Points of the world as scaled columns: done once, before training."""
        raw = self.world.encode(points, self.world.names)
        return ((raw - self.shift) * self.scale).to(self.first.dtype)

    def forward(self, encoded: Tensor) -> Tensor:
        """The grades of encoded points in every rule: (points, rules)."""
        return torch.sigmoid(self.logits(encoded)).movedim(0, 1).flatten(1)

    def logits(self, encoded: Tensor) -> Tensor:
        """Before the sigmoid: (groups, points, rules of a group)."""
        first = self.first * self.reads[:, :, None]
        hidden = torch.relu(encoded @ first + self.first_bias)
        hidden = torch.relu(hidden @ self.second + self.second_bias)
        return hidden @ self.last + self.last_bias

    def export(self) -> list[Rule]:
        """The rules as ordinary ones, which know nothing of their training."""
        rules: list[Rule] = []
        beliefs = self.beliefs.detach().double().tolist()
        for group, names in enumerate(self.inputs):
            network = self.network(group)
            for output in range(self.rules):
                belief = beliefs[group * self.rules + output]
                rules.append(Neural(names, network, belief, output=output))
        return rules

    def network(self, group: int) -> nn.Sequential:
        """The network of a group as ordinary layers on unscaled inputs."""
        at = self.reads[group]
        first = self.first[group, at].detach().double() * self.scale[at, None]
        bias = self.first_bias[group, 0].detach().double() - self.shift[at] @ first
        return nn.Sequential(
            _linear(first, bias),
            nn.ReLU(),
            _linear(self.second[group], self.second_bias[group, 0]),
            nn.ReLU(),
            _linear(self.last[group], self.last_bias[group, 0]),
        )


def _columns(world: World) -> tuple[Tensor, Tensor, list[str]]:
    """How to shift and scale every encoded column to about [-1, 1], and the variable that it belongs to."""
    shift, scale, owner = [], [], []
    for name, variable in world.variables.items():
        low, high = (variable.low, variable.high) if variable.numeric else (0.0, 1.0)
        width = variable.width
        shift += [(low + high) / 2] * width
        scale += [2 / (high - low)] * width
        owner += [name] * width
    return torch.tensor(shift, dtype=torch.float64), torch.tensor(scale, dtype=torch.float64), owner


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    rows, columns = weight.shape
    layer = nn.Linear(rows, columns, dtype=torch.float32, device="meta")
    layer.weight = nn.Parameter(weight.detach().T.float().contiguous())
    layer.bias = nn.Parameter(bias.detach().float().contiguous())
    return layer
