"""How often a label is right of pictures like this one, damaged or not: the degree to which rules are believed.

A small network tells it (`doubting.py` is how it learns) from what the classifier sees: the leads of the labels, how
far the nearest examples of the two most plausible ones are, and where the picture lies along the principal directions
of the examples, how much of it lies in coarse and fine ones, and outside them all. Labels, probabilities and proofs do
not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from nbr.classify.evaluation import Scored
from nbr.classify.familiarity import Familiarity
from nbr.classify.intervals import MOST_LABELS, in_label
from nbr.classify.modules import leads
from nbr.classify.rules import NonexpansiveRules
from nbr.errors import NbrError

BANDS = ((0, 4), (4, 16), (16, 40), (40, 64))  # of directions
TINY = 1e-3
BEST = 3  # of the labels, those whose leads are told in order


@dataclass(frozen=True, eq=False)
class SeenInputs:
    """Inputs as rules see them: log Pl and leads of the labels (n, labels), and the belief in the most plausible."""

    points: Tensor  # (n, size)
    scores: Tensor
    leads: Tensor
    belief: Tensor  # (n,)

    @classmethod
    def by(cls, rules: NonexpansiveRules, points: Tensor, found: Scored) -> SeenInputs:
        """From what the rules said of points; where labels are too many for belief, it is 1."""
        scores, belief = found.scores(), torch.ones(len(points), dtype=torch.float64)
        if rules.labels <= MOST_LABELS:
            belief = in_label(found.intervals(), scores)
        return cls(points, scores, leads(rules, found.values), belief)

    @property
    def labels(self) -> Tensor:
        return self.scores.argmax(dim=1)


@dataclass(frozen=True, eq=False)
class Doubt:
    """A network of two hidden layers over what is seen of a picture, centred and scaled."""

    centre: Tensor  # (features,)
    spread: Tensor
    first: Tensor  # (features + 1, width): weights, and in the last row what is added
    second: Tensor
    third: Tensor  # (width + 1, 1)

    def degree(self, features: Tensor) -> Tensor:
        """a of each input: (n,)."""
        values = (features - self.centre) / self.spread
        for layer in (self.first, self.second):
            values = torch.tanh(values @ layer[:-1] + layer[-1])
        return torch.sigmoid(values @ self.third[:-1] + self.third[-1])[:, 0].double()

    def tensors(self) -> dict[str, Tensor]:
        """For a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], known: Familiarity | None, labels: int) -> Doubt | None:
        """The inverse of `tensors`; None if there are none."""
        if not tensors:
            return None
        if known is None or set(tensors) != {field.name for field in fields(cls)}:
            raise NbrError("a classifier's doubt does not have the expected parts")
        count = _count(known, labels)
        wide = tensors["second"].shape[-1] if tensors["second"].dim() == 2 else 0
        shapes = {
            "centre": (count,),
            "spread": (count,),
            "first": (count + 1, wide),
            "second": (wide + 1, wide),
            "third": (wide + 1, 1),
        }
        for name, shape in shapes.items():
            part = tensors[name]
            if part.shape != shape or not part.is_floating_point() or not bool(part.isfinite().all()):
                raise NbrError(f"the {name} of a classifier's doubt is not finite numbers of shape {shape}")
        if not bool((tensors["spread"] > 0).all()):
            raise NbrError("the spread of a classifier's doubt is above 0")
        return cls(**{name: part.float() for name, part in tensors.items()})


def features(known: Familiarity, seen: SeenInputs, without: Tensor | None = None) -> Tensor:
    """What the network is told: (n, features), float32. `without` is an example that does not count for each (n,)."""
    labels, order = seen.labels, seen.scores.argsort(dim=1, descending=True)
    places = known.coordinates(seen.points)
    near = [known.nearest(places, order[:, rank], without) for rank in (0, 1)]
    top = seen.leads.sort(dim=1, descending=True).values
    plain = seen.scores.gather(1, order)
    gaps = plain[:, :1] - plain[:, 1 : 1 + min(2, plain.shape[1] - 1)]
    wide = places.shape[1] - 1
    bands = [places[:, low : min(high, wide)].square().mean(dim=1).clamp(min=TINY**2).log() / 2
             for low, high in BANDS if low < wide]  # fmt: skip
    parts = [
        places[:, :wide],
        torch.stack([places[:, wide].clamp(min=TINY).log(), *bands, seen.points.float().mean(dim=1)], dim=1),
        torch.stack([each.clamp(min=TINY).log() for each in near], dim=1),
        seen.leads,
        top[:, :BEST],
        gaps,
        seen.belief[:, None],
        one_hot(labels, seen.leads.shape[1]),
    ]
    return torch.cat([part.float() for part in parts], dim=1)


def _count(known: Familiarity, labels: int) -> int:
    """How many features there are."""
    wide = len(known.weights) - 1
    return wide + 2 + sum(low < wide for low, _ in BANDS) + 2 + 2 * labels + min(BEST, labels) + min(2, labels - 1) + 1
