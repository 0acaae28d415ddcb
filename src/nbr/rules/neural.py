"""A neural network as a rule."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from nbr import registry
from nbr.errors import NbrError
from nbr.rules import layers
from nbr.rules.base import Rule, listed, number

WITHOUT_WEIGHTS = "a network can only stand in a .nbr file, with its weights and inputs"


@registry.kind("rule", "network", keys={"network", "inputs", "output", "weights"})
class Neural(Rule):
    """sigmoid(network(inputs)): any torch module that maps (points, width) to (points,) or (points, 1).

    A bit or a real is one column of the network's input, a choice is one column a label. To be saved,
    the network must be a Sequential of Linear, ReLU, Tanh, Sigmoid and Identity.

    >>> net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> Neural(["x0", "x1"], net, belief=0.5)
    Neural('network of x0, x1', belief=0.5)

    A network with several outputs serves several rules; `output` says which is this one's.
    """

    def __init__(
        self,
        inputs: Iterable[str] | str,
        network: nn.Module,
        belief: float | Tensor,
        name: str | None = None,
        *,
        output: int = 0,
    ) -> None:
        super().__init__(belief, name)
        if not isinstance(network, nn.Module):
            raise NbrError(f"a neural rule needs a torch module, not {type(network).__name__}")
        self.network = network
        self.output = output
        self._inputs = listed(inputs)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._inputs

    def grades(self, points: Tensor) -> Tensor:
        return self.grades_beside({}, points)

    def grades_beside(self, done: dict[object, Tensor], points: Tensor) -> Tensor:
        key = (id(self.network), self.inputs)
        if key not in done:
            done[key] = self._logits(points)
        return torch.sigmoid(self._chosen(done[key]))

    def _logits(self, points: Tensor) -> Tensor:
        encoded = self.world.encode(points, self.inputs)
        try:
            logits = layers.run(self.network, encoded)
        except RuntimeError as error:
            shape = f"{encoded.shape[1]} columns ({', '.join(self.inputs)})"
            raise NbrError(f"the network of the rule {self} does not take {shape}: {error}") from None
        if logits.shape[:1] != points.shape[:1] or logits.ndim > 2:
            raise NbrError(f"the rule {self} gave shape {tuple(logits.shape)} for {len(points)} points")
        if bool(torch.isnan(logits).any()):
            raise NbrError(f"the network of the rule {self} gave NaN")
        return logits

    def _chosen(self, logits: Tensor) -> Tensor:
        columns = logits[:, None] if logits.ndim == 1 else logits
        if not 0 <= self.output < columns.shape[1]:
            raise NbrError(
                f"the network of the rule {self} has {columns.shape[1]} outputs, not one number {self.output}"
            )
        return columns[:, self.output]

    def bounds(self, points: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
        low = self.world.encode(points - radius, self.inputs)
        high = self.world.encode(points + radius, self.inputs)
        logits = layers.box(self.network, low, high)
        if logits is None:
            return super().bounds(points, radius)
        return torch.sigmoid(self._chosen(logits[0])), torch.sigmoid(self._chosen(logits[1]))

    def spec(self) -> tuple[dict[str, object], dict[str, Tensor]]:
        try:
            names, tensors = layers.write(self.network)
        except NbrError as error:
            raise NbrError(f"the rule {self} cannot be saved: {error}") from None
        chosen = {"output": self.output} if self.output else {}
        return {"inputs": list(self.inputs), "network": names, **chosen, **self._common_spec()}, tensors

    @classmethod
    def from_spec(cls, spec: registry.Spec, parts: registry.Parts) -> Neural:
        if not isinstance(spec.get("inputs"), list):
            raise NbrError(WITHOUT_WEIGHTS)
        network = read_network(spec, parts)
        return cls(spec["inputs"], network, spec["belief"], spec["name"], output=spec.get("output", 0))

    @property
    def weights(self) -> object:
        return self.network

    def describe(self) -> str:
        shown = ", ".join(self.inputs[:6]) + (" ..." if len(self.inputs) > 6 else "")
        return f"network of {shown}"


def read_network(spec: registry.Spec, parts: registry.Parts) -> nn.Module:
    """The network of a rule, which may be that of an earlier one."""
    if "weights" in spec:
        owner = parts.context["earlier"][int(number(spec, "weights")) - 1]
        if isinstance(owner.weights, nn.Module):
            return owner.weights
    if not parts.tensors:
        raise NbrError(WITHOUT_WEIGHTS)
    return layers.read(spec["network"], parts.tensors)
