"""Rules as torch modules with gradients, for those who want to attack them; the rules themselves never change."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nbr.classify.rules import NonexpansiveRules


class Logits(nn.Module):
    """log Pl of every label, up to a constant, in the precision of the input."""

    def __init__(self, rules: NonexpansiveRules, combine: str, centre: Tensor | None = None) -> None:
        super().__init__()
        self.rules, self.combine, self.centre = rules, combine, centre

    def forward(self, inputs: Tensor) -> Tensor:
        return self.rules.batch(self.rules.scores(_flat(inputs, self.centre)), self.combine).points()


class BareScores(nn.Module):
    """Similar decisions without sigmoids and logs: for each label the largest score of the rules that speak for it.

    Rules that leave labels out, such as those of pairs, decide by the one that speaks for the label least.
    """

    def __init__(self, rules: NonexpansiveRules, centre: Tensor | None = None) -> None:
        super().__init__()
        self.rules, self.centre = rules, centre

    def forward(self, inputs: Tensor) -> Tensor:
        return leads(self.rules, self.rules.scores(_flat(inputs, self.centre)))


def _flat(inputs: Tensor, centre: Tensor | None) -> Tensor:
    """Inputs as vectors, less what is taken from them."""
    return inputs.flatten(1) if centre is None else inputs.flatten(1) - centre.to(inputs.dtype)


def leads(rules: NonexpansiveRules, scores: Tensor) -> Tensor:
    """What `BareScores` says, from the scores of the rules (n, rules): (n, labels)."""
    table = rules.groups.table
    some = (table < 0).any(dim=1)
    return torch.stack([_lead(scores, group, some) for group in table.T], dim=1)


def _lead(scores: Tensor, group: Tensor, some: Tensor) -> Tensor:
    full, part = (group == 1) & ~some, (group >= 0) & some
    found = []
    if bool(part.any()):
        found.append((scores[:, part] * (2 * group[part] - 1)).amin(dim=1))
    if bool(full.any()):
        found.append(scores[:, full].amax(dim=1))
    return torch.stack(found).amax(dim=0)
