"""How far an input is like the examples of its label: the degree to which what the rules say about it is believed.

The distance to the nearest example of the label that the rules choose is taken along the principal directions of all
examples. Each direction is divided by the fourth root of how much examples vary along it, which is between the plain
distance and one that counts all directions alike; the length of what is left outside them counts as one more direction.
Examples of that label, each held out in turn, tell what distances are usual: p is the share of them that are at least
as far. Beyond the farthest of them p falls as an exponential with the mean of the largest distances.

Shafer's discounting then believes the combined evidence to the degree a = p / (p + ODD): Bel becomes a Bel, Pl becomes
1 - a (1 - Pl). Labels and proofs stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import torch
from torch import Tensor

from nbr.classify.recipe import TrainingSample
from nbr.errors import NbrError

DIRECTIONS = 64
REFERENCES, OF_LABEL = 60_000, 6_000  # examples that are kept at the most, in all and of one label
FEWEST = 20  # below which nothing is said
ODD = 0.005  # the share at which an input is believed by half
POWER = 0.25  # of the spread, that a direction is divided by
BEYOND = 3.0  # what is outside the principal directions counts so much
TAIL = 0.1  # the share of an example's label whose distances tell how p falls beyond all of them
ALIKE = 1e-5  # what differs by less, relatively, is the same: rounding in float32 must not rank distances
FINE = 0.1  # of a coordinate's mean square: steps up to which a byte says where an example is along it
CHUNK = 128  # inputs at a time, so that distances stay in a fast cache


@dataclass(frozen=True, eq=False)
class Familiarity:
    """Examples along their principal directions, those of a label together."""

    centre: Tensor  # (size,)
    directions: Tensor  # (size, directions), orthonormal columns
    weights: Tensor  # (directions + 1,): what coordinates are multiplied with
    references: Tensor  # (examples, directions + 1): their weighted coordinates, in steps
    step: Tensor  # (directions + 1,)
    labels: Tensor  # (examples,), in order
    distances: Tensor  # (examples,): of each, held out, to the nearest other one of its label

    def tensors(self) -> dict[str, Tensor]:
        """For a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor], size: int, labels: int) -> Familiarity | None:
        """The inverse of `tensors`, for inputs of a size and so many labels; None if there are none."""
        if not tensors:
            return None
        tensors = {"step": torch.ones(len(tensors.get("weights", ()))), **tensors}  # the first files had no steps
        if set(tensors) != {field.name for field in fields(cls)}:
            raise NbrError("a classifier's familiarity does not have the expected parts")
        exact = {"references", "labels"}  # all else is computed with in float32
        found = cls(
            **{
                name: part if name in exact or not part.is_floating_point() else part.float()
                for name, part in tensors.items()
            }
        )
        found._check(size, labels)
        return found

    def _check(self, size: int, labels: int) -> None:
        """Raise an error unless the parts fit, are finite, and every label has examples."""
        examples, wide = len(self.references), len(self.weights)
        shapes = {
            "centre": (size,),
            "directions": (size, wide - 1),
            "weights": (wide,),
            "references": (examples, wide),
            "step": (wide,),
            "labels": (examples,),
            "distances": (examples,),
        }
        for name, shape in shapes.items():
            part = getattr(self, name)
            if part.shape != shape:
                raise NbrError(f"the {name} of a classifier's familiarity have shape {tuple(part.shape)}, not {shape}")
            whole = name == "labels" or (name == "references" and not part.is_floating_point())
            if part.is_floating_point() == whole or part.dtype == torch.bool:
                raise NbrError(f"the {name} of a classifier's familiarity cannot be of {part.dtype}")
            # A sum is not finite where any number is not, and takes one pass.
            if not bool(part.sum(dtype=torch.float64).isfinite()):
                raise NbrError(f"the {name} of a classifier's familiarity are not finite numbers")
        if not torch.equal(self.labels.unique_consecutive().long(), torch.arange(labels)):
            raise NbrError("the examples of a classifier's familiarity are not grouped by label")
        if bool((self.distances < 0).any()):
            raise NbrError("a distance of a classifier's familiarity is below 0")

    def degree(self, points: Tensor, labels: Tensor) -> Tensor:
        """a of each input, whose label is said to be this: near 1 if it is like the label's examples, near 0 if not."""
        share = torch.ones(len(points), dtype=torch.float64)
        near = self.nearest(self.coordinates(points), labels)
        for label in labels.unique().tolist():
            mine = labels == label
            share[mine] = _share(near[mine], self._usual[label])
        return share / (share + ODD)

    def nearest(self, places: Tensor, labels: Tensor, without: Tensor | None = None) -> Tensor:
        """The distance of each place to the nearest example of a label of its own: (n,).

        `without` is the number of an example that does not count for a place, -1 if all do: (n,).
        """
        found, start = torch.zeros(len(places)), 0
        for label, count in enumerate(self._counts):
            mine = labels == label
            if bool(mine.any()):
                skipped = None if without is None else without[mine] - start
                if skipped is not None:
                    skipped = torch.where((skipped >= 0) & (skipped < count), skipped, -1)
                found[mine] = self._nearest(places[mine], label, skipped)
            start += count
        return found

    def coordinates(self, points: Tensor) -> Tensor:
        """Along the directions, and the length of what they leave out, weighted: (n, directions + 1), float32."""
        away = points.float() - self.centre
        along = away @ self.directions
        left = (away.square().sum(dim=1) - along.square().sum(dim=1)).clamp(min=0).sqrt()
        return torch.cat([along, left[:, None]], dim=1) * self.weights

    def _nearest(self, places: Tensor, label: int, without: Tensor | None = None) -> Tensor:
        """The distance to the nearest example of a label, but for one of them for each place (-1: none)."""
        known, squares = self._known[label]
        found = []
        for start in range(0, len(places), CHUNK):
            part = places[start : start + CHUNK]
            every = torch.addmm(squares, part, known, alpha=-2)  # without the square of the place itself
            if without is not None:
                skipped = without[start : start + CHUNK]
                some = (skipped >= 0).nonzero()[:, 0]
                every[some, skipped[some]] = torch.inf
            own = part.square().sum(dim=1)
            nearest = every.amin(dim=1) + own
            found.append(nearest.masked_fill(nearest < ALIKE * own, 0.0))  # all that is left of it is rounding
        return torch.cat(found).sqrt()

    @cached_property
    def _known(self) -> list[tuple[Tensor, Tensor]]:
        """Of each label, its examples, one in a column, and the squares of their lengths."""
        parts = [(part.float() * self.step).T.contiguous() for part in self.references.split(self._counts)]
        return [(part, part.square().sum(dim=0)) for part in parts]

    @cached_property
    def _usual(self) -> list[Tensor]:
        """Of each label, the distances of its examples, sorted."""
        return [part.double().sort().values for part in self.distances.split(self._counts)]

    @property
    def _counts(self) -> list[int]:
        return torch.bincount(self.labels).tolist()


def _share(distance: Tensor, usual: Tensor) -> Tensor:
    """The share of usual distances, sorted, that are at least as large; an input counts itself."""
    asked, count = distance.double() * (1 - ALIKE), len(usual)
    found = (count - torch.searchsorted(usual, asked) + 1).double() / (count + 1)
    tail = usual[-max(1, round(TAIL * count)) :]
    start, excess = tail[0], tail.mean() - tail[0]
    falling = len(tail) / (count + 1) * torch.exp((start - asked) / excess.clamp(min=1e-9 * float(start) + 1e-30))
    return torch.where(asked > usual[-1], torch.minimum(found, falling), found)


def familiarity(sample: TrainingSample, seed: int) -> Familiarity | None:
    """From training examples, a random part of them if they are many; None if they are too few."""
    points, labels = sample.points, sample.labels
    if len(points) < FEWEST:
        return None
    kept = kept_examples(sample, seed)
    centre = points.double().mean(dim=0)
    away = points.double() - centre
    values, vectors = torch.linalg.eigh(away.T @ away / len(away))
    count = min(DIRECTIONS, points.shape[1], max(1, len(points) // 10))
    some = values.flip(0)[:count] > 1e-9 * values[-1].clamp(min=1e-30)
    spread, directions = values.flip(0)[:count][some].sqrt(), vectors.flip(1)[:, :count][:, some].float().contiguous()
    none = torch.zeros(0)
    ones = torch.ones(len(spread) + 1)
    bare = Familiarity(centre.float(), directions, ones, none, ones, labels[kept].int(), none)
    places = bare.coordinates(points[kept])
    left = places[:, -1].double().std().clamp(min=1e-6 * spread.amax())
    # Where the directions are all that there are, nothing lies beyond them but rounding.
    beyond = BEYOND / left * (spread ** (1 - POWER)).mean() if len(spread) < points.shape[1] else left.new_zeros(())
    weights = torch.cat([spread**-POWER, beyond[None]]).float()
    references, step = _packed(places * weights)
    alone = replace(bare, weights=weights, references=references, step=step)
    known = enumerate(alone._known)
    distances = torch.cat([alone._nearest(part.T, label, torch.arange(part.shape[1])) for label, (part, _) in known])
    lonely = distances.isinf()  # the only example of its label
    distances[lonely] = distances[~lonely].median() if bool((~lonely).any()) else 1.0
    return replace(alone, distances=distances)


def kept_examples(sample: TrainingSample, seed: int) -> Tensor:
    """The rows of a sample that are kept, label by label."""
    labels = sample.labels
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    every = order[labels[order].argsort(stable=True)].split(torch.bincount(labels).tolist())
    return torch.cat([part[: max(1, min(OF_LABEL, REFERENCES // len(every)))] for part in every])


def _packed(places: Tensor) -> tuple[Tensor, Tensor]:
    """Coordinates in whole steps that fit into a byte, and the steps; as they are where a byte would be too coarse."""
    step, usual = (places.abs().amax(dim=0) / 127).clamp(min=1e-30), places.square().mean(dim=0).sqrt()
    if bool(((step > FINE * usual) & (usual > 0)).any()):
        return places.half(), torch.ones_like(step)
    return (places / step).round().to(torch.int8), step
