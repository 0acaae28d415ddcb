"""A sensor that is one network of ours: what it says of pictures, a proof where its layers have one, and its file."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from nbr import registry
from nbr.classify import Preparation, checked_preparation
from nbr.errors import NbrError
from nbr.lipschitz import UNIT, bound, finish, rounding
from nbr.rules import LEAST_LOG, Evidence, PlainEvidence
from nbr.teaching.architectures import ARCHITECTURES, Steady, named

LOOKED = 512  # pictures at a time
NAME = "network"
LARGEST = 4096  # pixels of a side
SAFE = 1 + 1e-12  # bounds are themselves computed in float64


@registry.kind("sensor", NAME)
class NetworkSensor:
    """A network that gives a number for each label: pl_b = exp(number_b - the largest).

    `architecture` is the name of one of ours, None for another module, which cannot be saved. Where its examples left
    labels open, it gives a number for each kind of picture instead, and `possible` (kinds, labels) has what each may
    stand for: pl_b is how likely a kind is that may stand for b. `notes` say so in words.
    """

    def __init__(
        self,
        network: nn.Module,
        architecture: str | None,
        labels: Sequence[str],
        shape: Sequence[int],
        kind: str = "scale",
        possible: Tensor | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.network, self.architecture = network.eval().requires_grad_(False), architecture
        self._labels, self.shape = tuple(labels), tuple(shape)
        self.possible, self.notes = possible, tuple(notes)
        checked_preparation(kind, self.shape if len(self.shape) > 1 else None)
        self.preparation = Preparation(kind, self.shape if len(self.shape) > 1 else None, (0.0, 1.0))
        if isinstance(network, Steady):
            finish(network.layers)

    @property
    def labels(self) -> tuple[str, ...]:
        return self._labels

    def batch(self, inputs: Any) -> tuple[Any, bool]:
        """Inputs with an axis for the batch in front, and whether they had one; the name of a file is one input."""
        if isinstance(inputs, str | PathLike):
            return self.read(str(inputs))[None], False
        found = inputs.detach().cpu().numpy() if isinstance(inputs, Tensor) else np.asarray(inputs)
        if found.dtype.kind not in "biuf":
            raise NbrError(f"pictures are arrays of numbers or names of files, not {str(inputs)[:60]!r}")
        if found.shape == self.shape:
            return found[None], False
        if found.shape[1:] == self.shape and len(found):
            return found, True
        told = " x ".join(map(str, self.shape))
        raise NbrError(
            f"the sensor takes inputs of {told} numbers, or many with their number in front, not {found.shape}"
        )

    def read(self, path: str) -> Any:
        """A picture file as one input."""
        return self.preparation.read(path).pixels

    def look(self, inputs: Any) -> Evidence:
        """The evidence of a batch of inputs."""
        if isinstance(self.network, Steady) and self.possible is None:
            points = torch.as_tensor(np.asarray(inputs), dtype=torch.float64)
            return SteadyEvidence.of(self._labels, self.network, points.flatten(1))
        return PlainEvidence.of(self._labels, self.scores(torch.as_tensor(np.asarray(inputs), dtype=torch.float32)))

    def scores(self, inputs: Tensor) -> Tensor:
        """The number for each label: (n, labels)."""
        with torch.no_grad():
            found = torch.cat([self.network(part) for part in inputs.split(LOOKED)])
        if self.possible is None:
            return found
        stands = torch.where(self.possible, 0.0, -torch.inf).to(found.dtype)
        return (found.log_softmax(dim=1)[:, :, None] + stands).logsumexp(dim=1)

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The sensor as plain data and tensors, for a file."""
        if self.architecture is None:
            known = ", ".join(ARCHITECTURES)
            raise NbrError(
                f"a network of the class {type(self.network).__name__} defined outside nbr cannot be saved; {known} can"
            )
        told = {"architecture": self.architecture, "labels": list(self._labels), "shape": list(self.shape)}
        if self.possible is not None:
            told |= {"possible": [row.nonzero()[:, 0].tolist() for row in self.possible], "notes": list(self.notes)}
        return {"sensor": NAME, **told, "preparation": self.preparation.kind}, dict(self.network.state_dict())

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], parts: registry.Parts) -> NetworkSensor:
        """The inverse of `spec`."""
        labels, shape, name = spec["labels"], spec["shape"], spec["architecture"]
        if not isinstance(labels, list) or len(set(map(str, labels))) < max(2, len(labels)):
            raise NbrError("a sensor needs two labels or more, all different")
        sides = (
            isinstance(shape, list)
            and 1 <= len(shape) <= 3
            and all(type(side) is int and 0 < side <= LARGEST for side in shape)
        )
        if not sides:
            raise NbrError(f"the shape of a sensor's pictures must be a list of sides, not {shape!r:.60}")
        possible = _possible(spec["possible"], len(labels)) if "possible" in spec else None
        outputs = len(labels) if possible is None else len(possible)
        with torch.random.fork_rng(devices=[]):
            network = named(str(name), shape, outputs)
        wanted = network.state_dict()
        given = dict(parts.tensors)
        if {key: value.shape for key, value in wanted.items()} != {key: value.shape for key, value in given.items()}:
            raise NbrError(f"the tensors are not those of a network {name!r} of {outputs} numbers")
        if not all(bool(value.isfinite().all()) for value in given.values()):
            raise NbrError("a network has weights that are not finite numbers")
        network.load_state_dict(given)
        kind, notes = str(spec.get("preparation", "scale")), [str(note) for note in spec.get("notes", [])]
        return cls(network, str(name), [str(label) for label in labels], shape, kind, possible, notes)

    def __repr__(self) -> str:
        return f"NetworkSensor({self.architecture or type(self.network).__name__}, {len(self._labels)} labels)"


def _possible(told: object, labels: int) -> Tensor:
    """What each kind of picture may stand for, by the numbers of labels."""
    found = []
    for row in told if isinstance(told, list) else []:
        if not isinstance(row, list) or not row or not all(type(at) is int and 0 <= at < labels for at in row):
            raise NbrError(f"a kind of picture stands for some of {labels} labels, not {row!r:.60}")
        found.append([at in row for at in range(labels)])
    if not found:
        raise NbrError("a sensor that leaves labels open has kinds of pictures")
    return torch.tensor(found)


@dataclass(frozen=True, eq=False)
class SteadyEvidence:
    """What a nonexpansive network says: log pl_b = -s max over a of max(0, f_a - f_b), and f moves no further than
    the input. So a difference of two of its numbers changes by at most sqrt(2) times the bound of its layers."""

    labels: tuple[str, ...]
    lead: Tensor  # the largest f_a - f_b for each b, at least 0: (n, labels)
    sharpness: float
    slope: float
    slack: Tensor  # of rounding in these leads, at an input and for each unit of length that is added: (n, 2)

    @classmethod
    def of(cls, labels: tuple[str, ...], network: Steady, points: Tensor) -> SteadyEvidence:
        exact = copy.deepcopy(network.layers).double()
        with torch.no_grad():
            scores = torch.cat([exact(part)[0] for part in points.split(LOOKED)])
        length = points.norm(dim=1)
        ends = rounding(network.layers, torch.stack([length, length + 1]).flatten())[0].view(2, -1)
        slack = (
            2 * torch.stack([ends[0], (ends[1] - ends[0]).clamp(min=0)], dim=1)
            + 4 * UNIT * scores.abs().amax(dim=1)[:, None]
        )
        lead = scores.amax(dim=1, keepdim=True) - scores
        slope = math.sqrt(2) * float(bound(network.layers).max()) * SAFE
        return cls(labels, lead, float(network.sharpness.double()), slope, slack)

    @property
    def log_plausibility(self) -> Tensor:
        return (-self.sharpness * self.lead).clamp(LEAST_LOG, 0.0)

    def within(self, distance: Tensor) -> tuple[Tensor, Tensor]:
        """Every lead moved by as much as it can, rounding at either end included."""
        start, each = self.slack.unbind(dim=1)
        move = (self.slope * distance + 2 * start + each * distance)[..., None]
        low = -self.sharpness * (self.lead + move) * SAFE
        high = -self.sharpness * (self.lead - move).clamp(min=0.0) / SAFE
        return low.clamp(LEAST_LOG, 0.0), high.clamp(LEAST_LOG, 0.0)

    def words(self, row: int, label: int) -> str:
        """The label that speaks against another most."""
        return f"network for {self.labels[int(self.lead[row].argmin())]}"

    def only(self, rows: Sequence[int]) -> SteadyEvidence:
        some = torch.as_tensor(rows, dtype=torch.long)
        return replace(self, lead=self.lead[some], slack=self.slack[some])
