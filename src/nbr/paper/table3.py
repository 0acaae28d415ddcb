"""Table 3: the same scores G_i put together in other ways than by belief functions.

Markov random fields take -sigmoid(s G) (first) or -log sigmoid(s G) (second) as energies of a rule's own label, and the
same of -G for the other label; their weights and scales are learned as beliefs are, by equation (18). Gaussian naive
Bayes takes sigmoid(s G) (first) or G (second) as features. Where an example is its own memory the rule's mean is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from nbr.classify import (
    ABSENT_SCORE,
    NonexpansiveRules,
    Recipe,
    RobustClassifier,
    TrainingSample,
    improve,
    proved_radius,
    scores_seen,
    without_double_slack,
)
from nbr.kinds import load_as
from nbr.paper.table2 import Data, Rival, chosen, proof
from nbr.progress import silent

PAPER = {
    "NBR": {"natural": 99.1, "attacked": 55.3},
    "Markov random field 1": {"natural": 97.6, "attacked": 52.0},
    "Markov random field 2": {"natural": 90.0, "attacked": 47.8},
    "Gaussian naive Bayes 1": {"natural": 98.6, "attacked": 53.9},
    "Gaussian naive Bayes 2": {"natural": 69.4, "attacked": 33.7},
}
SMALLEST = 1e-6  # of variances


@dataclass(frozen=True)
class Combined:
    """Scores put together: a margin for the second label, and whether it is monotone in every score."""

    rules: NonexpansiveRules
    margin: Callable[[Tensor], Tensor]
    monotone: bool

    def module(self) -> nn.Module:
        return _Logits(self)

    def proved(self, images: Tensor) -> Tensor:
        """By moving all scores against the label at once; nothing is proved where the margin is not monotone."""
        points = images.flatten(1).double()
        if not self.monotone:
            return torch.zeros(len(points), dtype=torch.float64)
        rules, scores = self.rules, self.rules.scores(points)
        none = torch.zeros(len(points), dtype=torch.float64)
        slack, steepness = rules.slack(points, scores, none[:, None]), rules.steepness
        near = proved_radius(scores, 2 * slack, none, steepness, rules.groups, self.logits, exact=False, most=none + 16)
        further = (rules.slack(points, scores, near[:, None]) - slack) / steepness
        return without_double_slack(near, further.amax(dim=1))

    def logits(self, scores: Tensor) -> Tensor:
        """Half the margin for the second label, minus half for the first."""
        margin = self.margin(scores)
        return torch.stack([-margin / 2, margin / 2], dim=1)


class _Logits(nn.Module):
    def __init__(self, combined: Combined) -> None:
        super().__init__()
        self.combined = combined

    def forward(self, inputs: Tensor) -> Tensor:
        return self.combined.logits(self.combined.rules.scores(inputs.flatten(1)))


def combined(sample: TrainingSample, rules: NonexpansiveRules, recipe: Recipe) -> dict[str, Combined]:
    """The four other ways, each fitted to the training images."""
    memory = _memories(sample, rules)
    scores = scores_seen(sample, rules, memory)
    usual = scores.masked_fill(scores == ABSENT_SCORE, torch.nan).nanmean(dim=0)
    scores = torch.where(scores == ABSENT_SCORE, usual, scores)
    found: dict[str, Combined] = {}
    for number, energy in ((1, torch.sigmoid), (2, logsigmoid)):
        weight = rules.share.float().clamp(min=SMALLEST).log().requires_grad_()  # else rules of few examples drown all
        scale = rules.scale.float().log().requires_grad_()
        margin = _field(rules, weight, scale, energy)
        improve(scores, sample, rules.groups, [weight, scale], Combined(rules, margin, True).logits, recipe, silent)
        fixed = (weight.detach().double(), scale.detach().double())
        found[f"Markov random field {number}"] = Combined(rules, _field(rules, *fixed, energy), True)
    for number, feature in ((1, lambda told: torch.sigmoid(rules.scale.to(told.dtype) * told)), (2, _itself)):
        found[f"Gaussian naive Bayes {number}"] = Combined(
            rules, _bayes(feature, scores.double(), sample.labels), False
        )
    return found


def classifiers(given: Data, only: Sequence[str]) -> dict[str, Rival]:
    """The rows of the table, from the scores of the shipped classifier."""
    shipped = load_as(RobustClassifier, "mnist-4-9")
    known = {field.name for field in fields(Recipe)}
    recipe = Recipe(**{name: value for name, value in shipped.recipe_.items() if name in known})
    sample = TrainingSample(given.train.flatten(1).float(), given.train_labels, (28, 28))
    raw = shipped.raw_module()
    found = {"NBR": Rival(shipped.as_module(), proof(shipped), raw, raw)}
    for name, each in combined(sample, shipped.rules_, recipe).items():
        found[name] = Rival(each.module(), each.proved, raw, raw)
    return {name: found[name] for name in chosen(only, found)}


def _itself(values: Tensor) -> Tensor:
    return values


def _field(
    rules: NonexpansiveRules, weight: Tensor, scale: Tensor, energy: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    """The energy of the first label minus that of the second."""

    def margin(scores: Tensor) -> Tensor:
        sharp = scale.exp().to(scores.dtype) * scores
        gap = energy(sharp) - energy(-sharp)
        return (gap * weight.exp().to(scores.dtype)) @ _rising(rules).to(scores.dtype)

    return margin


def _bayes(feature: Callable[[Tensor], Tensor], scores: Tensor, side: Tensor) -> Callable[[Tensor], Tensor]:
    """log odds of two Gaussians for each feature."""
    told = feature(scores)
    means, spreads, shares = [], [], []
    for label in (0, 1):
        mine = told[side == label]
        means.append(mine.mean(dim=0))
        spreads.append(mine.var(dim=0) + SMALLEST * told.var())
        shares.append(len(mine) / len(told))

    def log_density(values: Tensor, label: int) -> Tensor:
        mean, spread = means[label].to(values.dtype), spreads[label].to(values.dtype)
        return (-((values - mean) ** 2) / (2 * spread) - spread.log() / 2).sum(dim=1)

    def margin(inputs: Tensor) -> Tensor:
        values = feature(inputs)
        prior = torch.tensor(shares[1] / shares[0], dtype=values.dtype).log()
        return log_density(values, 1) - log_density(values, 0) + prior

    return margin


def _rising(rules: NonexpansiveRules) -> Tensor:
    """1 for rules that speak for the second label, -1 for the first."""
    return rules.groups.rising(torch.tensor([1]), torch.tensor([0]))[0]


def _memories(sample: TrainingSample, rules: NonexpansiveRules) -> Tensor:
    """Which rule is the memory of each example, -1 if none."""
    found = torch.full((len(sample.points),), -1)
    if len(rules.memories):
        near = torch.cdist(rules.memories.float(), sample.points.float()).min(dim=1)
        found[near.indices] = rules.first_memory + torch.arange(len(rules.memories))
    return found
