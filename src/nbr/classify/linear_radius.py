"""Linear classifiers of scikit-learn, by themselves or behind scalers in a Pipeline: exact slopes and rounding.

A score w x + c changes by exactly |w| times the distance of two inputs along w. A scaler before it is one more linear
map, (x - m) / s, so the whole is linear in the raw inputs, and its slopes are w / s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC

from nbr.errors import NbrError
from nbr.lipschitz import UNIT

Array = NDArray[Any]
LINEAR = (
    LogisticRegression,
    LogisticRegressionCV,
    LinearSVC,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
SLIP = 1 + 1e-12  # what is computed from slopes is itself rounded


@dataclass(frozen=True)
class Scaling:
    """Inputs times a factor for each column, and shifted: what scalers do."""

    factor: Array  # (size,)
    shift: Array

    @property
    def stretch(self) -> float:
        """By how much a change of the input may grow at most."""
        return float(np.abs(self.factor).max(initial=0.0)) * SLIP

    def after(self, first: Scaling) -> Scaling:
        return Scaling(self.factor * first.factor, self.factor * first.shift + self.shift)


@dataclass(frozen=True)
class LinearScores:
    """Scores of inputs, one for two labels or one for each: slopes (scores, size) and starts, of scaled inputs."""

    slopes: Array
    starts: Array
    scaling: Scaling
    steps: int  # scalers before it

    @property
    def raw(self) -> Array:
        """Slopes over the inputs as they are: (scores, size)."""
        found: Array = self.slopes * self.scaling.factor
        return found

    @property
    def lipschitz_(self) -> float:
        """Of a single score: what it changes by at most, times the distance of two inputs."""
        return float(np.linalg.norm(self.raw[0])) * SLIP

    def rounding(self, X: Array, within: Array | float = 0.0) -> Array:
        """How far float64 may be off in a single score, at inputs within a distance of these: (n,)."""
        found: Array = self.slack(X, within)[:, 0]
        return found

    def slack(self, X: Array, within: Array | float) -> Array:
        """How far float64 may be off in the scores, at inputs within a distance of these: (n, scores).

        Each scaler is off by a few roundings of what it works with, a product of m terms by m of them.
        """
        units = (X.shape[1] + 4 * self.steps + 8) * UNIT
        size = np.abs(X) @ np.abs(self.raw).T + np.abs(self.slopes) @ self._shifted + np.abs(self.starts)
        far = np.asarray(within, dtype=np.float64).reshape(-1, 1) * np.linalg.norm(self.raw, axis=1)
        found: Array = 4 * units * (size + far) * SLIP
        return found

    @property
    def _shifted(self) -> Array:
        return np.abs(self.scaling.shift)


def linear(model: Any) -> LinearScores | None:
    """A trained linear classifier, or a Pipeline that ends in one; None for anything else."""
    steps = [step for _, step in model.steps] if type(model) is Pipeline else [model]
    if type(steps[-1]) not in LINEAR or not hasattr(steps[-1], "coef_"):
        return None
    before = scaling(steps[:-1], steps[-1].n_features_in_)
    if before is None:
        return None
    slopes = np.atleast_2d(np.asarray(steps[-1].coef_, dtype=np.float64))
    starts = np.broadcast_to(np.asarray(steps[-1].intercept_, dtype=np.float64), (len(slopes),))
    return LinearScores(slopes, starts, before, len(steps) - 1)


def bounded(model: Any) -> Any:
    """What states `lipschitz_` and `rounding` of a trained classifier of two labels; None if nothing does."""
    if hasattr(model, "lipschitz_"):
        return model
    told = linear(model)
    return told if told is not None and len(told.slopes) == 1 else None


def scaling(steps: list[Any], size: int) -> Scaling | None:
    """Scalers one after another; None if a step is something else."""
    parts = [_scaler(step, size) for step in steps if step not in (None, "passthrough")]
    if any(part is None for part in parts):
        return None
    none = Scaling(np.ones(size), np.zeros(size))
    return reduce(lambda first, then: then.after(first), (part for part in parts if part is not None), none)


def _scaler(step: Any, size: int) -> Scaling | None:
    """(x - centre) / scale, or x scale + shift for ranges."""
    if getattr(step, "clip", False):  # which bends
        return None
    if type(step) is MinMaxScaler:
        return Scaling(np.asarray(step.scale_, float), np.asarray(step.min_, float))
    if type(step) is MaxAbsScaler:
        return Scaling(1 / np.asarray(step.scale_, float), np.zeros(size))
    if type(step) is StandardScaler:
        centre, scale = (step.mean_ if step.with_mean else None), step.scale_
    elif type(step) is RobustScaler:
        centre, scale = (step.center_ if step.with_centering else None), (step.scale_ if step.with_scaling else None)
    else:
        return None
    factor = np.ones(size) if scale is None else 1 / np.asarray(scale, float)
    return Scaling(factor, np.zeros(size) if centre is None else -np.asarray(centre, float) * factor)


def certified_radius(model: Any, X: Any) -> Array:
    """The radius of each input within which its label provably cannot change.

    It is computed for classifiers of this package, for linear classifiers of scikit-learn (logistic regression, linear
    SVM, ridge, perceptron), where it is the exact margin, and for a Pipeline of scalers that ends in one of these.

    Args:
        model: The trained classifier.
        X: The inputs, one in each row.

    Returns:
        L2 radii in the units of X, shape (n,).
    """
    if hasattr(model, "certified_radius"):
        found: Array = model.certified_radius(X)
        return found
    told = linear(model)
    if told is not None:
        return _margin(told, _rows(X), model)
    if type(model) is Pipeline and hasattr(model[-1], "certified_radius"):
        before = scaling([step for _, step in model.steps[:-1]], model[-1].n_features_in_)
        if before is not None:
            return _through(model, before, X)
    raise NbrError(
        f"nothing is proved of a {type(model).__name__}: a linear classifier, one of this package, "
        "or a Pipeline of scalers and one of these can be"
    )


def _rows(X: Any) -> Array:
    return np.asarray(X, dtype=np.float64)


def _margin(told: LinearScores, X: Array, model: Any) -> Array:
    """The distance to the nearest hyperplane at which another label is as good, less rounding."""
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    slack = told.slack(X, 0.0)
    if scores.ndim == 1:
        return _apart(np.abs(scores), 2 * slack[:, 0], told.lipschitz_, told, X)
    best, rows = scores.argmax(axis=1), np.arange(len(X))
    found = np.full(len(X), np.inf)
    for rival in range(scores.shape[1]):
        mine = best != rival
        apart = np.linalg.norm(told.raw[best] - told.raw[rival], axis=1) * SLIP
        lead = scores[rows, best] - scores[:, rival]
        near = _apart(lead, 2 * (slack[rows, best] + slack[:, rival]), apart, told, X)
        found = np.where(mine, np.minimum(found, near), found)
    return found


def _apart(lead: Array, slack: Array, slope: Array | float, told: LinearScores, X: Array) -> Array:
    """How far a lead lasts that is off by so much here, and there by more, in proportion to the way."""
    grows = 16 * (X.shape[1] + 4 * told.steps + 8) * UNIT * np.linalg.norm(told.raw, axis=1).max()
    found: Array = np.clip((lead - slack) / (np.maximum(slope, np.finfo(float).tiny) + grows), 0, None) / SLIP
    return found


def _through(model: Any, before: Scaling, X: Any) -> Array:
    """Radii of scaled inputs as those of raw ones; scaled inputs are off by a few roundings of what was scaled."""
    raw = _rows(X)
    radius = np.asarray(model[-1].certified_radius(model[:-1].transform(X)), dtype=np.float64)
    sizes = np.linalg.norm(np.abs(raw) * np.abs(before.factor) + np.abs(before.shift), axis=1)
    units = 8 * len(model.steps) * UNIT
    off = 2 * units * (sizes + radius)
    found: Array = np.clip(radius - 2 * off, 0, None) / (before.stretch or np.inf) / SLIP
    return found
