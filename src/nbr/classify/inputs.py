"""What classifiers take in, vectors or pictures, checked at the border; and how they tell their progress."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor

from nbr.classify import preparation as preparing
from nbr.classify.recipe import Sample, Watcher
from nbr.errors import NbrError
from nbr.training import here, reporter

Array = NDArray[Any]


class Pictures:
    """Vectors (n, size) or pictures (n, height, width), inside a box if there is one."""

    box: tuple[float, float] | None = None
    preparation: str = "none"
    shape_: tuple[int, int] | None
    values_: tuple[float, float] | None = None  # what black and white are, where inputs are pictures
    classes_: Array

    @property
    def preparation_(self) -> preparing.Preparation:
        """What is done to a picture file before it is judged; saved with the classifier."""
        check_is_fitted(self)
        return preparing.Preparation(self.preparation, self.shape_, self.values_)

    def read(self, *paths: str | PathLike[str]) -> Array:
        """Picture files as inputs (n, height, width), prepared as the command line and the server do it."""
        if not paths:
            raise NbrError("give at least one picture file")
        return np.stack([self.preparation_.read(path).pixels for path in paths])

    def _sample(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Sample:
        """Inputs to be learned from, in float32, the numbers of their labels, and what each counts."""
        points, truth = validate_data(self, self._flat(X, True), y, dtype=np.float32, order="C")
        check_classification_targets(truth)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, points, dtype=np.float32, ensure_non_negative=True)
            counted = weights > 0  # a row that counts for nothing is as good as not there
            points, truth, weights = points[counted], truth[counted], weights[counted] / weights[counted].mean()
        self.classes_, codes = np.unique(truth, return_inverse=True)
        if len(self.classes_) < 2:
            raise NbrError(f"the data have one class, {self.classes_[0]}; the classifier needs two labels")
        return Sample(
            torch.from_numpy(self._inside(points)),
            torch.from_numpy(codes),
            self.shape_,
            None if weights is None else torch.from_numpy(weights),
        )

    def _points(self, X: ArrayLike) -> Tensor:
        """Inputs to be judged, in float64."""
        check_is_fitted(self)
        points = validate_data(self, self._flat(X, False), reset=False, dtype=np.float64, order="C")
        return torch.from_numpy(self._inside(points))

    def _flat(self, X: ArrayLike, reset: bool) -> ArrayLike:
        """Pictures as vectors; while training, their shape is noted."""
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if reset:
            self.shape_ = (int(shape[1]), int(shape[2])) if len(shape) == 3 else None
            preparing.checked(self.preparation, self.shape_)
            self.values_ = preparing.values_of(np.asarray(X), self.box) if len(shape) == 3 and np.size(X) else None
        if len(shape) != 3:
            return X
        if self.shape_ is not None and shape[1:] != self.shape_:
            raise NbrError(
                f"pictures are {shape[1]} x {shape[2]}; the classifier knows {self.shape_[0]} x {self.shape_[1]}"
            )
        return np.asarray(X).reshape(shape[0], -1)

    def _inside(self, points: Array) -> Array:
        if self.box is not None:
            low, high = self.box
            if points.min() < low or points.max() > high:
                row, column = np.argwhere((points < low) | (points > high))[0]
                where = f"input {row} has {points[row, column]:g} at position {column}"
                raise NbrError(f"{where}; values lie between {low:g} and {high:g}")
        return points


def progress(verbose: bool) -> Watcher:
    """Tells on stderr how far a training is, or nobody."""
    return reporter(verbose and here().first)
