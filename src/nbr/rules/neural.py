"""A neural network as a rule."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from nbr import registry
from nbr.errors import NbrError
from nbr.rules import layers
from nbr.rules.base import Rule, listed, spec_number
from nbr.rules.linear import Region, lines
from nbr.world import World

WITHOUT_WEIGHTS = "a network can only be stored in a .nbr file, with its weights and inputs"


@registry.kind("rule", "network", keys={"network", "inputs", "output", "weights"})
class Neural(Rule):
    """A network: the grade of a point is sigmoid(network(inputs)).

    To be saved, the network must be a Sequential of Linear, ReLU, Tanh, Sigmoid and Identity.

    Args:
        inputs: The variables that the network reads. A bit or a real is one column of its input, a choice one column
            for each label, an ordered variable one for each label but the lowest.
        network: A torch module that maps (points, width) to (points,), (points, 1) or (points, outputs).
        belief: The degree of belief, from 0 to 1.
        name: A name to show instead of the description.
        output: Of a network with several outputs, shared by several rules, the output of this one.

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

    def _check(self) -> None:
        super()._check()
        known = layers.widths(self.network)
        if known is None:
            return
        takes, gives = known
        sizes = [self.world.variables[name] for name in self.inputs]
        wide = sum(variable.width for variable in sizes)
        if takes != wide:
            shape = f"{wide} columns ({', '.join(self.inputs)})"
            raise NbrError(f"the network of the rule {self} does not take {shape}: it takes {takes}")
        if type(self.output) is not int or not 0 <= self.output < gives:
            raise NbrError(f"the network of the rule {self} has {gives} outputs, not one number {self.output!r:.60}")

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

    def bounds(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        logits = layers.box(self.network, *_encoded(self.world, low, high, self.inputs))
        if logits is None:
            return super().bounds(low, high)
        return torch.sigmoid(self._chosen(logits[0])), torch.sigmoid(self._chosen(logits[1]))

    @property
    def bounded(self) -> bool:
        return layers.layers(self.network) is not None

    def lines(self, region: Region) -> tuple[Tensor, Tensor] | None:
        if any(self.world.variables[name].width != 1 for name in self.inputs):
            return None  # labels are several columns of the network
        found = lines(self.network, [self.world.column(name) for name in self.inputs], region)
        return None if found is None else (found[0][:, self.output], found[1][:, self.output])

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
    def chain(self) -> tuple[list[nn.Module], int] | None:
        found = layers.layers(self.network)
        return None if found is None else (found, self.output)

    @property
    def weights(self) -> object:
        return self.network

    def describe(self) -> str:
        shown = ", ".join(self.inputs[:6]) + (" ..." if len(self.inputs) > 6 else "")
        return f"network of {shown}"


def _encoded(world: World, low: Tensor, high: Tensor, names: Iterable[str]) -> tuple[Tensor, Tensor]:
    """The least and the most of each column of a network's input within boxes."""
    ends: tuple[list[Tensor], list[Tensor]] = ([], [])
    for name in names:
        least, most = world.variables[name].encoded_between(*(end[:, world.column(name)] for end in (low, high)))
        ends[0].append(least)
        ends[1].append(most)
    return torch.cat(ends[0], dim=1), torch.cat(ends[1], dim=1)


def read_network(spec: registry.Spec, parts: registry.Parts) -> nn.Module:
    """The network of a rule, which may be that of an earlier one."""
    if "weights" in spec:
        owner = parts.context["earlier"][int(spec_number(spec, "weights")) - 1]
        if isinstance(owner.weights, nn.Module):
            return owner.weights
    if not parts.tensors:
        raise NbrError(WITHOUT_WEIGHTS)
    return layers.read(spec["network"], parts.tensors)
