"""What turns a picture into rules about one variable: a sensor, of which only what it says is known here.

Of a picture and each value b of a variable d it says how plausible b is, pl_b. That is the rule `d != b`, believed to
1 - pl_b. A value breaks just one of these rules, so that P_keep of a value is pl_b.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.language import Atom, names_in_range
from nbr.rules.clause import Clause
from nbr.world import Variable, World

NAMED = "named"  # the kind of a sensor in a file that gives its name alone
LEAST_LOG = -20.0  # of log pl: 1 - pl as a belief is then right to 1e-7 in log pl, and never certain


class Evidence(Protocol):
    """What a sensor says of n inputs."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What is said of which labels, in words."""

    @property
    def log_plausibility(self) -> Tensor:
        """log pl of each label, from `LEAST_LOG` to 0, in float64: (n, labels)."""

    def within(self, distance: Tensor) -> tuple[Tensor, Tensor] | None:
        """Proved bounds, low and high, of log pl at all inputs within an L2 distance (..., n) of each, for float64 at
        either end: (..., n, labels) both. They never shrink as the distance grows. None if nothing is known of that.
        """

    def words(self, row: int, label: int) -> str:
        """What it is that speaks against a label of an input, such as "network 4 against 9"."""

    def only(self, rows: Sequence[int]) -> Evidence:
        """The evidence of some of the inputs."""


@runtime_checkable
class Sensing(Protocol):
    """A sensor: something that has evidence about what inputs show."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What it tells apart, in words."""

    def batch(self, inputs: Any) -> tuple[Any, bool]:
        """Inputs with an axis for the batch in front, and whether they had one."""

    def read(self, path: str) -> Any:
        """A file as one input, as `batch` takes it."""

    def look(self, inputs: Any) -> Evidence:
        """The evidence of a batch of inputs."""

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The sensor as plain data and tensors, for a file; its kind is registered in the family "sensor"."""


@dataclass(frozen=True, eq=False)
class PlainEvidence:
    """Log plausibilities (n, labels) of which no more is known: no proof follows.

    >>> PlainEvidence.of(("a", "b"), torch.tensor([[0.2, 0.8]]).log()).log_plausibility.exp()
    tensor([[0.2500, 1.0000]], dtype=torch.float64)
    """

    labels: tuple[str, ...]
    log_plausibility: Tensor

    @classmethod
    def of(cls, labels: tuple[str, ...], scores: Tensor) -> PlainEvidence:
        """From logits or log probabilities p_b (n, labels): pl_b = p_b / max p, vacuous where p is flat."""
        scores = scores.double()
        return cls(labels, (scores - scores.amax(dim=1, keepdim=True)).clamp(min=LEAST_LOG))

    def within(self, distance: Tensor) -> tuple[Tensor, Tensor] | None:
        return None

    def words(self, row: int, label: int) -> str:
        return ""

    def only(self, rows: Sequence[int]) -> PlainEvidence:
        return PlainEvidence(self.labels, self.log_plausibility[torch.as_tensor(rows, dtype=torch.long)])


def sensor_for_each(world: World, sensors: Mapping[str, Sensing]) -> dict[str, Sensing]:
    """A sensor for each variable: names may be ranges such as "d1..d5"; an error names a value that one lacks."""
    found: dict[str, Sensing] = {}
    for names, sensor in sensors.items():
        if not isinstance(sensor, Sensing):
            raise NbrError(f"the sensor of {names!r} is {sensor!r:.60}; write nbr.Sensor(classifier)")
        for name in names_in_range(names):
            if name in found:
                raise NbrError(f"{name!r} has two sensors")
            label_columns(name, world.variables[world.names[world.column(name)]], sensor.labels)
            found[name] = sensor
    return found


def sensor_values(name: str, variable: Variable) -> tuple[str, ...]:
    """The values of a variable in words, as labels of a sensor are written."""
    if not variable.numeric:
        return variable.labels
    if not variable.step or variable.size is None:
        raise NbrError(f"{name!r} is a number without a step; a sensor needs labels, or numbers with a step")
    return tuple(variable.show(variable.low + variable.step * number) for number in range(variable.size))


def label_columns(name: str, variable: Variable, labels: Sequence[str]) -> list[int]:
    """The place among the labels of a sensor of each value of a variable."""
    place = {label: at for at, label in enumerate(labels)}
    for value in sensor_values(name, variable):
        if value not in place:
            known = ", ".join(labels[:12]) + (", .." if len(labels) > 12 else "")
            raise NbrError(f"{name!r} may be {value}, and its sensor has no such label; it has {known}")
    return [place[value] for value in sensor_values(name, variable)]


def evidence_clauses(world: World, evidence: Mapping[str, Evidence], row: int = 0) -> Iterator[Clause]:
    """The evidence of one input for each variable as rules; labels that nothing speaks against have none."""
    for name, each in evidence.items():
        variable = world.variables[name]
        degrees = -torch.expm1(each.log_plausibility[row])
        for value, label in zip(sensor_values(name, variable), label_columns(name, variable, each.labels), strict=True):
            if degrees[label] > 0:
                said, who = str(Atom(name, "!=", (value,))), each.words(row, label)
                yield Clause(said, float(degrees[label]), f"{said} (picture of {name}{who and f', {who}'})")
