"""The third training step: how far to believe each rule, all rules together, equation (18).

Each example is moved by its own beta_t to its disadvantage, just so far that it is barely classified right; the
betas are found again from time to time. That pushes all examples alike to be classified more robustly. An example is
not shown its own memory: no other input will ever be as near to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import softplus
from torch.optim.lr_scheduler import LambdaLR

from nbr.classify.recipe import Recipe, Sample, Watcher
from nbr.classify.rules import NonexpansiveRules, ScoredRules
from nbr.training import Loop

STEPS = 400
BATCH = 1024
RENEWED = 50  # steps between searches for beta
HALVINGS = 12
RATE = 0.05
ABSENT = -1e6  # a score at which a rule that stands for one example has nothing to say


def believe(
    sample: Sample, rules: NonexpansiveRules, memory: Tensor, recipe: Recipe, watch: Watcher
) -> NonexpansiveRules:
    """The same rules with degrees of belief learned, and their scales learned further; for two labels."""
    doubt = torch.zeros(len(rules), requires_grad=True)
    scale = rules.scale.float().log().requires_grad_()

    def margin(scores: Tensor) -> Tensor:
        now = ScoredRules(rules.groups, rules.share.float(), scale.exp(), torch.sigmoid(doubt))
        first, second = now.batch(scores, "scaled").points().unbind(dim=1)
        return second - first

    rising = rules.groups.rising(torch.tensor([1]), torch.tensor([0]))[0]
    push(seen(sample, rules, memory), sample.labels, rising, [doubt, scale], margin, recipe, watch)
    return replace(rules, belief=torch.sigmoid(doubt.detach()).double(), scale=scale.detach().exp().double())


def seen(sample: Sample, rules: NonexpansiveRules, memory: Tensor) -> Tensor:
    """Scores of all examples, each without what its own memory would say."""
    with torch.no_grad():
        scores = rules.scores(sample.points).float()
    held = memory >= 0
    scores[held, memory[held]] = ABSENT
    return scores


def push(
    scores: Tensor,
    side: Tensor,
    signs: Tensor,
    values: list[Tensor],
    margin: Callable[[Tensor], Tensor],
    recipe: Recipe,
    watch: Watcher,
) -> None:
    """Improve the values that a margin depends on, in place, by equation (18).

    The margin must rise with every score whose sign is +1 and fall with every other one.
    """
    label, against = 2.0 * side.float() - 1, signs.float()
    optimiser = torch.optim.Adam(values, lr=RATE)
    generator = torch.Generator().manual_seed(recipe.seed)
    beta = torch.zeros(len(label))

    def loss(step: int) -> Tensor:
        nonlocal beta
        if step % RENEWED == 0:
            beta = _barely(margin, scores, label, against, 2 * recipe.epsilon)
        rows = torch.randint(len(label), (min(BATCH, len(label)),), generator=generator)
        moved = scores[rows] - (label[rows] * beta[rows])[:, None] * against
        plain = softplus(-label[rows] * margin(scores[rows])).mean()
        adversarial = softplus(-label[rows] * margin(moved)).mean()
        return adversarial + recipe.omega * plain

    schedule = LambdaLR(optimiser, lambda step: 1 - step / STEPS)
    Loop(optimiser, loss, STEPS, schedule=schedule).run(watch, "beliefs")


def _barely(margin: Callable[[Tensor], Tensor], scores: Tensor, label: Tensor, against: Tensor, most: float) -> Tensor:
    """How far each example can be moved before its label changes; below 0 where it is classified wrong."""
    found = []
    with torch.no_grad():
        for part, sign in zip(scores.split(BATCH), label.split(BATCH), strict=True):
            low, high = torch.full_like(sign, -most), torch.full_like(sign, most)
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                right = margin(part - (sign * middle)[:, None] * against) * sign > 0
                low, high = torch.where(right, middle, low), torch.where(right, high, middle)
            found.append(low)
    return torch.cat(found)
