"""All points of a box with few open bits, gone through at once: cheaper than halving it down to each of them.

Networks are asked in single precision first, with their worst rounding added. What may still be of use is left to be
asked again in double precision, so that nothing depends on the rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor, nn

from nbr.encodings.halfspaces import Halfspace
from nbr.rules import Rule
from nbr.world import World

OPEN = 12  # bits of a box that is gone through
ROUNDING = 2.0**-24  # of a number in single precision, as a share of it


class Leaves:
    """Boxes with few open bits among some rules, of which at least one is a network."""

    def __init__(self, world: World, rules: Sequence[Rule], demands: Sequence[Halfspace]) -> None:
        self.demands = demands
        self.bits = torch.tensor([variable.boolean for variable in world.variables.values()])
        found = [Single.of(rule) for rule in rules]
        self.networks = [network for network in found if network is not None]

    def fit(self, low: Tensor, high: Tensor) -> Tensor:
        """Which boxes can be gone through."""
        free = low < high
        few = (free.sum(dim=1) <= OPEN) & ~(free & ~self.bits).any(dim=1)
        return few if self.networks else torch.zeros_like(few)

    def points(self, low: Tensor, high: Tensor, level: float) -> Tensor:
        """The points of one box that may have grades above a level: (points, variables)."""
        free = (low < high).nonzero()[:, 0]
        codes = combinations(len(free))
        alive = torch.ones(len(codes), dtype=torch.bool)
        for line, least in self.demands:
            alive &= codes @ line[free].float() >= least - float(line @ low) - 1e-3
        wanted = float(torch.logit(torch.tensor(level, dtype=torch.float64)))
        for network in self.networks:
            which = alive.nonzero()[:, 0]
            few = 2 * len(which) < len(codes)
            logits = network.logits(low, free, codes[which] if few else codes)
            alive[which] &= (logits if few else logits[which]) > wanted - network.slack
        found = low.repeat(int(alive.sum()), 1)
        found[:, free] = codes[alive].double()
        return found


class Single:
    """A network in single precision, over combinations of some bits that the rest of its inputs stay fixed for."""

    def __init__(self, rule: Rule, chain: list[nn.Module], output: int) -> None:
        self.columns = torch.tensor([rule.world.column(name) for name in rule.inputs])
        self.output = output
        self.chain = [_single(layer) for layer in chain]
        first = chain[0]
        assert isinstance(first, nn.Linear)
        self.weight = first.weight.detach().double()
        self.bias = self.weight.new_zeros(len(self.weight)) if first.bias is None else first.bias.detach().double()
        self.slack = _rounding(len(rule.inputs), chain, output)

    @classmethod
    def of(cls, rule: Rule) -> Single | None:
        if rule.chain is None:
            return None
        chain, output = rule.chain
        bits = all(rule.world.variables[name].boolean for name in rule.inputs)
        plain = all(isinstance(layer, nn.Linear | nn.ReLU | nn.Identity) for layer in chain)
        return cls(rule, chain, output) if bits and plain and isinstance(chain[0], nn.Linear) else None

    def logits(self, low: Tensor, free: Tensor, codes: Tensor) -> Tensor:
        """At the point `low` with codes (points, bits) in the place of its free columns."""
        read = (self.columns[:, None] == free).double()  # (inputs, free)
        weight, start = self.weight @ read, self.weight @ low[self.columns] + self.bias
        values = torch.addmm(start.float(), codes, weight.T.float())
        for layer in self.chain[1:]:
            values = values.relu_() if isinstance(layer, nn.ReLU) else layer(values)
        return values[:, self.output]


@lru_cache(maxsize=32)
def combinations(bits: int) -> Tensor:
    """All combinations of some bits, in single precision: (2^bits, bits)."""
    return (torch.arange(1 << bits)[:, None] >> torch.arange(bits) & 1).float()


def _single(layer: nn.Module) -> nn.Module:
    if not isinstance(layer, nn.Linear):
        return layer
    made = nn.Linear(layer.in_features, layer.out_features, layer.bias is not None)
    made.load_state_dict({name: value.detach().float() for name, value in layer.state_dict().items()})
    return made.requires_grad_(False)


def _rounding(inputs: int, chain: Sequence[nn.Module], output: int) -> float:
    """The most that a logit may be off in single precision, whatever the point.

    A sum of n products w.a, in any order, is off by at most |w|.|a| n u / (1 - n u); rounding the numbers themselves,
    and adding the bias, count as four more terms.
    """
    size, wrong = torch.ones(inputs, dtype=torch.float64), torch.zeros(inputs, dtype=torch.float64)
    for layer in chain:
        if isinstance(layer, nn.Linear):
            weight = layer.weight.detach().double().abs()
            bias = torch.zeros(len(weight)).double() if layer.bias is None else layer.bias.detach().double().abs()
            terms = (layer.in_features + 4) * ROUNDING
            grown = weight @ (size + wrong) + bias
            wrong, size = weight @ wrong + terms / (1 - terms) * grown, weight @ size + bias
    return float(wrong[output]) + 1e-6
