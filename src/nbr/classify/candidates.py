"""Which networks a classifier is made of: those that learn layers, or, where these are no better, a linear rule.

A linear rule of two labels has an exact margin: its lead over the length of its weights. A layer by itself is a
nonexpansive network like all others, so what comes after it, scales, beliefs and the proof, is the same.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from nbr.classify.beliefs import believe
from nbr.classify.cautious import cautious
from nbr.classify.evaluation import evaluate
from nbr.classify.experts import Experts
from nbr.classify.layouts import Layout
from nbr.classify.memories import memorise
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, TrainingSample, Watcher
from nbr.classify.rules import NonexpansiveRules
from nbr.lipschitz import Dense

FEW = 5000  # examples up to which a linear rule is compared with networks, which are trained twice then
HELD = 0.25  # of them, on which the two are compared
FOLDS = 5
PENALTIES = tuple(10.0**power for power in range(-5, 3))  # C of the logistic regression, of inputs of spread 1
REACH = 2.0  # times epsilon: radii beyond count no more
ITERATIONS = 300


@dataclass(frozen=True)
class Candidate:
    """Networks that can be trained on a sample, and what each of them tells apart."""

    name: str
    layout: Layout
    recipe: Recipe
    train: Callable[[TrainingSample, Watcher, Path | None], nn.Sequential]

    def rules(self, sample: TrainingSample, watch: Watcher, path: Path | None = None) -> NonexpansiveRules:
        """All three steps: networks, then scales and memories, then beliefs."""
        rules, memory = memorise(sample, self.train(sample, watch, path), self.layout, self.recipe)
        return believe(sample, rules, memory, self.recipe, watch)


def candidates(recipe: Recipe, layout: Layout, labels: int) -> tuple[Candidate, Candidate]:
    """The linear one, and the one with layers."""
    plain = Experts(labels, 1) if labels == 2 else Pairs(labels)
    bare = replace(recipe, memories=False)
    return (
        Candidate("linear", plain, bare, lambda sample, watch, path: linear(sample, plain, recipe)),
        Candidate("networks", layout, recipe, lambda sample, watch, path: layout.train(sample, recipe, watch, path)),
    )


def chosen(
    every: tuple[Candidate, ...], sample: TrainingSample, combine: str, watch: Watcher, path: Path | None
) -> tuple[Candidate, dict[str, float]]:
    """The candidate of the largest worth on examples held out, and the worth of each; the first where they are level.

    One that comes later has to be ahead by more than the error of the difference.
    """
    learn, held = sample.split(HELD, every[0].recipe.seed)
    if held is None:
        return every[-1], {}
    worths = []
    for each in every:
        rules = each.rules(learn, watch, None if path is None else comparison_file(path))
        worths.append(_worths(rules, held, each.recipe.epsilon, combine))
    best = 0
    for number in range(1, len(every)):
        ahead = worths[number] - worths[best]
        if float(ahead.mean()) > float(ahead.std()) / math.sqrt(len(ahead)):
            best = number
    return every[best], {each.name: float(worth.mean()) for each, worth in zip(every, worths, strict=True)}


def comparison_file(path: Path) -> Path:
    """Where a comparison is kept, beside the checkpoint of the run that it belongs to."""
    return path.with_name(path.name + ".trial")


def _worths(rules: NonexpansiveRules, held: TrainingSample, epsilon: float, combine: str) -> Tensor:
    """Of each example the share of lengths up to 2 epsilon at which it is proved to keep its right label: (n,).

    The mean over examples is that of the proved shares at all those lengths, being right among them.
    """
    found = evaluate(cautious(rules, held) if combine == "cautious" else rules, held.points.double(), combine)
    radius = found.radius(REACH * epsilon)
    assert radius is not None
    right = found.scores().argmax(dim=1) == held.labels
    return torch.where(right, (radius / (REACH * epsilon)).clamp(max=1), 0.0)


def linear(sample: TrainingSample, layout: Layout, recipe: Recipe) -> nn.Sequential:
    """A linear network for each rule of a layout: of logistic regressions with several C, the one whose margins on
    examples held out in turn are worth most."""
    from sklearn.model_selection import StratifiedKFold

    points, labels = sample.points.double().numpy(), sample.labels.numpy()
    weights = None if sample.weights is None else sample.weights.double().numpy()
    scale = float(np.sqrt(points.var(axis=0).mean())) or 1.0  # one for all columns: distances stay what they are
    points, reach = points / scale, REACH * recipe.epsilon / scale
    basis = None
    if points.shape[1] > len(points):  # the best slopes are sums of examples: it is enough to look at what these span
        _, _, basis = np.linalg.svd(points, full_matrices=False)
        points = points @ basis.T
    folds = min(FOLDS, int(np.bincount(labels).min()))
    worth = dict.fromkeys(PENALTIES, 0.0)
    if folds > 1:
        parts = StratifiedKFold(folds, shuffle=True, random_state=recipe.seed)
        for learn, held in parts.split(points, labels):
            for penalty in PENALTIES:
                told = _regression(points[learn], labels[learn], None if weights is None else weights[learn], penalty)
                leads = _margins(*told, points[held], labels[held])
                worth[penalty] += float(np.clip(leads / reach, 0, 1).sum())
    best = max(PENALTIES, key=lambda penalty: worth[penalty]) if folds > 1 else 1.0
    slopes, starts = _regression(points, labels, weights, best)
    slopes = slopes if basis is None else slopes @ basis
    table = layout.table
    own = [int((row == 1).nonzero()[0]) for row in table]
    other = [int((row == 0).nonzero()[0]) for row in table]
    rows, shifts = slopes[own] - slopes[other], starts[own] - starts[other]
    length = np.maximum(np.linalg.norm(rows, axis=1), 1e-30)
    rows, shifts = rows / length[:, None], scale * shifts / length
    return nn.Sequential(
        Dense.of(torch.from_numpy(rows[:, None]).float(), torch.from_numpy(shifts[:, None, None]).float())
    )


def _regression(
    points: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """A score for every label: slopes (labels, size) and starts (labels,)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a line that could be a little better is judged as it is
        model = LogisticRegression(C=penalty, max_iter=ITERATIONS).fit(points, labels, weights)
    slopes, starts = model.coef_, model.intercept_
    if len(slopes) == 1:
        slopes, starts = np.concatenate([-slopes, slopes]) / 2, np.concatenate([-starts, starts]) / 2
    return slopes, starts


def _margins(slopes: np.ndarray, starts: np.ndarray, points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The distance of each point from where its label is no longer ahead, below 0 where it never was: (n,)."""
    scores = points @ slopes.T + starts
    found = np.full(len(points), np.inf)
    for first, second in combinations(range(len(slopes)), 2):
        lead = (scores[:, first] - scores[:, second]) / max(np.linalg.norm(slopes[first] - slopes[second]), 1e-30)
        found = np.where(labels == first, np.minimum(found, lead), found)
        found = np.where(labels == second, np.minimum(found, -lead), found)
    return found
