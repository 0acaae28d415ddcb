"""Between a latent world, of which rules speak, and the world that is observed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from nbr import registry
from nbr.errors import NbrError
from nbr.rules import layers
from nbr.world import World

Map = Callable[[Tensor], Tensor] | nn.Module


@dataclass(frozen=True, eq=False)
class Codec:
    """The decoder F from latent points to observed ones, and, if there is one, an encoder that turns back.

    The encoder stands in for the maximum over all latent points that decode to the same observed one, as in
    section 3 of the paper: with it, the latent points are taken to be the codes of the observable points.
    """

    world: World
    latent: World
    decoder: Map
    encoder: Map | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.latent, World):
            raise NbrError(f"latent= is a World, not {type(self.latent).__name__}")
        ends = {"decoder": (len(self.latent), len(self.world)), "encoder": (len(self.world), len(self.latent))}
        for name, wanted in ends.items():
            network = getattr(self, name)
            known = layers.widths(network) if isinstance(network, nn.Module) else None
            if known not in (None, wanted):
                told = f"takes {known[0]} numbers and gives {known[1]}" if known else ""
                raise NbrError(f"the {name} {told}, and the worlds need {wanted[0]} and {wanted[1]}")

    def decode(self, points: Tensor) -> Tensor:
        """F(z), as points of the observed world."""
        return self.world.snap(_run(self.decoder, points, len(self.world), "decoder"))

    def encode(self, points: Tensor) -> Tensor:
        """The codes of observed points."""
        if self.encoder is None:
            raise NbrError("which latent points give an observed one is not known: this model has no encoder")
        return _run(self.encoder, points, len(self.latent), "encoder")

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """Decoder and encoder as plain data and tensors."""
        model: registry.Spec = {}
        tensors: registry.Tensors = {}
        for name, network in (("decoder", self.decoder), ("encoder", self.encoder)):
            if network is not None:
                if not isinstance(network, nn.Module):
                    raise NbrError(f"the {name} is a Python function, which cannot be saved")
                model[name], parts = layers.write(network)
                tensors |= registry.joined(parts, name)
        return model, tensors

    @classmethod
    def from_spec(cls, world: World, latent: World, model: Mapping[str, Any], parts: registry.Parts) -> Codec:
        networks = {
            name: layers.read(model[name], parts.below(name).tensors)
            for name in ("decoder", "encoder")
            if name in model
        }
        return cls(world, latent, networks["decoder"], networks.get("encoder"))


def _run(network: Map, points: Tensor, columns: int, name: str) -> Tensor:
    found = layers.run(network, points) if isinstance(network, nn.Module) else network(points)
    if found.shape != (len(points), columns):
        raise NbrError(f"the {name} gave shape {tuple(found.shape)} for {len(points)} points of {columns} variables")
    if not bool(found.isfinite().all()):
        raise NbrError(f"the {name} gave a number that is not finite")
    return found
