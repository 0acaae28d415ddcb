"""What every classifier made of rules can be asked: labels, intervals, conflict, sets of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from torch import Tensor

from nbr.classify.calculus import METHODS, Verdict, verdict
from nbr.errors import NbrError, suggest

Array = NDArray[Any]


class Judgements(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What every classifier made of rules can be asked; subclasses say how grades come about."""

    classes_: Array
    combine: str

    @abstractmethod
    def _evidence(self, X: ArrayLike) -> tuple[Tensor, Tensor, Sequence[Tensor]]:
        """Grades (n, labels, rules), beliefs (rules,) and the frame of each rule."""

    def decision_function(self, X: ArrayLike) -> Array:
        """Equation (14), log Pl of each label up to a constant of the input; with two labels, their difference."""
        scores = self._scores(X)
        return (scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores).numpy()

    def predict(self, X: ArrayLike) -> Array:
        """The most plausible label."""
        best = self._scores(X).argmax(dim=1).numpy()
        found: Array = self.classes_[best]
        return found

    def predict_proba(self, X: ArrayLike) -> Array:
        """The softmax of log Pl: the probability of the label under a uniform prior (section 4.4)."""
        return self._scores(X).softmax(dim=1).numpy()

    def belief(self, X: ArrayLike) -> Array:
        """The interval [belief, plausibility] of each label: (n, labels, 2)."""
        found = self._verdict(X)
        return torch.stack([found.belief, found.plausibility], dim=2).numpy()

    def conflict(self, X: ArrayLike) -> Array:
        """How far the rules contradict each other about each input: (n,)."""
        return self._verdict(X).conflict.numpy()

    def weights_of_evidence(self, X: ArrayLike) -> Array:
        """log Pl - log(1 - Bel) of each label: evidence for it and against it together, the paper's alternative."""
        found = self._verdict(X)
        tiny = torch.finfo(torch.float64).tiny
        return (found.plausibility.clamp(min=tiny).log() - (1 - found.belief).clamp(min=tiny).log()).numpy()

    def predict_set(self, X: ArrayLike) -> list[set[Any]]:
        """The labels that no other beats for sure: those whose plausibility reaches the largest belief."""
        found = self._verdict(X)
        within = (found.plausibility >= found.belief.amax(dim=1, keepdim=True)).numpy()
        return [set(self.classes_[row].tolist()) for row in within]

    def _scores(self, X: ArrayLike) -> Tensor:
        scores: Tensor = self._method().labels(*self._evidence(X))
        return scores.detach()

    def _verdict(self, X: ArrayLike) -> Verdict:
        return verdict(self._method().sets(*self._evidence(X)).detach())

    def _method(self) -> Any:
        if self.combine not in METHODS:
            raise NbrError(f"unknown way to combine {self.combine!r}" + suggest(str(self.combine), METHODS))
        return METHODS[self.combine]
