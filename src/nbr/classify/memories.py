"""The second training step: what the networks do not take is memorised, and every rule learns its scale.

A memory speaks for the label of its example t_i, against all others, with G_i(x) = d_i - |x - t_i|. Scales s_i, and for
memories d_i, make a rule tell its own examples from all of the other labels, each moved by beta to its disadvantage:
equation (17).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr.classify.frames import against_rest
from nbr.classify.recipe import Recipe, Sample
from nbr.classify.rules import NonexpansiveRules
from nbr.inference.batch import Groups
from nbr.lipschitz import Fixed
from nbr.training import Loop

NEAREST = 500  # examples of other labels that a memory is told from; those further away add nothing
STEPS = 300
STEEPEST = 20.0  # s times epsilon at the most: an example that can be told for sure would ask for infinity


def memorise(sample: Sample, networks: nn.Module, recipe: Recipe) -> tuple[NonexpansiveRules, Tensor]:
    """Rules with scales but not yet beliefs, and which rule is the memory of each example (-1 if none)."""
    fixed = Fixed(networks)
    own = torch.arange(sample.kinds).repeat_interleave(recipe.networks)  # the label that each network speaks for
    scores = fixed(sample.points)
    best, owner = scores.masked_fill(own != sample.labels[:, None], -math.inf).max(dim=1)
    left = best < recipe.gamma * recipe.epsilon if recipe.memories else torch.zeros_like(best, dtype=torch.bool)
    size = torch.bincount(sample.labels).double()
    shares = torch.bincount(owner[~left], minlength=len(own)).double() / size[own]
    kept = sample.labels[left]
    memory = torch.full((len(left),), -1)
    memory[left] = len(own) + torch.arange(len(kept))
    scale = _scales(scores, owner, left, own, sample.labels, recipe)
    reach, sharp = _reaches(sample, left, recipe)
    rules = NonexpansiveRules(
        groups=Groups(against_rest(torch.cat([own, kept]), sample.kinds)),
        share=torch.cat([shares, 1 / size[kept]]),
        scale=torch.cat([scale, sharp]),
        belief=torch.full((len(own) + len(kept),), 0.5, dtype=torch.float64),
        networks=fixed,
        memories=sample.points[left],
        reach=reach,
    )
    return rules, memory


def _scales(scores: Tensor, owner: Tensor, left: Tensor, label: Tensor, truth: Tensor, recipe: Recipe) -> Tensor:
    """s of each network: its own examples against all of the other labels."""
    numbers = torch.arange(len(label))
    own = ((owner[:, None] == numbers) & ~left[:, None]).float()
    other = (truth[:, None] != label).float()
    beta = recipe.shift * recipe.epsilon

    def loss(logs: Tensor) -> Tensor:
        s = logs.exp()
        return (own * softplus(-s * (scores - beta)) + other * softplus(s * (scores + beta))).sum()

    return _minimum(torch.zeros(len(label)), loss, recipe).exp().double()


def _reaches(sample: Sample, left: Tensor, recipe: Recipe) -> tuple[Tensor, Tensor]:
    """d and s of each memory, from the distances to the nearest examples of the other labels."""
    parts = []
    for label in range(sample.kinds):
        others = sample.points[sample.labels != label]
        mine = sample.points[left & (sample.labels == label)]
        nearest = min(NEAREST, len(others))
        parts.append(torch.cdist(mine, others).topk(nearest, dim=1, largest=False).values)
    width = min(part.shape[1] for part in parts)
    kept = sample.labels[left]
    near = torch.zeros(len(kept), width)
    for label, part in enumerate(parts):
        near[kept == label] = part[:, :width]
    beta = recipe.shift * recipe.epsilon

    def loss(values: Tensor) -> Tensor:
        d, s = values[0], values[1].exp()
        return (softplus(-s * (d - beta)) + softplus(s[:, None] * (d[:, None] - near + beta)).sum(dim=1)).sum()

    start = torch.stack([near[:, :1].mean(dim=1) / 2, torch.zeros(len(kept))])
    found = _minimum(start, loss, recipe)
    return found[0].double(), found[1].exp().double()


def _minimum(start: Tensor, loss: Callable[[Tensor], Tensor], recipe: Recipe) -> Tensor:
    """A fixed number of Adam steps; logarithms of scales are kept below a limit."""
    value = start.clone().requires_grad_()
    most = math.log(STEEPEST / recipe.epsilon)

    def limit(step: int, last: float) -> bool:
        with torch.no_grad():
            (value if value.dim() == 1 else value[1]).clamp_(max=most)
        return False

    Loop(torch.optim.Adam([value], lr=0.05), lambda step: loss(value), STEPS, after=limit).run()
    return value.detach()
