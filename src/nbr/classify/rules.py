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

from nbr.calculus import Batch, CautiousBatch, CrispBatch, FuzzyBatch, Groups
from nbr.errors import NbrError
from nbr.lipschitz import UNIT, Fixed, finite, length

CHUNK = 512  # inputs at a time
NEGLIGIBLE = 1e-8  # of a difference of log plausibilities


def evidence(scores: Tensor, scale: Tensor, share: Tensor, belief: Tensor) -> Tensor:
    """The weight of evidence of a rule for its own group: log(1 - b + b R) - log(1 - b + b (1 - R)).

    R is 1/2 + k tanh(s G / 2) / 2, where k is 1 or, below 0, the share: this is 2 artanh(b / (2 - b) k tanh(s G / 2)).
    """
    if bool(((belief == 1) & (share == 1)).all()):
        return scores * scale
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
        """The rules as one belief function for each input, exact, scaled or cautious."""
        if combine == "exact":
            return FuzzyBatch(self.grades(scores), self.belief.to(scores.dtype))
        weights = self.weights(scores)
        if combine == "cautious":
            return CautiousBatch((self.groups.rank.to(scores.dtype) * weights[..., None, :]).clamp(max=0))
        return CrispBatch(weights, self.groups)

    @property
    def plain(self) -> bool:
        """Whether there is one rule of two labels whose weight of evidence is its score itself."""
        alone = len(self) == 1 and self.labels == 2
        return alone and all(bool((part == 1).all()) for part in (self.belief, self.scale, self.share))

    def check(self) -> None:
        """Raise an error that says which assumption of the proof does not hold."""
        table = self.groups.table
        if table.dim() != 2 or table.is_floating_point() or table.shape[1] < 2:
            raise NbrError("the frames of a classifier's rules are whole numbers, for each rule one for each label")
        if bool(((table < -1) | (table > 1)).any()) or not bool(((table == 0).any(1) & (table == 1).any(1)).all()):
            raise NbrError("a rule of a classifier tells two groups of labels apart, 0 and 1; -1 is outside")
        wanted = {"share": "a share from 0 to 1", "scale": "a number above 0", "belief": "a number from 0 to 1"}
        for name, words in wanted.items():
            part = getattr(self, name)
            if part.shape != table.shape[:1]:
                raise NbrError(f"the {name} of {len(table)} rules has shape {tuple(part.shape)}")
            bad = ~((part > 0) & part.isfinite() if name == "scale" else (part >= 0) & (part <= 1))
            if bool(bad.any()):
                rule = int(bad.nonzero()[0])
                raise NbrError(f"the {name} of rule {rule + 1} is {words}, not {float(part[rule]):g}")

    def doubt(self, scores: Tensor, moved: Tensor, combine: str) -> Tensor:
        """By how much float64 may be off in what rules say together, their scores moved by up to so much: (n,).

        Exact: in E[mu_Y], a sum of differences of grades. Scaled: in a sum of weights. A weight is s G itself, or it is
        2 artanh(x), at most -log(1 - b), and off by sinh(weight) times as much as x.
        """
        count = 8 * (len(self) + 8) * UNIT
        if combine == "exact":
            return torch.full((len(scores),), count, dtype=torch.float64)
        belief, share = self.belief.detach().double(), self.share.detach().double()
        bent = torch.where(belief < 1, belief / (2 - belief), torch.where(share < 1, share, 0.0))
        weight = 2 * torch.atanh(bent)
        most = torch.where(belief == 1, self.scale * (scores.abs() + moved), 0.0)
        return (count * weight + 8 * UNIT * torch.sinh(weight)).sum() + count * most.sum(dim=1)


@dataclass(frozen=True, eq=False)
class NonexpansiveRules(ScoredRules):
    """Networks first, then memories; tensors are over rules, or over memories. Nothing here ever changes."""

    networks: Fixed
    memories: Tensor  # (memories, size)
    reach: Tensor  # d of each memory

    def __post_init__(self) -> None:
        self.check()
        memories, size = tuple(self.memories.shape), self.networks.inputs
        if memories[1:] != (size,) or self.reach.shape != memories[:1]:
            raise NbrError(f"memories {memories} with reaches {tuple(self.reach.shape)}, and inputs of {size} numbers")
        if len(self) != self.networks.count + len(self.memories):
            raise NbrError(f"{len(self)} rules, but {self.networks.count} networks and {len(self.memories)} memories")
        if not finite(self.memories) or not finite(self.reach):
            raise NbrError("a memory, or its reach, is not a finite number")

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

    def slack(self, points: Tensor, scores: Tensor, within: Tensor) -> Tensor:
        """How far float64 may be off in each G at inputs within a distance, (n, 1) or (n, rules), of these: (n, rules).

        A squared distance by way of products is off by at most a few m u (|x| + |t|)^2, with m pixels. The few are so
        many here that the distance itself need not be known better.
        """
        within, first = within.expand(-1, len(self)), self.first_memory
        lengths, far = length(points)[:, None] + within, within[:, first:]
        squared = 8 * points.shape[1] * UNIT * (lengths[:, first:] + self._sizes) ** 2
        distance = (self.reach - scores[:, first:]).clamp(min=0)
        nearest = (distance - far).clamp(min=1e-300)
        memories = torch.minimum(squared.sqrt(), squared / nearest) + UNIT * (distance + far + self.reach.abs())
        return torch.cat([self.networks.rounding(lengths[:, :first]), memories], dim=1)

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
