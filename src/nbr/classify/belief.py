"""Classifiers as rules of a belief function over labels (section 4.1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor

from nbr.classify import frames
from nbr.classify.certificate import radius
from nbr.classify.inputs import Pictures
from nbr.classify.judgements import Judgements
from nbr.errors import NbrError

Array = NDArray[Any]
FURTHEST = 100.0  # no larger radius is looked for


class BeliefClassifier(Pictures, Judgements):
    """Any classifiers as rules, each on its own frame of discernment; beliefs are learned.

    `rules` is a list of (estimator, frame): a frame such as [{0}, {5, 6}, {7}] lists the groups of labels that the
    estimator tells apart. Its grades for labels outside the frame are 1. By default a logistic regression for
    every pair of labels. Beliefs are learned on a part of the data that the estimators do not see, by maximum
    likelihood of the labels; the estimators are then trained on all of it.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = BeliefClassifier(random_state=0).fit(X, y)
    >>> classifier.belief(X[:1]).round(2).tolist()
    [[[0.98, 1.0], [0.0, 0.02], [0.0, 0.0]]]
    """

    def __init__(
        self,
        rules: Sequence[tuple[Any, frames.Frame]] | None = None,
        *,
        combine: str = "scaled",
        held_out: float = 0.2,
        steps: int = 300,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rules = rules
        self.combine = combine
        self.held_out = held_out
        self.steps = steps
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> BeliefClassifier:
        """Train every rule on the labels of its frame, and learn how far to believe each."""
        points, truth = validate_data(self, self._flat(X, True), y)
        points = self._shaped(points)
        check_classification_targets(truth)
        self.classes_, codes = np.unique(truth, return_inverse=True)
        if len(self.classes_) < 2:
            raise NbrError(f"the data have one class, {self.classes_[0]}; a classifier needs two labels or more")
        rules = self.rules
        if rules is None:
            rules = [(LogisticRegression(max_iter=1000), frame) for frame in frames.pairs(self.classes_.tolist())]
        self.frames_ = [frames.groups(frame, self.classes_.tolist()) for _, frame in rules]
        seed = check_random_state(self.random_state).randint(2**31)
        learn, judge = self._split(codes, seed)
        self.estimators_ = self._train(rules, points[learn], codes[learn])
        self.beliefs_ = self._believe(points[judge], codes[judge])
        if len(judge) < len(codes):
            self.estimators_ = self._train(rules, points, codes)
        return self

    def _split(self, codes: Array, seed: int) -> tuple[Array, Array]:
        """Rows to train on and rows to judge by; all rows for both where a label is too rare to be split."""
        everything = np.arange(len(codes))
        held = round(self.held_out * len(codes))
        if np.bincount(codes).min() < 5 or held < len(self.classes_):
            return everything, everything
        splitter = StratifiedShuffleSplit(1, test_size=self.held_out, random_state=seed)
        learn, judge = next(splitter.split(codes, codes))
        return learn, judge

    def _train(self, rules: Sequence[tuple[Any, frames.Frame]], X: Array, codes: Array) -> list[Any]:
        def one(estimator: Any, group: Array) -> Any:
            mine = group[codes]
            return clone(estimator).fit(X[mine >= 0], mine[mine >= 0])

        jobs = (delayed(one)(rule[0], frame.numpy()) for rule, frame in zip(rules, self.frames_, strict=True))
        return list(Parallel(n_jobs=self.n_jobs)(jobs))

    def _believe(self, X: Array, codes: Array) -> Tensor:
        """Degrees of belief that make the labels likely; they start at 1/2."""
        grades, truth = self._grades(X), torch.from_numpy(codes)
        doubt = torch.zeros(grades.shape[2], dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.Adam([doubt], lr=0.1)
        for _ in range(self.steps):
            optimiser.zero_grad()
            scores = self._method().labels(grades, torch.sigmoid(doubt), self.frames_)
            torch.nn.functional.cross_entropy(scores, truth).backward()
            optimiser.step()
        return torch.sigmoid(doubt.detach())

    def _grades(self, X: Array) -> Tensor:
        columns = [
            _spread(torch.from_numpy(_graded(estimator, X, int(frame.max()) + 1)), frame)
            for estimator, frame in zip(self.estimators_, self.frames_, strict=True)
        ]
        return torch.stack(columns, dim=2)

    def _evidence(self, X: ArrayLike) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
        return self._grades(self._judged(X)), self.beliefs_, self.frames_

    def _judged(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return self._shaped(validate_data(self, self._flat(X, False), reset=False))

    def _shaped(self, points: Array) -> Array:
        """Pictures in their own shape again, for estimators that look at them as such."""
        return points if self.shape_ is None else points.reshape(len(points), *self.shape_)

    def certified_radius(self, X: ArrayLike) -> Array:
        """A radius for each input: no perturbation of at most that L2 length changes its label.

        Every rule must have a frame of two groups and an estimator whose `decision_function` is known to change by at
        most `lipschitz_` times the L2 distance, as that of `NonexpansiveClassifier`; and combine="scaled". Then
        log Pl_a - log Pl_b is monotone in each rule's score, and all scores are moved against the label at once.
        """
        points = self._judged(X)
        if self.combine != "scaled" or not all(hasattr(each, "lipschitz_") for each in self.estimators_):
            raise NbrError("a proof needs combine='scaled' and estimators with a Lipschitz constant, lipschitz_")
        scores = torch.stack([torch.from_numpy(each.decision_function(points)) for each in self.estimators_], dim=1)
        slack = torch.stack([torch.from_numpy(each.rounding(points)) for each in self.estimators_], dim=1)
        steepness = torch.tensor([each.lipschitz_ for each in self.estimators_], dtype=torch.float64)
        groups = torch.stack(self.frames_)  # (rules, labels)
        best = self._method().labels(self._from_scores(scores), self.beliefs_, self.frames_).argmax(dim=1)
        proved = torch.full((len(scores),), torch.inf, dtype=torch.float64)
        for step in range(1, len(self.classes_)):
            rival = (best + step) % len(self.classes_)
            ours, theirs = groups[:, best].T, groups[:, rival].T
            apart = (ours != theirs).double()
            signs = torch.where((ours == 1) | (theirs == 0), apart, -apart)

            def margin(moved: Tensor, rival: Tensor = rival) -> Tensor:
                told = self._method().labels(self._from_scores(moved), self.beliefs_, self.frames_)
                rows = torch.arange(len(told))
                difference: Tensor = told[rows, best] - told[rows, rival]
                return difference

            proved = torch.minimum(proved, radius(scores, signs, steepness, slack, margin, FURTHEST))
        return proved.numpy()

    def _from_scores(self, scores: Tensor) -> Tensor:
        """Grades of labels from the scores of rules with two groups each."""
        columns = [
            _spread(torch.sigmoid(torch.stack([-scores[:, rule], scores[:, rule]], dim=1)), frame)
            for rule, frame in enumerate(self.frames_)
        ]
        return torch.stack(columns, dim=2)


def _spread(graded: Tensor, frame: Tensor) -> Tensor:
    """Grades of groups as grades of labels, 1 for those outside the frame."""
    outside = torch.ones(len(graded), 1, dtype=graded.dtype)
    return torch.cat([graded, outside], dim=1)[:, frame]  # -1 is the last column


def _graded(estimator: Any, X: Array, count: int) -> Array:
    """Grades of the groups of a frame: sigmoids of scores, or probabilities where there are no scores."""
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        return np.asarray(torch.sigmoid(torch.from_numpy(scores)))
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), dtype=np.float64)
    crisp: Array = np.eye(count)[np.asarray(estimator.predict(X), dtype=int)]
    return crisp
