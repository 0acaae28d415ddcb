"""What every classifier made of rules can be asked: labels, intervals, conflict, proofs, reasons."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from os import PathLike
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from torch import Tensor

from nbr.classify.evaluation import Evaluation
from nbr.classify.familiarity import Familiarity
from nbr.classify.intervals import MOST_LABELS, Intervals, discounted, in_label
from nbr.classify.rejection import Rejection
from nbr.classify.tempering import sharpness
from nbr.classify.verdicts import Array, Reason, Verdict
from nbr.errors import NbrError
from nbr.parallel import mapped, pieces
from nbr.storage import container

CHUNK = 1024  # inputs that a process judges at a time
UNPROVED = "a proof needs rules of two groups each, whose estimators have a Lipschitz constant, lipschitz_"


class BeliefEstimator(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A classifier made of rules; subclasses say how they are evaluated."""

    classes_: Array
    combine: str
    familiarity_: Familiarity | None = None  # by which belief is discounted
    rejection_: Rejection | None = None  # by which inputs are passed on
    conflict_tells = True  # whether conflict is larger where labels are more often wrong
    sharpness_: float = 1.0  # by which log Pl is multiplied for probabilities
    n_jobs: int | None = None  # processes in which inputs are judged

    @abstractmethod
    def _evaluate(self, X: ArrayLike) -> Evaluation:
        """What the rules say about inputs."""

    @abstractmethod
    def _points(self, X: ArrayLike) -> Tensor:
        """Inputs, checked, in float64."""

    @abstractmethod
    def _kinds(self) -> list[str]:
        """A word for each rule."""

    @property
    @abstractmethod
    def _furthest(self) -> float:
        """No larger radius is looked for."""

    @abstractmethod
    def contents(self) -> dict[str, int]:
        """The number of parts of each kind."""

    def listed_rules(self) -> list[dict[str, Any]]:
        """The rules one by one, each with its kind, its frame and its belief."""
        return []

    def verdict(self, X: ArrayLike, reasons: int = 5) -> Verdict:
        """Labels, intervals, conflict, proved radii and the rules that count most, from one evaluation of the rules.

        Args:
            X: Inputs, as in `predict`.
            reasons: The number of rules to list for each input.
        """
        found = self._evaluate(X)
        scores, radius = found.scores(), found.radius(self._furthest)
        degree = self._degree(X, found, scores)
        told = discounted(found.intervals(), degree) if len(self.classes_) <= MOST_LABELS else None
        return Verdict(
            self.classes_[scores.argmax(dim=1).numpy()],
            None if told is None else torch.stack([told.belief, told.plausibility], dim=2).numpy(),
            None if told is None else told.conflict.numpy(),
            None if degree is None else degree.numpy(),
            None if radius is None else radius.numpy(),
            self._reasons(found, scores, reasons),
            self.classes_,
        )

    def decision_function(self, X: ArrayLike) -> Array:
        """Equation (14): log Pl of each label, up to a constant for each input.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            Values of shape (n, labels); for two labels their difference, shape (n,).
        """
        scores = self._scores(X)
        return (scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores).numpy()

    def predict(self, X: ArrayLike) -> Array:
        """The most plausible label of each input.

        Args:
            X: Inputs: vectors of shape (n, size), or pictures of shape (n, height, width) or (n, height, width,
                channels).

        Returns:
            Labels, shape (n,).
        """
        best = self._scores(X).argmax(dim=1).numpy()
        found: Array = self.classes_[best]
        return found

    def predict_proba(self, X: ArrayLike) -> Array:
        """The softmax of log Pl: the probability of each label under a uniform prior (section 4.4).

        A calibrated classifier first multiplies log Pl by `sharpness_`.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            Probabilities, shape (n, labels).
        """
        return (self._scores(X) * self.sharpness_).softmax(dim=1).numpy()

    def calibrate(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn how sharp probabilities should be; nothing else changes.

        Args:
            X: Inputs that the classifier was not trained on.
            y: Their labels, shape (n,).
        """
        scores = self._evaluate(X).scores()
        truth = np.asarray(y)
        unknown = set(truth.tolist()) - set(self.classes_.tolist())
        if unknown:
            raise NbrError(f"the classifier does not know the label {sorted(map(str, unknown))[0]}")
        if truth.shape != (len(scores),):
            raise NbrError(f"{len(scores)} inputs and labels of shape {truth.shape}: give one label for each input")
        self.sharpness_ = sharpness(scores, torch.from_numpy(np.searchsorted(self.classes_, truth)))
        return self

    def belief(self, X: ArrayLike) -> Array:
        """The interval of each label; it is wide for inputs unlike the examples.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            [belief, plausibility], shape (n, labels, 2).
        """
        return self._by_rows(_told, X)

    def conflict(self, X: ArrayLike) -> Array:
        """How far the rules contradict each other about each input.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            Values from 0 to 1, shape (n,).
        """
        return self._evaluate(X).intervals().conflict.numpy()

    def familiarity(self, X: ArrayLike) -> Array:
        """How similar each input is to the training examples of its label: the degree to which the rules are believed.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            Values from 0 to 1, shape (n,).
        """
        found = self._evaluate(X)
        degree = self._degree(X, found, found.scores())
        if degree is None:
            raise NbrError("this classifier has no record of the examples that it was trained on")
        return degree.numpy()

    def weights_of_evidence(self, X: ArrayLike) -> Array:
        """log Pl - log(1 - Bel) of each label: evidence for and against it together, the paper's alternative.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            Weights, shape (n, labels).
        """
        found = self._intervals(X)
        tiny = torch.finfo(torch.float64).tiny
        return (found.plausibility.clamp(min=tiny).log() - (1 - found.belief).clamp(min=tiny).log()).numpy()

    def predict_set(self, X: ArrayLike) -> list[set[Any]]:
        """The labels whose plausibility reaches the largest belief, so that no other label certainly beats them.

        Args:
            X: Inputs, as in `predict`.
        """
        found = self._intervals(X)
        within = (found.plausibility >= found.belief.amax(dim=1, keepdim=True)).numpy()
        return [set(self.classes_[row].tolist()) for row in within]

    def certified_radius(self, X: ArrayLike) -> Array:
        """The radius of each input within which its label provably cannot change, in float64.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            L2 radii in the units of X, shape (n,).
        """
        return self._by_rows(_proved, X)

    def reject(self, X: ArrayLike, right: float = 0.95) -> Array:
        """The inputs to pass on, so that a given share of the other labels is right.

        The threshold comes from examples that were held out, damaged ones among them where they are pictures. What is
        passed on is what `trust` scores lowest.

        Args:
            X: Inputs, as in `predict`.
            right: The share of the remaining labels that should be right.

        Returns:
            Booleans, shape (n,).
        """
        found: Array = self.trust(X) < self._rejection().threshold(right)
        return found

    def trust(self, X: ArrayLike) -> Array:
        """The score that `reject` uses: the belief in the label or its proved radius, whichever detected errors better.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            Scores, larger where the label is more often right, shape (n,).
        """
        return self._by_rows(_sure if self._rejection().score == "belief" else _proved, X)

    def _rejection(self) -> Rejection:
        if self.rejection_ is None:
            raise NbrError("this classifier cannot reject inputs: no examples were held out when it was trained")
        return self.rejection_

    def rule_radius(self, X: ArrayLike) -> Array:
        """For each input and rule, the radius within which the rule provably supports the same labels.

        Args:
            X: Inputs, as in `predict`.

        Returns:
            L2 radii, shape (n, rules).
        """
        radius = self._evaluate(X).rule_radius()
        if radius is None:
            raise NbrError(UNPROVED)
        return radius.numpy()

    def reasons(self, X: ArrayLike, most: int = 5) -> list[list[Reason]]:
        """The rules that count most between the two most plausible labels of each input.

        Args:
            X: Inputs, as in `predict`.
            most: The number of rules for each input.
        """
        found = self._evaluate(X)
        return self._reasons(found, found.scores(), most)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trained classifier to a file, which `nbr.load` reads.

        Args:
            path: A file that ends in .nbr.
        """
        container.save(self, path)

    def _scores(self, X: ArrayLike) -> Tensor:
        return torch.from_numpy(self._by_rows(_scored, X))

    def _by_rows(self, function: Callable[[Any, ArrayLike], Array], X: ArrayLike) -> Array:
        """What a function says of inputs: of all at once, or with `n_jobs` of some at a time in several processes."""
        if self.n_jobs is None:
            return function(self, X)
        rows, alone = len(self._points(X)), copy.copy(self)  # a mistake in the inputs is told by their own numbers
        alone.n_jobs = None
        chunks = [_safe_indexing(X, some) for some in pieces(rows, CHUNK)]
        found: Array = np.concatenate(list(mapped(partial(function, alone), chunks, self.n_jobs)))
        return found

    def _intervals(self, X: ArrayLike) -> Intervals:
        found = self._evaluate(X)
        return discounted(found.intervals(), self._degree(X, found, found.scores()))

    def _degree(self, X: ArrayLike, found: Evaluation, scores: Tensor) -> Tensor | None:
        """How far to believe what the rules say of inputs whose labels have these scores."""
        return self._familiar(self._points(X), found, scores) if getattr(self, "discount", True) else None

    def _familiar(self, points: Tensor, found: Evaluation, scores: Tensor) -> Tensor | None:
        """How far inputs are like the examples of the label that is most plausible by these scores."""
        return None if self.familiarity_ is None else self.familiarity_.degree(points, scores.argmax(dim=1))

    def _reasons(self, found: Evaluation, scores: Tensor, most: int) -> list[list[Reason]]:
        label = scores.argmax(dim=1)
        rival = scores.scatter(1, label[:, None], -torch.inf).argmax(dim=1)
        weights, radius, kinds = found.contributions(label, rival), found.rule_radius(), self._kinds()
        top = weights.abs().topk(min(most, weights.shape[1]), dim=1).indices
        names = self.classes_.tolist()

        def one(row: int, rule: int) -> Reason:
            weight = float(weights[row, rule])
            own = None if radius is None else float(radius[row, rule])
            return Reason(rule, kinds[rule], names[int((label if weight > 0 else rival)[row])], abs(weight), own)

        return [[one(row, int(rule)) for rule in chosen] for row, chosen in enumerate(top)]


def _scored(classifier: BeliefEstimator, X: ArrayLike) -> Array:
    return classifier._evaluate(X).scores().numpy()


def _told(classifier: BeliefEstimator, X: ArrayLike) -> Array:
    found = classifier._intervals(X)
    return torch.stack([found.belief, found.plausibility], dim=2).numpy()


def _sure(classifier: BeliefEstimator, X: ArrayLike) -> Array:
    """The belief in the label that is given."""
    found = classifier._evaluate(X)
    scores = found.scores()
    return in_label(discounted(found.intervals(), classifier._degree(X, found, scores)), scores).numpy()


def _proved(classifier: BeliefEstimator, X: ArrayLike) -> Array:
    radius = classifier._evaluate(X).radius(classifier._furthest)
    if radius is None:
        raise NbrError(UNPROVED)
    return radius.numpy()
