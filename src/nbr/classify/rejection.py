"""Which inputs a classifier had better pass on: those of a kind on which too few labels were right.

On examples that were held out, as they are and, where they are pictures, damaged, it is known whether each label was
right. A score orders them, the belief in the label or its proved radius, whichever tells errors better there.
An input is passed on if its score is below the smallest one from which on enough of the labels were right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError

SCORES = ("belief", "radius")
FEWEST = 20  # examples, below which nothing is said


@dataclass(frozen=True, eq=False)
class Rejection:
    """Scores of examples, the smallest first, and whether the label of each was right."""

    score: str
    values: Tensor  # (n,)
    right: Tensor  # (n,), bool

    @classmethod
    def of(cls, told: Mapping[str, Tensor], right: Tensor) -> Rejection | None:
        """By the score that tells errors best; None where there are too few examples."""
        if len(right) < FEWEST:
            return None
        best = max(told, key=lambda name: separation(told[name], right))
        order = told[best].argsort()
        return cls(best, told[best][order].double(), right[order])

    def threshold(self, right: float) -> float:
        """The smallest score from which on this share of the labels were right; infinite if there is none."""
        if not 0 < right < 1:
            raise NbrError(f"the share of labels that should be right must be between 0 and 1, not {right!r}")
        share = self.right.double().flip(0).cumsum(0) / torch.arange(1, len(self.right) + 1)
        share = share.flip(0)  # of those with this score or a larger one
        first = torch.ones_like(self.right)
        first[1:] = self.values[1:] > self.values[:-1]  # examples of one score stand or fall together
        enough = ((share >= right) & first).nonzero()
        return float(self.values[enough[0, 0]]) if len(enough) else float("inf")

    def kept(self, right: float) -> float:
        """The share of the examples that is not passed on."""
        return float((self.values >= self.threshold(right)).double().mean())

    def tensors(self) -> dict[str, Tensor]:
        """For a file."""
        return {self.score: self.values, "right": self.right.to(torch.int8)}

    @classmethod
    def restored(cls, tensors: Mapping[str, Tensor]) -> Rejection | None:
        """The inverse of `tensors`; None if there are none."""
        if not tensors:
            return None
        names = [name for name in SCORES if name in tensors]
        if len(names) != 1 or set(tensors) != {names[0], "right"}:
            raise NbrError("what a classifier passes on has one score and says which labels were right")
        values, right = tensors[names[0]], tensors["right"]
        if values.dim() != 1 or not len(values) or right.shape != values.shape or not values.is_floating_point():
            raise NbrError("what a classifier passes on has a score for each example")
        if not bool(values.isfinite().all()) or bool((values.diff() < 0).any()):
            raise NbrError("the scores of what a classifier passes on are finite, the smallest first")
        return cls(names[0], values.double(), right > 0)


def separation(values: Tensor, right: Tensor) -> float:
    """The chance that a right example scores above a wrong one, ties by half: the area under the ROC curve."""
    order, count = values.double().unique(return_inverse=True)[1], len(values)
    rank = torch.bincount(order).double()
    middle = rank.cumsum(0) - (rank - 1) / 2
    good = int(right.sum())
    if good in (0, count):
        return 0.5
    return float((middle[order][right].sum() - good * (good + 1) / 2) / (good * (count - good)))
