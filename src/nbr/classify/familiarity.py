"""How far an input is like the examples: the degree to which what the rules say about it is believed.

The distance to the nearest example is taken twice, along the principal directions of the examples: as it is, and with
every direction divided by how much examples vary along it. What is left outside these directions counts by its
length. Near and far are a matter of the label of the nearest example: its examples, each held out in turn, tell
what distances are usual. p is the share of them that are at least as far, by the less usual of the two distances.

Shafer's discounting then believes the combined evidence to the degree a = p / (p + ODD): Bel becomes a Bel, Pl becomes
1 - a (1 - Pl). Labels and proofs stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import torch
from torch import Tensor

from nbr.classify.recipe import Sample
from nbr.errors import NbrError

DIRECTIONS = 96
REFERENCES = 15_000  # examples that are kept, at most
FEWEST = 20  # below which nothing is said
ODD = 0.01  # the share at which an input is believed by half
BEYOND = 3.0  # what is outside the principal directions counts so much in the second distance
CHUNK = 512  # inputs at a time


@dataclass(frozen=True, eq=False)
class Familiarity:
    """Examples along their principal directions, and the label of each."""

    centre: Tensor  # (size,)
    directions: Tensor  # (size, directions), orthonormal columns
    spread: Tensor  # (directions,): how much examples vary along each
    references: Tensor  # (examples, directions + 1): coordinates, and the length of what is left
    labels: Tensor  # (examples,)
    distances: Tensor  # (2, examples): both distances of every example, held out, to the nearest other one
    nearest: Tensor  # (examples,): the label of that

    def tensors(self) -> dict[str, Tensor]:
        """For a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], size: int, labels: int) -> Familiarity | None:
        """The inverse of `tensors`, for inputs of a size and so many labels; None if there are none."""
        if not tensors:
            return None
        if set(tensors) != {field.name for field in fields(cls)}:
            raise NbrError("the parts of the classifier do not fit together")
        found = cls(**tensors)
        examples, wide = found.references.shape
        fits = found.directions.shape == (size, wide - 1) and found.spread.shape == (wide - 1,)
        fits = fits and found.centre.shape == (size,) and found.labels.shape == found.nearest.shape == (examples,)
        fits = fits and found.distances.shape == (2, examples)
        named = [bool(((part >= 0) & (part < labels)).all()) for part in (found.labels, found.nearest)]
        known = fits and all(named) and bool((found.spread > 0).all())
        if not known or not all(bool(part.isfinite().all()) for part in tensors.values()):
            raise NbrError("the parts of the classifier do not fit together")
        return found

    def degree(self, points: Tensor) -> Tensor:
        """a of each input: near 1 for inputs like the examples, near 0 far from them."""
        distance, label = self._distances(self.coordinates(points), held_out=False)
        share = self._usual(self._share(distance, label), label, self._ordered)
        return share / (share + ODD)

    def _usual(self, odd: Tensor, label: Tensor, ordered: list[Tensor]) -> Tensor:
        """The share of the examples of the label that are at least as odd; an input counts itself."""
        found = torch.zeros(len(odd), dtype=torch.float64)
        for number, known in enumerate(ordered):
            mine = label == number
            found[mine] = (torch.searchsorted(known, odd[mine], right=True) + 1).double() / (len(known) + 1)
        return found

    def _share(self, distance: Tensor, label: Tensor) -> Tensor:
        """The smaller of the shares that are at least as far, by both distances."""
        shares = [self._usual(-far, label, known) for far, known in zip(distance, self._known, strict=True)]
        return torch.stack(shares).amin(dim=0)

    @cached_property
    def _known(self) -> list[list[Tensor]]:
        """Of each distance and label, the examples' own, negated and sorted."""
        kinds = range(int(self.labels.max()) + 1)
        return [[(-far)[self.nearest == number].sort().values for number in kinds] for far in self.distances.double()]

    @cached_property
    def _ordered(self) -> list[Tensor]:
        """The smaller shares of the examples themselves, of each label, sorted."""
        share = self._share(self.distances.double(), self.nearest)
        return [share[self.nearest == number].sort().values for number in range(int(self.labels.max()) + 1)]

    def coordinates(self, points: Tensor) -> Tensor:
        """Along the directions, and the length of what they leave out: (n, directions + 1)."""
        away = points.double() - self.centre.double()
        along = away @ self.directions.double()
        left = (away.square().sum(dim=1) - along.square().sum(dim=1)).clamp(min=0).sqrt()
        return torch.cat([along, left[:, None]], dim=1)

    def _distances(self, coordinates: Tensor, held_out: bool) -> tuple[Tensor, Tensor]:
        """The plain and the scaled distance to the nearest reference, (2, n), and the label of the plainly nearest."""
        plain, scaled = self._references
        found, labels = [], []
        for start in range(0, len(coordinates), CHUNK):
            part = coordinates[start : start + CHUNK]
            # What is left of two inputs points anywhere, so that its squares add up.
            along = torch.cat([part[:, :-1], torch.zeros_like(part[:, -1:])], dim=1).float()
            near = (torch.cdist(along, plain).square() + part[:, -1:].float().square()).sqrt()
            far = torch.cdist((part * self._scale).float(), scaled)
            if held_out:
                rows = torch.arange(len(part))
                near[rows, start + rows], far[rows, start + rows] = torch.inf, torch.inf
            least = near.min(dim=1)
            labels.append(self.labels[least.indices])
            found.append(torch.stack([least.values, far.amin(dim=1)]).double())
        return torch.cat(found, dim=1), torch.cat(labels)

    @cached_property
    def _references(self) -> tuple[Tensor, Tensor]:
        return self.references.float(), (self.references.double() * self._scale).float()

    @cached_property
    def _scale(self) -> Tensor:
        left = self.references[:, -1].double().std().clamp(min=1e-6 * self.spread.double().amax())
        return torch.cat([1 / self.spread.double(), BEYOND / left[None]])


def familiarity(sample: Sample, seed: int) -> Familiarity | None:
    """From training examples, a random part of them if they are many; None if they are too few."""
    points, labels = sample.points, sample.labels
    if len(points) < FEWEST:
        return None
    order = torch.randperm(len(points), generator=torch.Generator().manual_seed(seed))[:REFERENCES].sort().values
    centre = points.double().mean(dim=0)
    away = points.double() - centre
    values, vectors = torch.linalg.eigh(away.T @ away / len(away))
    count = min(DIRECTIONS, points.shape[1], max(1, len(points) // 10))
    kept = values.flip(0)[:count] > 1e-9 * values[-1].clamp(min=1e-30)
    spread, directions = values.flip(0)[:count][kept].sqrt(), vectors.flip(1)[:, :count][:, kept]
    none = torch.zeros(2, 0)
    bare = Familiarity(
        centre.float(), directions.float(), spread.float(), torch.zeros(1, 1), labels[order].int(), none, none
    )
    alone = replace(bare, references=bare.coordinates(points[order]).half())
    distances, nearest = alone._distances(alone.references.double(), held_out=True)
    return replace(alone, distances=distances.float(), nearest=nearest)
