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

from nbr.calculus import Groups
from nbr.classify.frames import against_rest
from nbr.classify.layouts import Layout
from nbr.classify.recipe import Recipe, TrainingSample
from nbr.classify.rules import NonexpansiveRules
from nbr.lipschitz import Fixed
from nbr.training import Loop

NEAREST = 500  # examples of other labels that a memory is told from; those further away add nothing
STEPS = 300
STEEPEST = 20.0  # s times epsilon at the most: an example that can be told for sure would ask for infinity


def memorise(
    sample: TrainingSample, networks: nn.Module, layout: Layout, recipe: Recipe
) -> tuple[NonexpansiveRules, Tensor]:
    """Rules with scales but not yet beliefs, and which rule is the memory of each example (-1 if none)."""
    fixed, table = Fixed(networks), layout.table
    scores = fixed(sample.points)
    best = layout.reached(scores, sample.labels)
    left = best < recipe.gamma * recipe.epsilon if recipe.memories else torch.zeros_like(best, dtype=torch.bool)
    taken = layout.spoken(scores, sample.labels) & ~left[:, None]
    size = torch.bincount(sample.labels).double()
    kept = sample.labels[left]
    memory = torch.full((len(left),), -1)
    memory[left] = len(table) + torch.arange(len(kept))
    scale = _scales(scores, taken, table, sample, recipe)
    reach, sharp = _reaches(sample, left, recipe)
    rules = NonexpansiveRules(
        groups=Groups(torch.cat([table, against_rest(kept, sample.kinds)])),
        share=torch.cat([layout.shares(taken, sample.labels), 1 / size[kept]]),
        scale=torch.cat([scale, sharp]),
        belief=torch.full((len(table) + len(kept),), 0.5, dtype=torch.float64),
        networks=fixed,
        memories=sample.points[left],
        reach=reach,
    )
    return rules, memory


def _scales(every: Tensor, own: Tensor, table: Tensor, examples: TrainingSample, recipe: Recipe) -> Tensor:
    """s of each network: its own examples (n, networks) against those of its other group."""
    beta = recipe.shift * recipe.epsilon
    sample, scores = examples.thinned(every)
    mine, theirs = examples.thinned(own)[1].float(), (table[:, sample.labels].T == 0).float()
    if sample.weights is not None:
        mine, theirs = mine * sample.weights[:, None], theirs * sample.weights[:, None]

    def loss(logs: Tensor) -> Tensor:
        s = logs.exp()
        return (mine * softplus(-s * (scores - beta)) + theirs * softplus(s * (scores + beta))).sum()

    return _minimum(torch.zeros(scores.shape[1]), loss, recipe).exp().double()


def _reaches(sample: TrainingSample, left: Tensor, recipe: Recipe) -> tuple[Tensor, Tensor]:
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
    if not start.numel():  # nothing was memorised
        return start
    value = start.clone().requires_grad_()
    most = math.log(STEEPEST / recipe.epsilon)

    def limit(step: int, last: float) -> bool:
        with torch.no_grad():
            (value if value.dim() == 1 else value[1]).clamp_(max=most)
        return False

    Loop(torch.optim.Adam([value], lr=0.05, fused=True), lambda step: loss(value), STEPS, after=limit).run()
    return value.detach()
