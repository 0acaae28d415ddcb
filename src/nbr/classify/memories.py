"""The second training step: what the networks do not take is memorised, and every rule learns its scale.

A memory speaks for the label of its example t_i with G_i(x) = d_i - |x - t_i|. Scales s_i, and for memories d_i, make a
rule tell its own examples from all of the other label, each moved by beta to its disadvantage: equation (17).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from nbr.classify.bodies import Bodies
from nbr.classify.recipe import Recipe, Sample

NEAREST = 500  # examples of the other label that a memory is told from; those further away add nothing
STEPS = 300
STEEPEST = 20.0  # s times epsilon at the most: an example that can be told for sure would ask for infinity


def memorise(sample: Sample, networks: nn.Module, recipe: Recipe) -> tuple[Bodies, Tensor]:
    """Rules with scales but not yet beliefs, and which rule is the memory of each example (-1 if none)."""
    count = 2 * recipe.networks
    side = torch.arange(count) // recipe.networks
    with torch.no_grad():
        scores = torch.cat([networks(part)[..., 0].T for part in sample.points.split(2048)])
    best, owner = scores.masked_fill(side != sample.side[:, None], -math.inf).max(dim=1)
    left = best < recipe.gamma * recipe.epsilon if recipe.memories else torch.zeros_like(best, dtype=torch.bool)
    size = torch.bincount(sample.side, minlength=2).double()
    shares = torch.bincount(owner[~left], minlength=count).double() / size[side]
    kept = sample.side[left]
    memory = torch.full((len(left),), -1)
    memory[left] = count + torch.arange(int(left.sum()))
    scale = _scales(scores, owner, left, side, sample.side, recipe)
    reach, sharp = _reaches(sample, left, recipe)
    bodies = Bodies(
        networks,
        sample.points[left],
        reach,
        torch.cat([side, kept]),
        torch.cat([shares, 1 / size[kept]]),
        torch.cat([scale, sharp]),
        torch.full((count + len(kept),), 0.5, dtype=torch.float64),
    )
    return bodies, memory


def _scales(scores: Tensor, owner: Tensor, left: Tensor, side: Tensor, truth: Tensor, recipe: Recipe) -> Tensor:
    """s of each network: its own examples against all of the other label."""
    numbers = torch.arange(len(side))
    own = ((owner[:, None] == numbers) & ~left[:, None]).float()
    other = (truth[:, None] != side).float()
    beta = recipe.shift * recipe.epsilon

    def loss(logs: Tensor) -> Tensor:
        s = logs.exp()
        return (own * softplus(-s * (scores - beta)) + other * softplus(s * (scores + beta))).sum()

    return _minimum(torch.zeros(len(side)), loss, recipe).exp().double()


def _reaches(sample: Sample, left: Tensor, recipe: Recipe) -> tuple[Tensor, Tensor]:
    """d and s of each memory, from the distances to the nearest examples of the other label."""
    parts = []
    for side in (0, 1):
        others = sample.points[sample.side != side]
        mine = sample.points[left & (sample.side == side)]
        nearest = min(NEAREST, len(others))
        parts.append((side, torch.cdist(mine, others).topk(nearest, dim=1, largest=False).values))
    width = min(part.shape[1] for _, part in parts)
    kept = sample.side[left]
    near = torch.zeros(len(kept), width)
    for side, part in parts:
        near[kept == side] = part[:, :width]
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
    optimiser = torch.optim.Adam([value], lr=0.05)
    most = math.log(STEEPEST / recipe.epsilon)
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss(value).backward()
        optimiser.step()
        with torch.no_grad():
            (value if value.dim() == 1 else value[1]).clamp_(max=most)
    return value.detach()
