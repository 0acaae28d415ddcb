"""What must hold of a model file whoever made it: it is refused in one line, or what it claims is so."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import nbr
from nbr.calculus.batch import Groups
from nbr.classify.rules import ScoredRules

INPUTS, STEPS = 20, 200
FARTHEST = 1e6  # an attack goes no farther, whatever was proved
WIDEST = 10_000  # inputs of more values are not made
STARTS = (1.0, 1e-1, 1e-2, 1e-4)  # shares of the proved radius at which an attack begins
ROUNDING = 1e-9
TEXTS = ("x0", "a", "x1 | x2", "b=u", "c>=5 & d", "a -> ~d")


Attack = Callable[[Any, np.ndarray, np.ndarray, int], int]


class Broken(AssertionError):
    """A promise that a file made the library break."""


def judged(path: Path, seed: int = 0, *, steps: int = STEPS, budget: float = 0.3, attack: Attack | None = None) -> str:
    """ "refused", or what was kept; a broken promise is an error."""
    try:
        model = nbr.load(path)
    except nbr.NbrError as error:
        return _one_line(error)
    return (
        reasoner(model, budget)
        if isinstance(model, nbr.Reasoner)
        else classifier(model, seed, steps, attack or attacked)
    )


def _one_line(error: nbr.NbrError) -> str:
    if "\n" in str(error):
        raise Broken(f"an error of several lines: {error}")
    return "refused"


def _asked(function: Any, *args: Any, **settings: Any) -> Any:
    """What it says, or None where it is refused in one line."""
    try:
        return function(*args, **settings)
    except nbr.NbrError as error:
        _one_line(error)
        return None


def _within(values: Any, what: str, low: float = 0.0, high: float = 1.0) -> None:
    found = np.asarray(values, dtype=np.float64)
    if not bool(((found >= low - ROUNDING) & (found <= high + ROUNDING)).all()):
        raise Broken(f"{what} is {found[~((found >= low - ROUNDING) & (found <= high + ROUNDING))][:3]}")


# Classifiers


def classifier(model: Any, seed: int, steps: int, attack: Attack) -> str:
    """Asked about some inputs, and attacked within what it proves."""
    X = inputs(model, seed)
    if X is None:
        return "too wide"
    labels = _asked(model.predict, X)
    if labels is None:
        return "asks refused"
    told, chances = _asked(model.belief, X), _asked(model.predict_proba, X)
    if told is not None:
        _within(told, "a belief")
        _within(told[..., 1] - told[..., 0], "plausibility less belief")
    if chances is not None:
        _within(chances, "a probability")
        _within(chances.sum(axis=1), "a sum of probabilities", 1, 1)
    for one in (model.conflict, model.familiarity):
        if (found := _asked(one, X)) is not None:
            _within(found, one.__name__)
    _asked(model.verdict, X)
    _asked(model.rule_radius, X)
    radius = _asked(model.certified_radius, X)
    if radius is None:
        return "no proof"
    _within(radius, "a radius", 0, math.inf)
    some = radius > 0
    lost = attack(model, X[some], radius[some], steps) if bool(some.any()) else 0
    if lost:
        raise Broken(f"the label of {lost} of {len(X)} inputs changes within its proved radius")
    return "kept, something proved" if bool(some.any()) else "kept, nothing proved"


def inputs(model: Any, seed: int) -> np.ndarray | None:
    size = model.n_features_in_
    if size > WIDEST:
        return None
    dice = np.random.default_rng(seed)
    X = dice.normal(size=(INPUTS, size)) * dice.choice([0.5, 2.0], size=(INPUTS, 1))
    if model.box is not None:
        low, high = model.box
        X = np.clip(np.abs(X) if low == 0 else X, low, high)
    return X


def scored(model: Any) -> Any:
    """From inputs to log Pl of every label, with gradients."""
    if not isinstance(model, nbr.BeliefClassifier):
        return model.as_module()
    groups = Groups(torch.stack(model.frames_))
    one = torch.ones(len(groups), dtype=torch.float64)
    rules = ScoredRules(groups, one, one, model.beliefs_)

    def function(points: Tensor) -> Tensor:
        scores = torch.cat([_decided(each, points) for each in model.estimators_], dim=1)
        return rules.batch(scores, model.combine).points()

    return function


def _decided(rule: Any, points: Tensor) -> Tensor:
    """What a rule's `decision_function` says, with gradients: (points, 1)."""
    if hasattr(rule, "coef_"):
        return points @ torch.from_numpy(rule.coef_).double().T + torch.from_numpy(rule.intercept_).double()
    centre = 0.0 if rule.centre_ is None else torch.from_numpy(rule.centre_)
    return rule.rules_.scores(points - centre)


def attacked(model: Any, X: np.ndarray, radius: np.ndarray, steps: int = STEPS) -> int:
    """How many labels change within radii: gradient steps on the margin in float64, from several starts."""
    function, start = scored(model), torch.from_numpy(X)
    label = function(start).argmax(dim=1)
    most = torch.from_numpy(np.minimum(radius, FARTHEST))[:, None]
    lost = torch.zeros(len(X), dtype=torch.bool)
    dice = torch.Generator().manual_seed(0)

    def look(moved: Tensor) -> Tensor:
        """The margin, and a note of what is lost."""
        logits = function(moved)
        rivals = logits.scatter(1, label[:, None], -torch.inf)
        inside = (moved.detach() - start).norm(dim=1) <= most[:, 0] * (1 - 1e-12)
        lost.logical_or_((logits.detach().argmax(dim=1) != label) & inside)
        return logits.gather(1, label[:, None])[:, 0] - rivals.amax(dim=1)

    for share in STARTS:
        away = torch.randn(start.shape, generator=dice, dtype=torch.float64)
        moved = start + share * most * away / away.norm(dim=1, keepdim=True)
        for step in range(steps // len(STARTS)):
            moved = moved.detach().requires_grad_()
            (slope,) = torch.autograd.grad(look(moved).sum(), moved)
            random = torch.randn(start.shape, generator=dice, dtype=torch.float64)
            slope = torch.where(slope.isfinite(), slope, 0.0)
            flat = slope.norm(dim=1, keepdim=True) == 0
            slope = torch.where(flat, random, slope)
            pace = share * most * (0.5 if step % 2 else 0.1)
            away = moved.detach() - pace * slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-300) - start
            length = away.norm(dim=1, keepdim=True).clamp(min=1e-300)
            moved = start + away * (most * (1 - 1e-9) / length).clamp(max=1)
        with torch.no_grad():
            look(moved)
            look(
                start
                + (moved - start) * (most * (1 - 1e-9) / (moved - start).norm(dim=1, keepdim=True).clamp(min=1e-300))
            )
    return int((lost & (most[:, 0] > 0)).sum())


# Reasoners


def reasoner(model: nbr.Reasoner, budget: float) -> str:
    """Asked, counted, sampled and scored."""
    said = 0
    for text in TEXTS:
        found = _asked(model.ask, text, budget=budget)
        if found is not None:
            said += 1
            _within([found.belief, found.plausibility, found.conflict], f"an answer to {text}")
            _within(found.plausibility - found.belief, f"plausibility less belief of {text}")
        known = _asked(model.probability, text, budget=budget)
        if known is not None:
            said += 1
            _within(known.value, f"the probability of {text}")
            _within(known.open or (0, 1), f"what stays open of {text}")
    drawn = _asked(model.sample, 20, seed=0)
    if drawn is not None:
        said += 1
        numbers = drawn.select_dtypes("number").to_numpy(dtype=np.float64)
        if not bool(np.isfinite(numbers).all()):
            raise Broken("a sample has a number that is not finite")
        scores = _asked(model.log_prob, drawn)
        if scores is not None and not bool((scores < math.inf).all()):
            raise Broken(f"a log probability is {scores[~(scores < math.inf)][:3]}")
    return "answers kept" if said else "asks refused"
