"""Belief and plausibility of a reading while its pictures change: the worst and the best of them lie at a corner.

Belief and plausibility of a full reading, a value for every picture, rise with the plausibility of its own labels and
fall with that of all others. So over all changes of each picture by at most some length they are lowest where every
picture says as little as it can for its own label and as much as it can for all others, and highest where it is the
other way round. Each end is one ordinary question. (Of other questions that is not so.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from nbr.asking import Answer, AskSettings, ask
from nbr.calculus import Interval
from nbr.errors import NbrError
from nbr.language import Atom, conjunction
from nbr.model import Model
from nbr.rules import Evidence, PlainEvidence
from nbr.seeing.readings import one


@dataclass(frozen=True)
class Within:
    """What holds of a reading for every change of each of its pictures by at most an L2 length."""

    reading: Mapping[str, str]
    length: float
    worst: Answer = field(repr=False)
    best: Answer = field(repr=False)

    @property
    def belief(self) -> Interval:
        return self.worst.bounds.belief[0], self.best.bounds.belief[1]

    @property
    def plausibility(self) -> Interval:
        return self.worst.bounds.plausibility[0], self.best.bounds.plausibility[1]

    @property
    def exact(self) -> bool:
        """Whether both ends were computed exactly; else they are bounds, of 95% if either is."""
        return self.worst.exact and self.best.exact

    @property
    def kind(self) -> str:
        """How sure the ends are: "proved" or "95%"."""
        return "proved" if self.worst.bounds.kind == self.best.bounds.kind == "proved" else "95%"


def within(model: Model, length: float, settings: AskSettings) -> Within:
    """The interval of the reading at either corner; half of the time for each."""
    if not length >= 0:
        raise NbrError(f"a length must be a number of at least 0, not {length}")
    readings = one(model)
    (point,) = readings.points()
    reading = {name: point[name] for name in readings.evidence}
    question = conjunction([Atom(name, "=", (value,)) for name, value in reading.items()])
    assert question is not None
    corners: dict[bool, dict[str, Evidence]] = {True: {}, False: {}}
    for name, evidence in readings.evidence.items():
        bounds = evidence.within(torch.full((1, 1), float(length), dtype=torch.float64))
        if bounds is None:
            raise NbrError(f"the sensor of {name!r} has no bounds for changed pictures")
        low, high = (bound[0] for bound in bounds)
        own = torch.tensor([label == reading[name] for label in evidence.labels])
        for against in (True, False):
            corners[against][name] = PlainEvidence(evidence.labels, torch.where(own == against, low, high))
    ends = [ask(readings.model.see(corners[against]), question, None, settings) for against in (True, False)]
    return Within(reading, length, *ends)
