"""From grades of labels to belief, plausibility and conflict.

For one input the world is the set of labels, and rules give it a (labels, rules) matrix of grades: the belief function
is the same as anywhere, only batched over inputs. What is computed first is E min over every set of labels, its
"commonality"; belief and plausibility of all sets follow by adding up over subsets.

`exact` takes the grades as they are. `scaled` first applies the paper's trick (section 4.3), which turns a rule with
two groups of labels into a classical one: the larger grade becomes 1, the smaller 0. Then everything is a product,
linear in the number of rules. For a single rule whose frame holds all labels both agree on every set of labels; several
rules differ, since scaled ones multiply where fuzzy ones take minima.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.evidence.transforms import zeta_subsets
from nbr.inference.few import minima, signs
from nbr.inference.point import keep

MOST_LABELS = 16  # whose 2^16 sets are listed
CHUNK = 1 << 22


@dataclass(frozen=True)
class Verdict:
    """Belief and plausibility of every label (n, labels), and the conflict of every input (n,)."""

    belief: Tensor
    plausibility: Tensor
    conflict: Tensor


class Exact:
    """Fuzzy rules as they are."""

    def labels(self, grades: Tensor, beliefs: Tensor, frames: Sequence[Tensor]) -> Tensor:
        """log of the unnormalised plausibility of each label: (n, labels)."""
        return keep(grades, beliefs).log()

    def sets(self, grades: Tensor, beliefs: Tensor, frames: Sequence[Tensor]) -> Tensor:
        """log of the commonality of each set of labels: (n, 2^labels)."""
        _check(grades.shape[1])
        size = max(1, CHUNK // ((1 << grades.shape[1]) * max(1, grades.shape[2])))
        return torch.cat([keep(minima(part), beliefs).log() for part in grades.split(size)])


class Scaled:
    """The scaling trick: each rule takes weight log(1 - b'') from the group of its frame that it grades lower.

    1 - b'' = (1 - b + b v_min) / (1 - b + b v_max), with v over the two groups of the frame.
    """

    def labels(self, grades: Tensor, beliefs: Tensor, frames: Sequence[Tensor]) -> Tensor:
        losses = self._losses(grades, beliefs, frames)
        return sum((part @ member for part, member in losses), start=torch.zeros(grades.shape[:2], dtype=grades.dtype))

    def sets(self, grades: Tensor, beliefs: Tensor, frames: Sequence[Tensor]) -> Tensor:
        labels = grades.shape[1]
        _check(labels)
        bits = torch.arange(1 << labels)[:, None] >> torch.arange(labels) & 1
        total = torch.zeros(len(grades), 1 << labels, dtype=grades.dtype)
        for part, member in self._losses(grades, beliefs, frames):
            touched = (member @ bits.T.to(member.dtype) > 0).to(part.dtype)
            total = total + part @ touched
        return total

    @staticmethod
    def _losses(grades: Tensor, beliefs: Tensor, frames: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        """For the first and the second groups: what each rule takes (n, rules), and whose it is (rules, labels)."""
        group = torch.stack(list(frames), dim=1)  # (labels, rules): 0, 1, or -1 outside the frame
        if int(group.max()) > 1:
            raise NbrError("the scaling trick needs frames of two groups; use combine='exact'")
        first, second = ((group == side).to(grades.dtype) for side in (0, 1))
        # All labels of a group have the same grade, so the mean is that grade.
        value = [torch.einsum("nlk,lk->nk", grades, side) / side.sum(dim=0) for side in (first, second)]
        kept = [torch.log1p(beliefs * (v - 1)) for v in value]
        gap = kept[0] - kept[1]
        return [(gap.clamp(max=0), first.T), ((-gap).clamp(max=0), second.T)]


def verdict(log_commonality: Tensor) -> Verdict:
    """Normalised belief and plausibility of single labels, from the commonalities of all sets."""
    count = log_commonality.shape[1]
    labels = count.bit_length() - 1
    singles = 1 << torch.arange(labels)
    top = log_commonality[:, singles].amax(dim=1, keepdim=True)
    if not bool(top.isfinite().all()):
        row = int((~top[:, 0].isfinite()).nonzero()[0])
        raise NbrError(f"rules believed to degree 1 contradict each other about input {row}: no label is possible")
    scaled = (log_commonality - top).exp()
    scaled[:, 0] = 0  # the empty set has no part in a maximum
    maxima = zeta_subsets(-signs(labels, scaled) * scaled)  # E max over every set of labels
    whole = maxima[:, -1:]
    plausibility = (maxima[:, singles] / whole).clamp(0, 1)
    belief = (1 - maxima[:, count - 1 - singles] / whole).clamp(0, 1)
    conflict = 1 - (whole * top.exp())[:, 0].clamp(0, 1)
    return Verdict(torch.minimum(belief, plausibility), plausibility, conflict)


METHODS = {"scaled": Scaled(), "exact": Exact()}


def _check(labels: int) -> None:
    if labels > MOST_LABELS:
        raise NbrError(f"intervals are for up to {MOST_LABELS} labels at once, not {labels}; predict has no such limit")
