"""Rules about the labels of an input that come from scores: how a score becomes grades, and a weight of evidence.

Rule i has a frame of two groups of labels. It speaks for one of them, its own, to the degree R_i = sigmoid(s_i G_i),
and for the other to 1 - R_i; its grades of labels outside the frame are 1. A rule that was trained on a share of its
own group only (|T'|/|T| in section 4.2 of the paper) has just seen, where G_i < 0, that the input is unlike that share:
R_i stays as much nearer to 1/2.

`NonexpansiveRules` are those whose score G_i never grows faster than its input moves: a nonexpansive network, or
d_i - |x - t_i| for a memorised example t_i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from nbr.inference.batch import Batch, CrispBatch, FuzzyBatch, Groups
from nbr.lipschitz import Fixed
from nbr.lipschitz.networks import UNIT, length

CHUNK = 512  # inputs at a time
NEGLIGIBLE = 1e-8  # of a difference of log plausibilities


def evidence(scores: Tensor, scale: Tensor, share: Tensor, belief: Tensor) -> Tensor:
    """The weight of evidence of a rule for its own group: log(1 - b + b R) - log(1 - b + b (1 - R)).

    R is 1/2 + k tanh(s G / 2) / 2, where k is 1 or, below 0, the share: this is 2 artanh(b / (2 - b) k tanh(s G / 2)).
    """
    bent = torch.tanh(scores * (scale / 2))
    weight = 2 * torch.atanh(belief / (2 - belief) * torch.where(scores >= 0, bent, share * bent))
    sure = belief == 1
    if bool(sure.any()):  # s G itself, where tanh would round to 1
        weight = torch.where(sure & ((scores >= 0) | (share == 1)), scores * scale, weight)
    return weight


@dataclass(frozen=True, eq=False)
class ScoredRules:
    """How the scores of rules become grades and weights; tensors are over rules. The own group of a rule is group 1."""

    groups: Groups  # (rules, labels)
    share: Tensor
    scale: Tensor  # s
    belief: Tensor  # b

    @property
    def labels(self) -> int:
        return self.groups.points

    def __len__(self) -> int:
        return len(self.groups)

    def grades(self, scores: Tensor) -> Tensor:
        """Grades of all labels: (n, labels, rules)."""
        curve = torch.sigmoid(self.scale.to(scores.dtype) * scores)
        own = torch.where(scores >= 0, curve, 0.5 - self.share.to(scores.dtype) * (0.5 - curve))
        group = self.groups.table.T
        return torch.where(group == 1, own[:, None], torch.where(group == 0, 1 - own[:, None], 1.0))

    def weights(self, scores: Tensor) -> Tensor:
        """The weight of evidence of each rule for its own group against the other, scaled: (n, rules)."""
        return evidence(scores, *(part.to(scores.dtype) for part in (self.scale, self.share, self.belief)))

    def batch(self, scores: Tensor, combine: str) -> Batch:
        """The rules as one belief function for each input, exact or scaled."""
        if combine == "exact":
            return FuzzyBatch(self.grades(scores), self.belief.to(scores.dtype))
        return CrispBatch(self.weights(scores), self.groups)


@dataclass(frozen=True, eq=False)
class NonexpansiveRules(ScoredRules):
    """Networks first, then memories; tensors are over rules, or over memories. Nothing here ever changes."""

    networks: Fixed
    memories: Tensor  # (memories, size)
    reach: Tensor  # d of each memory

    def only(self, kept: Tensor) -> Self:
        """The same with only some of the rules: a mask over all that keeps every network."""
        held = kept[len(self) - len(self.memories) :]
        parts = {name: getattr(self, name)[kept] for name in ("share", "scale", "belief")}
        groups = Groups(self.groups.table[kept])
        return replace(self, memories=self.memories[held], reach=self.reach[held], groups=groups, **parts)

    @property
    def first_memory(self) -> int:
        """The number of the first rule that is a memory."""
        return len(self) - len(self.memories)

    def scores(self, points: Tensor) -> Tensor:
        """G of every rule, in the precision of the points: (n, rules)."""
        memories, reach = self._cast(points.dtype)
        near = [reach - torch.cdist(part, memories) for part in points.split(CHUNK)]
        return torch.cat([self.networks(points), torch.cat(near)], dim=1)

    def slack(self, points: Tensor, scores: Tensor) -> Tensor:
        """How far float64 may be off in each G: (n, rules).

        A squared distance by way of products is off by at most a few m u (|x| + |t|)^2, with m pixels.
        """
        lengths, sizes = length(points), self._sizes
        squared = 8 * points.shape[1] * UNIT * (lengths[:, None] + sizes) ** 2
        distance = (self.reach - scores[:, self.first_memory :]).clamp(min=1e-300)
        memories = torch.minimum(squared.sqrt(), squared / distance) + UNIT * (distance + self.reach.abs())
        return torch.cat([self.networks.rounding(lengths), memories], dim=1)

    @cached_property
    def steepness(self) -> Tensor:
        """A bound on the Lipschitz constant of each G, in float64."""
        memories = torch.full((len(self.memories),), 1.0 + 4 * UNIT, dtype=torch.float64)
        return torch.cat([self.networks.bound, memories])

    def weights(self, scores: Tensor) -> Tensor:
        """The weight of evidence of each rule for its own group against the other, scaled: (n, rules).

        An input is outside the reach of nearly all memories. There artanh has a tiny argument, and is left out where
        that changes the sum of all weights by less than 1e-8.
        """
        if not self._weak:
            return super().weights(scores)
        start = self.first_memory
        low, rise, *parts = self._weak_parts(scores.dtype)
        told = torch.addcmul(low, torch.sigmoid(scores * parts[0]), rise)  # tanh(x / 2) = 2 sigmoid(x) - 1, but faster
        told[:, :start] = evidence(scores[:, :start], *(part[:start] for part in parts))
        far = scores[:, start:]
        if bool(far.detach().amax() >= 0):
            row, rule = (far >= 0).nonzero(as_tuple=True)
            told[row, start + rule] = evidence(far[row, rule], *(part[start + rule] for part in parts))
        return told

    @cached_property
    def _weak(self) -> bool:
        """Whether artanh may be left out for memories out of reach."""
        small = (self.share * self.belief / (2 - self.belief))[self.first_memory :].detach()
        return bool(len(small)) and float(2 * (torch.atanh(small.clamp(max=0.999)) - small).sum()) <= NEGLIGIBLE

    def _weak_parts(self, dtype: torch.dtype) -> tuple[Tensor, ...]:
        """-2 and 4 times b / (2 - b) of the share; and s, the share and b themselves."""
        if dtype not in self._constants:
            parts = [part.to(dtype) for part in (self.scale, self.share, self.belief)]
            _, share, belief = parts
            slope = 2 * share * belief / (2 - belief)
            self._constants[dtype] = -slope, 2 * slope, *parts
        return self._constants[dtype]

    @cached_property
    def _constants(self) -> dict[torch.dtype, tuple[Tensor, ...]]:
        return {}

    @cached_property
    def _sizes(self) -> Tensor:
        return length(self.memories)

    @cached_property
    def _copies(self) -> dict[torch.dtype, tuple[Tensor, Tensor]]:
        return {}

    def _cast(self, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        if dtype not in self._copies:
            self._copies[dtype] = self.memories.to(dtype), self.reach.to(dtype)
        return self._copies[dtype]
