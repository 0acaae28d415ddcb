"""Many bodies of evidence about two labels: nonexpansive networks and memorised examples.

Rule i speaks for one of the labels, its side, to the degree R_i = sigmoid(s_i G_i), and for the other to 1 - R_i. G_i
never grows faster than its input moves: it is a nonexpansive network, or d_i - |x - t_i| for a memorised example t_i. A
rule was trained on a share of its side only (|T'|/|T| in section 4.2): where G_i < 0 it has just seen that the input is
unlike that share, and R_i stays as much nearer to 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from nbr.lipschitz import bound, rounding
from nbr.lipschitz.networks import UNIT, length

CHUNK = 512  # inputs at a time
FEW = 32  # of them where intermediate results should stay in a fast cache
NEGLIGIBLE = 1e-8  # of a margin


def evidence(scores: Tensor, scale: Tensor, share: Tensor, belief: Tensor) -> Tensor:
    """The weight of evidence of a rule for its side: log(1 - b + b R) - log(1 - b + b (1 - R)).

    R is 1/2 + k tanh(s G / 2) / 2, where k is 1 or, below 0, the share: this is 2 artanh(b / (2 - b) k tanh(s G / 2)).
    """
    bent = torch.tanh(scores * (scale / 2))
    return 2 * torch.atanh(belief / (2 - belief) * torch.where(scores >= 0, bent, share * bent))


@dataclass(frozen=True)
class Bodies:
    """The parts of all rules, networks first; tensors are over rules, or over memories."""

    networks: nn.Module
    memories: Tensor  # (memories, size)
    reach: Tensor  # d of each memory
    side: Tensor  # 0 or 1: the label that the rule speaks for
    share: Tensor
    scale: Tensor  # s
    belief: Tensor  # b

    @property
    def signs(self) -> Tensor:
        """+1 for rules that speak for the second label, -1 for the first."""
        return 2.0 * self.side.double() - 1

    def take(self, rules: Tensor) -> Bodies:
        """The same with only some of the memories: `rules` is a mask over all rules that keeps every network."""
        networks = len(self.side) - len(self.memories)
        held = rules[networks:]
        parts = {name: getattr(self, name)[rules] for name in ("side", "share", "scale", "belief")}
        return replace(self, memories=self.memories[held], reach=self.reach[held], **parts)

    def scores(self, points: Tensor) -> Tensor:
        """G of every rule, in the precision of the points: (n, rules)."""
        networks = self.networks.to(points.dtype)
        memories, reach = self.memories.to(points.dtype), self.reach.to(points.dtype)
        found = [
            torch.cat([networks(part)[..., 0].T, reach - torch.cdist(part, memories)], dim=1)
            for part in points.split(CHUNK)
        ]
        return torch.cat(found)

    def grades(self, scores: Tensor) -> Tensor:
        """R of every rule, the grade of its own side."""
        curve = torch.sigmoid(self.scale.to(scores.dtype) * scores)
        return torch.where(scores >= 0, curve, 0.5 - self.share.to(scores.dtype) * (0.5 - curve))

    def weights(self, scores: Tensor) -> Tensor:
        """What each rule adds to log Pl of the second label minus that of the first, scaled: (n, rules)."""
        parts = (part.to(scores.dtype) for part in (self.scale, self.share, self.belief))
        return evidence(scores, *parts) * self.signs.to(scores.dtype)

    def margin(self, scores: Tensor) -> Tensor:
        """log Pl of the second label minus that of the first: the sum of all weights, (n,).

        An input is outside the reach of nearly all memories. There artanh has a tiny argument, and is left out where
        that changes the sum by less than 1e-8 in all.
        """
        networks = len(self.side) - len(self.memories)
        small = (self.share * self.belief / (2 - self.belief))[networks:]
        if not len(small) or float(2 * (torch.atanh(small.clamp(max=0.999)) - small).sum()) > NEGLIGIBLE:
            return self.weights(scores).sum(dim=1)
        near, far = self.take(torch.arange(len(self.side)) < networks), scores[:, networks:]
        scale, share, belief, signs = (
            part[networks:].to(scores.dtype) for part in (self.scale, self.share, self.belief, self.signs)
        )
        slope = (2 * small).to(scores.dtype) * signs
        told = []
        for part in far.split(FEW):
            total = torch.tanh(part * (scale / 2)) @ slope
            if bool(part.detach().amax() >= 0):
                row, rule = (part >= 0).nonzero(as_tuple=True)
                inside = part[row, rule]
                exact = evidence(inside, scale[rule], share[rule], belief[rule]) * signs[rule]
                total = total.index_add(0, row, exact - torch.tanh(inside * (scale[rule] / 2)) * slope[rule])
            told.append(total)
        return near.weights(scores[:, :networks]).sum(dim=1) + torch.cat(told)

    def label_grades(self, scores: Tensor) -> Tensor:
        """Grades of both labels: (n, 2, rules)."""
        own = self.grades(scores)
        second = torch.where(self.side == 1, own, 1 - own)
        return torch.stack([1 - second, second], dim=1)

    def steepness(self) -> Tensor:
        """A bound on the Lipschitz constant of each G, in float64."""
        memories = torch.full((len(self.memories),), 1.0 + 4 * UNIT, dtype=torch.float64)
        return torch.cat([bound(self.networks), memories])

    def slack(self, points: Tensor) -> Tensor:
        """How far float64 may be off in each G: (n, rules).

        A squared distance by way of products is off by at most a few m u (|x| + |t|)^2, with m pixels.
        """
        lengths, sizes = length(points), length(self.memories)
        squared = 8 * points.shape[1] * UNIT * (lengths[:, None] + sizes) ** 2
        distance = torch.cdist(points.double(), self.memories.double()).clamp(min=1e-300)
        memories = torch.minimum(squared.sqrt(), squared / distance) + UNIT * (distance + self.reach.abs())
        return torch.cat([rounding(self.networks, lengths).T, memories], dim=1)
