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

from nbr import registry
from nbr.calculus import Groups
from nbr.classify import frames, linear
from nbr.classify.estimator import BeliefEstimator
from nbr.classify.evaluation import Evaluation, GradedRules, Scored, check_combine
from nbr.classify.inputs import Pictures
from nbr.classify.linear_radius import bounded
from nbr.classify.rules import ScoredRules
from nbr.classify.storage import header, number_like, restored
from nbr.errors import NbrError

Array = NDArray[Any]
FURTHEST = 100.0  # no larger radius is looked for
SAVED = (linear.NAME, "nonexpansive", "robust", "belief")  # kinds of rules that a file may hold


@registry.kind("model", "belief")
class BeliefClassifier(Pictures, BeliefEstimator):
    """Any classifiers as rules, each on its own frame of discernment, with learned beliefs.

    Beliefs are learned by maximum likelihood on a part of the data that the estimators do not see; the estimators are
    then trained on all of it.

    Args:
        rules: Estimators, or pairs of an estimator and a frame. A frame such as [{0}, {5, 6}, {7}] lists the groups of
            labels that the estimator distinguishes; its grade for other labels is 1. None is a logistic regression for
            every pair of labels.
        combine: How rules are combined: "scaled" or "cautious".
        held_out: The share of the examples that beliefs are learned from.
        steps: The number of training steps for beliefs.
        preparation: How picture files are prepared: "none", "scale" or "digits".
        random_state: The seed of all randomness.
        n_jobs: The number of processes.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = BeliefClassifier(random_state=0).fit(X, y)
    >>> classifier.belief(X[:1]).round(2).tolist()
    [[[0.98, 1.0], [0.0, 0.02], [0.0, 0.0]]]
    """

    def __init__(
        self,
        rules: Sequence[Any] | None = None,
        *,
        combine: str = "scaled",
        held_out: float = 0.2,
        steps: int = 300,
        preparation: str = "none",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rules = rules
        self.combine = combine
        self.held_out = held_out
        self.steps = steps
        self.preparation = preparation
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> BeliefClassifier:
        """Train every rule on the labels of its frame, and learn its belief.

        Args:
            X: Inputs: vectors of shape (n, size), or pictures of shape (n, height, width) or (n, height, width,
                channels).
            y: Labels, shape (n,).
        """
        check_combine(self.combine)
        points, truth = validate_data(self, self._flat(X, True), y)
        points = self._shaped(points)
        check_classification_targets(truth)
        self.classes_, codes = np.unique(truth, return_inverse=True)
        if len(self.classes_) < 2:
            raise NbrError(f"the data have one class, {self.classes_[0]}; a classifier needs two labels or more")
        rules = self._listed()
        self.frames_ = [frames.groups(frame, self.classes_.tolist()) for _, frame in rules]
        seed = check_random_state(self.random_state).randint(2**31)
        learn, judge = self._split(codes, seed)
        models = [estimator for estimator, _ in rules]
        self.estimators_ = self._train(models, points[learn], codes[learn])
        self.beliefs_ = self._believe(points[judge], codes[judge])
        if len(judge) < len(codes):
            self.estimators_ = self._train(models, points, codes)
        return self

    def _listed(self) -> list[tuple[Any, frames.Frame]]:
        """Every rule with its frame."""
        names = self.classes_.tolist()
        if self.rules is None:
            return [(LogisticRegression(max_iter=1000), frame) for frame in frames.pairs(names)]
        if isinstance(self.rules, str) or not isinstance(self.rules, Sequence) or not len(self.rules):
            raise NbrError("rules must be a list of estimators, or of pairs (estimator, frame), with at least one")
        found: list[tuple[Any, frames.Frame]] = []
        for number, rule in enumerate(self.rules, 1):
            pair = isinstance(rule, (tuple, list)) and len(rule) == 2
            estimator, frame = rule if pair else (rule, [{name} for name in names])
            if isinstance(estimator, type) or not hasattr(estimator, "fit") or isinstance(frame, str):
                raise NbrError(f"rule {number} is neither an estimator nor a pair (estimator, frame): {rule!r}")
            found.append((estimator, frame))
        return found

    def _split(self, codes: Array, seed: int) -> tuple[Array, Array]:
        """Rows to train on and rows to judge by; all rows for both where a label is too rare to be split."""
        everything = np.arange(len(codes))
        held = round(self.held_out * len(codes))
        if np.bincount(codes).min() < 5 or held < len(self.classes_):
            return everything, everything
        splitter = StratifiedShuffleSplit(1, test_size=self.held_out, random_state=seed)
        learn, judge = next(splitter.split(codes, codes))
        return learn, judge

    def _train(self, estimators: Sequence[Any], X: Array, codes: Array) -> list[Any]:
        def one(estimator: Any, group: Array) -> Any:
            mine = group[codes]
            return clone(estimator).fit(X[mine >= 0], mine[mine >= 0])

        jobs = (delayed(one)(each, frame.numpy()) for each, frame in zip(estimators, self.frames_, strict=True))
        return list(Parallel(n_jobs=self.n_jobs)(jobs))

    def _believe(self, X: Array, codes: Array) -> Tensor:
        """Degrees of belief that make the labels likely; they start at 1/2."""
        grades, truth, groups = self._grades(X), torch.from_numpy(codes), Groups(torch.stack(self.frames_))
        doubt = torch.zeros(grades.shape[2], dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.Adam([doubt], lr=0.1)
        for _ in range(self.steps):
            optimiser.zero_grad()
            scores = GradedRules(self.combine, groups, grades, torch.sigmoid(doubt)).scores()
            torch.nn.functional.cross_entropy(scores, truth).backward()
            optimiser.step()
        return torch.sigmoid(doubt.detach())

    def _grades(self, X: Array) -> Tensor:
        columns = [
            _spread(torch.from_numpy(_graded(estimator, X, int(frame.max()) + 1)), frame)
            for estimator, frame in zip(self.estimators_, self.frames_, strict=True)
        ]
        return torch.stack(columns, dim=2)

    def _evaluate(self, X: ArrayLike) -> Evaluation:
        """By scores where every rule has two groups and an estimator with a Lipschitz constant; else by grades.

        Such an estimator has a `decision_function` that changes by at most `lipschitz_` times the L2 distance, and
        `rounding`, by how much it may be off at inputs within a distance of some, as `NonexpansiveClassifier` does. Of
        linear classifiers, and scalers before them in a Pipeline, both follow from their slopes.
        """
        check_is_fitted(self)
        combine, groups = check_combine(self.combine), Groups(torch.stack(self.frames_))
        points = self._shaped(validate_data(self, self._flat(X, False), reset=False))
        bounds = [bounded(each) for each in self.estimators_] if groups.binary else []
        if not bounds or any(each is None for each in bounds):
            return GradedRules(combine, groups, self._grades(points), self.beliefs_)
        one = torch.ones(len(groups), dtype=torch.float64)
        scores = torch.stack([torch.from_numpy(each.decision_function(points)) for each in self.estimators_], dim=1)

        def slack(within: Tensor) -> Tensor:
            far = within.expand(-1, len(groups)).T.numpy()
            each = [one.rounding(points, reach) for one, reach in zip(bounds, far, strict=True)]
            return _sound(torch.stack([torch.from_numpy(part) for part in each], dim=1), "rounding")

        def steepness() -> Tensor:
            return _sound(torch.tensor([each.lipschitz_ for each in bounds], dtype=torch.float64), "lipschitz_")

        return Scored(combine, groups, ScoredRules(groups, one, one, self.beliefs_), scores, steepness, slack)

    def _shaped(self, points: Array) -> Array:
        """Pictures in their own shape again, for estimators that look at them as such."""
        return points if self.shape_ is None else points.reshape(len(points), *self.shape_)

    def _kinds(self) -> list[str]:
        return [type(each).__name__ for each in self.estimators_]

    @property
    def _furthest(self) -> float:
        return FURTHEST

    def contents(self) -> dict[str, int]:
        """How many rules there are."""
        check_is_fitted(self)
        return {"rules": len(self.estimators_)}

    def listed_rules(self) -> list[dict[str, Any]]:
        """The kind of estimator, the frame and the belief of each rule."""
        names = self.classes_.tolist()
        frames_ = [[sorted(group, key=names.index) for group in frames.named(table, names)] for table in self.frames_]
        parts = zip(self._kinds(), frames_, self.beliefs_.tolist(), strict=True)
        return [{"kind": kind, "frame": frame, "belief": belief} for kind, frame, belief in parts]

    def spec(self) -> tuple[registry.Spec, registry.Tensors]:
        """The trained classifier as plain data and tensors, for a file; its estimators must have files of their own."""
        model, tensors = header(self), {"beliefs": self.beliefs_, "groups": torch.stack(self.frames_)}
        model["rules"] = []
        for number, estimator in enumerate(self.estimators_, 1):
            if type(estimator) is LogisticRegression:
                told, parts = linear.spec(estimator)
            elif hasattr(estimator, "spec"):
                told, parts = estimator.spec()
            else:
                saved = "LogisticRegression, NonexpansiveClassifier and RobustClassifier can"
                raise NbrError(f"rule {number}, a {type(estimator).__name__}, cannot be saved; {saved}")
            model["rules"].append(told)
            tensors |= registry.joined(parts, f"rules.{number}")
        return model, tensors

    @classmethod
    def from_spec(cls, model: registry.Spec, parts: registry.Parts) -> BeliefClassifier:
        """The inverse of `spec`."""
        found = restored(cls, model)
        found.beliefs_, table = number_like(parts.tensors["beliefs"]).double(), parts.tensors["groups"].long()
        found.estimators_ = [
            _restored(told, parts.below(f"rules.{number}")) for number, told in enumerate(model["rules"], 1)
        ]
        _check(found, table)
        found.frames_ = list(table)
        names = found.classes_.tolist()
        found.rules = [
            (clone(each), frames.named(group, names))
            for each, group in zip(found.estimators_, found.frames_, strict=True)
        ]
        return found


def _restored(told: object, parts: registry.Parts) -> Any:
    name = told.get("classifier") if isinstance(told, dict) else None
    if not isinstance(told, dict) or name not in SAVED:
        raise NbrError(f"a rule of a classifier must be one of {', '.join(SAVED)}, not {name!r:.60}")
    if name == linear.NAME:
        return linear.from_spec(told, parts.tensors)
    return registry.find("model", name).from_spec(told, parts)


def _check(found: BeliefClassifier, table: Tensor) -> None:
    """Parts that a hand-made file may have got wrong are found here rather than when somebody asks."""
    rules, labels = len(found.estimators_), len(found.classes_)
    if not rules or table.shape != (rules, labels) or found.beliefs_.shape != (rules,):
        raise NbrError(f"the frames and beliefs of a classifier are not those of {rules} rules about {labels} labels")
    if not bool(((found.beliefs_ >= 0) & (found.beliefs_ <= 1)).all()):
        raise NbrError("the belief of a classifier's rule must be a number from 0 to 1")
    for number, (each, group) in enumerate(zip(found.estimators_, table.tolist(), strict=True), 1):
        told = each.classes_.tolist()
        if each.n_features_in_ != found.n_features_in_:
            raise NbrError(f"rule {number} takes {each.n_features_in_} numbers, and inputs have {found.n_features_in_}")
        if getattr(each, "shape_", None) != found.shape_:
            raise NbrError(f"rule {number} takes inputs of another shape than {found.shape_ or 'vectors'}")
        if told != list(range(len(told))) or set(group) - {-1} != set(told):
            raise NbrError(f"rule {number} does not distinguish the groups of its frame")


def _sound(bounds: Tensor, name: str) -> Tensor:
    """Bounds that estimators state of themselves."""
    if not bool((bounds >= 0).all()):
        raise NbrError(f"a bound is at least 0, and an estimator states {float(bounds.min()):g} as its {name}")
    return bounds


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
