"""The third training step: how far to believe each rule, all rules together, equation (18).

Each example is moved by its own beta_t to its disadvantage against its strongest rival, just so far that it is barely
classified right; rivals and betas are found again from time to time. That pushes all examples alike to be classified
more robustly. An example is not shown its own memory: no other input will ever be as near to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import softplus
from torch.optim.lr_scheduler import LambdaLR

from nbr.calculus import Groups
from nbr.classify.recipe import Recipe, TrainingSample, Watcher
from nbr.classify.rules import NonexpansiveRules, ScoredRules
from nbr.training import Loop

STEPS = 400
BATCH = 1024
RENEWED = 50  # steps between searches for beta
HALVINGS = 12
RATE = 0.05
ABSENT_SCORE = -1e6  # a score at which a rule that stands for one example has nothing to say
Combined = Callable[[Tensor], Tensor]  # from scores (n, rules) to log Pl of all labels (n, labels)


def believe(
    sample: TrainingSample, rules: NonexpansiveRules, memory: Tensor, recipe: Recipe, watch: Watcher
) -> NonexpansiveRules:
    """The same rules with degrees of belief learned, and their scales learned further."""
    doubt = torch.zeros(len(rules), requires_grad=True)
    scale = rules.scale.float().log().requires_grad_()

    def combined(scores: Tensor) -> Tensor:
        now = ScoredRules(rules.groups, rules.share.float(), scale.exp(), torch.sigmoid(doubt))
        return now.batch(scores, "scaled").points()

    fewer, scores = sample.thinned(scores_seen(sample, rules, memory))
    improve(scores, fewer, rules.groups, [doubt, scale], combined, recipe, watch)
    return replace(rules, belief=torch.sigmoid(doubt.detach()).double(), scale=scale.detach().exp().double())


def scores_seen(sample: TrainingSample, rules: NonexpansiveRules, memory: Tensor) -> Tensor:
    """Scores of all examples, each without what its own memory would say."""
    with torch.no_grad():
        scores = rules.scores(sample.points).float()
    held = memory >= 0
    scores[held, memory[held]] = ABSENT_SCORE
    return scores


def improve(
    scores: Tensor,
    sample: TrainingSample,
    groups: Groups,
    values: list[Tensor],
    combined: Combined,
    recipe: Recipe,
    watch: Watcher,
) -> None:
    """Improve the values that log Pl depends on, in place, by equation (18).

    The lead of one label over another must rise, fall or stay with every score as the groups of the rules say.
    """
    labels = sample.labels
    optimiser = torch.optim.Adam(values, lr=RATE, fused=True)  # steps are small
    generator = torch.Generator().manual_seed(recipe.seed)
    beta, rival = torch.zeros(len(labels)), labels

    def loss(step: int) -> Tensor:
        nonlocal beta, rival
        if step % RENEWED == 0:
            beta, rival = _barely(combined, scores, labels, groups, 2 * recipe.epsilon)
        rows = torch.randint(len(labels), (min(BATCH, len(labels)),), generator=generator)
        against = groups.rising(labels[rows], rival[rows]).to(scores.dtype)
        part = scores[rows]
        both = combined(torch.cat([part, part - beta[rows][:, None] * against]))  # at once: steps are small
        plain, adversarial = softplus(-lead(both, labels[rows].repeat(2))).chunk(2)
        return sample.mean(adversarial + recipe.omega * plain, rows)

    schedule = LambdaLR(optimiser, lambda step: 1 - step / STEPS)
    Loop(optimiser, loss, STEPS, schedule=schedule).run(watch, "beliefs")


def lead(logits: Tensor, labels: Tensor) -> Tensor:
    """How far each example's label is ahead of the others, as a logit: softplus of its negative is cross-entropy."""
    if logits.shape[1] == 2:
        return (logits[:, 1] - logits[:, 0]) * (2 * labels - 1)
    own = logits.gather(1, labels[:, None])[:, 0]
    return own - logits.scatter(1, labels[:, None], -torch.inf).logsumexp(dim=1)


def _barely(combined: Combined, scores: Tensor, labels: Tensor, groups: Groups, most: float) -> tuple[Tensor, Tensor]:
    """How far each example can be moved before its label changes, below 0 where it is wrong; its strongest rival."""
    found, rivals = [], []
    with torch.no_grad():
        for part, label in zip(scores.split(BATCH), labels.split(BATCH), strict=True):
            rival = combined(part).scatter(1, label[:, None], -torch.inf).argmax(dim=1)
            against = groups.rising(label, rival).to(part.dtype)
            low, high = part.new_full((len(part),), -most), part.new_full((len(part),), most)
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                right = _ahead(combined(part - middle[:, None] * against), label)
                low, high = torch.where(right, middle, low), torch.where(right, high, middle)
            found.append(low)
            rivals.append(rival)
    return torch.cat(found), torch.cat(rivals)


def _ahead(logits: Tensor, labels: Tensor) -> Tensor:
    """Whether each label is ahead of all others."""
    others = logits.scatter(1, labels[:, None], -torch.inf).amax(dim=1)
    return logits.gather(1, labels[:, None])[:, 0] > others
