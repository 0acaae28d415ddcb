"""Rules as torch modules with gradients, for those who want to attack them; the rules themselves never change."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nbr.classify.rules import NonexpansiveRules


class Logits(nn.Module):
    """log Pl of every label, up to a constant, in the precision of the input."""

    def __init__(self, rules: NonexpansiveRules, combine: str) -> None:
        super().__init__()
        self.rules, self.combine = rules, combine

    def forward(self, inputs: Tensor) -> Tensor:
        return self.rules.batch(self.rules.scores(inputs.flatten(1)), self.combine).points()


class BareScores(nn.Module):
    """Similar decisions without sigmoids and logs: for each label the largest score of the rules that speak for it.

    Rules that leave labels out, such as those of pairs, decide by the one that speaks for the label least.
    """

    def __init__(self, rules: NonexpansiveRules) -> None:
        super().__init__()
        self.rules = rules

    def forward(self, inputs: Tensor) -> Tensor:
        scores = self.rules.scores(inputs.flatten(1))
        return torch.stack([self._label(scores, group) for group in self.rules.groups.table.T], dim=1)

    def _label(self, scores: Tensor, group: Tensor) -> Tensor:
        some = (self.rules.groups.table < 0).any(dim=1)
        full, part = (group == 1) & ~some, (group >= 0) & some
        found = []
        if bool(part.any()):
            found.append((scores[:, part] * (2 * group[part] - 1)).amin(dim=1))
        if bool(full.any()):
            found.append(scores[:, full].amax(dim=1))
        return torch.stack(found).amax(dim=0)
