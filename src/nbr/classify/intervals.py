"""Belief, plausibility and conflict of the labels, from the commonalities of all sets of labels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus import subset_signs
from nbr.errors import NbrError
from nbr.evidence import zeta_subsets

MOST_LABELS = 16  # whose 2^16 sets are listed


@dataclass(frozen=True)
class Intervals:
    """Belief and plausibility of every label (n, labels), and the conflict of every input (n,)."""

    belief: Tensor
    plausibility: Tensor
    conflict: Tensor


def intervals(log_commonality: Tensor, first: int = 0) -> Intervals:
    """Normalised belief and plausibility of single labels; `first` is the number of the first input, for errors."""
    count = log_commonality.shape[1]
    labels = count.bit_length() - 1
    singles = 1 << torch.arange(labels)
    top = log_commonality[:, singles].amax(dim=1, keepdim=True)
    if not bool(top.isfinite().all()):
        row = first + int((~top[:, 0].isfinite()).nonzero()[0])
        raise NbrError(f"rules believed to degree 1 contradict each other about input {row}: no label is possible")
    scaled = (log_commonality - top).exp()
    scaled[:, 0] = 0  # the empty set has no part in a maximum
    maxima = zeta_subsets(-subset_signs(labels, scaled) * scaled)  # E max over every set of labels
    whole = maxima[:, -1:]
    plausibility = (maxima[:, singles] / whole).clamp(0, 1)
    belief = (1 - maxima[:, count - 1 - singles] / whole).clamp(0, 1)
    conflict = 1 - (whole * top.exp())[:, 0].clamp(0, 1)
    return Intervals(torch.minimum(belief, plausibility), plausibility, conflict)


def discounted(told: Intervals, degree: Tensor | None) -> Intervals:
    """Shafer's discounting: evidence that is believed to the degree a (n,) has a Bel, and 1 - a (1 - Pl)."""
    if degree is None:
        return told
    a = degree[:, None]
    return Intervals(a * told.belief, 1 - a * (1 - told.plausibility), told.conflict)


def in_label(told: Intervals, scores: Tensor) -> Tensor:
    """The belief in the label that is most plausible by its score: (n,)."""
    return told.belief.gather(1, scores.argmax(dim=1)[:, None])[:, 0]


def check_labels(labels: int) -> None:
    if labels > MOST_LABELS:
        raise NbrError(f"intervals are for up to {MOST_LABELS} labels at once, not {labels}; predict has no such limit")
