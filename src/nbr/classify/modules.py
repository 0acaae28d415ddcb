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


class LargestScores(nn.Module):
    """The largest score of the rules that speak for each label: similar decisions, without sigmoids and logs."""

    def __init__(self, rules: NonexpansiveRules) -> None:
        super().__init__()
        self.rules = rules

    def forward(self, inputs: Tensor) -> Tensor:
        scores = self.rules.scores(inputs.flatten(1))
        return torch.stack([scores[:, own].amax(dim=1) for own in (self.rules.groups.table == 1).T], dim=1)
