"""A network on codes that sees only some of what is observed."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from nbr import registry
from nbr.errors import NbrError
from nbr.rules import layers
from nbr.rules.base import Rule, listed
from nbr.rules.codec import Codec
from nbr.rules.neural import read_network

MOST = 1 << 12  # ways to fill what is not seen


@registry.kind("rule", "veiled", keys={"veiled", "network", "weights"})
class CodeNetwork(Rule):
    """sigmoid of the smallest logit over all values of the variables that are not seen.

    A code mixes all variables, so a network on codes would see them all. This one is asked about every way to fill
    what it should not see, and the most doubtful answer counts: its grade depends on the seen variables alone.
    """

    def __init__(
        self,
        seen: Iterable[str] | str,
        network: nn.Module,
        belief: float | Tensor,
        codec: Codec,
        name: str | None = None,
    ) -> None:
        super().__init__(belief, name)
        self.seen, self.network, self.codec = listed(seen), network, codec
        world = codec.world
        self.hidden = [column for column, other in enumerate(world.names) if other not in self.seen]
        variables = [world.variables[world.names[column]] for column in self.hidden]
        if any(variable.numeric for variable in variables):
            raise NbrError("a rule on codes can only hide bits and choices")
        ways = math.prod(variable.size or 0 for variable in variables)
        if ways > MOST:
            raise NbrError(f"a rule on codes hides at most {MOST} combinations, not {ways:,}")
        if layers.widths(network) not in (None, (len(codec.latent), 1)):
            raise NbrError(f"the network of a rule on codes takes {len(codec.latent)} numbers and gives 1")
        values = [torch.arange(variable.size or 0, dtype=torch.float64) for variable in variables]
        self.fills = torch.cartesian_prod(*values).reshape(-1, len(values)) if values else torch.zeros(1, 0)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.codec.latent.names

    def grades(self, points: Tensor) -> Tensor:
        observed = self.codec.decode(points)
        smallest = points.new_full((len(points),), torch.inf)
        for fill in self.fills:
            filled = observed.clone()
            filled[:, self.hidden] = fill.to(points.dtype)
            logits = layers.run(self.network, self.codec.encode(filled)).reshape(len(points))
            smallest = smallest.minimum(logits)
        return torch.sigmoid(smallest)

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        names, tensors = layers.write(self.network)
        return {"veiled": list(self.seen), "network": names, **self._common_spec()}, tensors

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> CodeNetwork:
        codec = parts.context["codec"]
        if codec is None:
            raise NbrError("a rule on codes needs the decoder and encoder of its model")
        return cls(spec["veiled"], read_network(spec, parts), spec["belief"], codec, spec["name"])

    @property
    def weights(self) -> object:
        return self.network

    def describe(self) -> str:
        shown = ", ".join(self.seen[:6]) + (" ..." if len(self.seen) > 6 else "")
        return f"network of the code of {shown}"
