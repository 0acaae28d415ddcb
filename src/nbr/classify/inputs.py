"""What classifiers take in, vectors or pictures, checked at the border; and how they tell their progress."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor

from nbr.classify import preparation as preparing
from nbr.classify.checks import check_box
from nbr.classify.recipe import TrainingSample, Watcher
from nbr.errors import NbrError
from nbr.progress import reporter
from nbr.training import here

Array = NDArray[Any]


class Pictures:
    """Vectors (n, size), pictures (n, height, width) or (n, height, width, channels), inside a box if there is one."""

    box: tuple[float, float] | None = None
    preparation: str = "none"
    shape_: tuple[int, ...] | None  # (height, width) or (height, width, channels) of pictures
    values_: tuple[float, float] | None = None  # what black and white are, where inputs are pictures
    centre_: Array | None = None  # (size,): what is taken from vectors; a shift changes no distance
    classes_: Array

    @property
    def preparation_(self) -> preparing.Preparation:
        """What is done to a picture file before it is judged; saved with the classifier."""
        check_is_fitted(self)
        return preparing.Preparation(self.preparation, self.shape_, self.values_)

    def read(self, *paths: str | PathLike[str]) -> Array:
        """Picture files as inputs in the shape of the training pictures, prepared as command line and server do it."""
        if not paths:
            raise NbrError("give at least one picture file")
        return np.stack([self.preparation_.read(path).pixels for path in paths])

    def _sample(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> TrainingSample:
        """Inputs to be learned from, in float32, the numbers of their labels, and what each counts."""
        points, truth = validate_data(self, self._flat(X, True), y, dtype=np.float64, order="C")
        check_classification_targets(truth)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, points, dtype=np.float32, ensure_non_negative=True)
            counted = weights > 0  # a row that counts for nothing is as good as not there
            points, truth, weights = points[counted], truth[counted], weights[counted] / weights[counted].mean()
        self.classes_, codes = np.unique(truth, return_inverse=True)
        if len(self.classes_) < 2:
            raise NbrError(f"the data have one class, {self.classes_[0]}; the classifier needs two labels")
        points = self._inside(points)
        # Pictures of known black and white start at black, vectors anywhere.
        self.centre_ = points.mean(axis=0) if self.values_ is None else None
        centred = self._centred(points)
        if not np.abs(centred).max() < np.finfo(np.float32).max:
            raise NbrError("Input contains infinity or a value too large for dtype('float32').")
        return TrainingSample(
            torch.from_numpy(centred.astype(np.float32)),
            torch.from_numpy(codes),
            self.shape_,
            None if weights is None else torch.from_numpy(weights),
        )

    def _points(self, X: ArrayLike) -> Tensor:
        """Inputs to be judged, in float64."""
        check_is_fitted(self)
        points = validate_data(self, self._flat(X, False), reset=False, dtype=np.float64, order="C")
        return torch.from_numpy(self._centred(self._inside(points)))

    def _centred(self, points: Array) -> Array:
        """Vectors as seen from the mean of the examples, in float64: far from 0 a network's numbers are coarse.

        A difference is off by at most a rounding of itself, for which the slack of networks and memories has room.
        """
        found: Array = points if self.centre_ is None else points - self.centre_
        return found

    def _flat(self, X: ArrayLike, reset: bool) -> ArrayLike:
        """Pictures as vectors; while training, their shape is noted, and what black and white are."""
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 4 and shape[3] == 1:
            shape = shape[:3]  # one channel is grey
        seen = tuple(map(int, shape[1:])) if len(shape) in (3, 4) else None
        if reset:
            self.shape_ = seen
            preparing.checked_preparation(self.preparation, seen)
            self.values_ = None if seen is None or not np.size(X) else preparing.values_of(np.asarray(X), self.box)
            if self.values_ == preparing.BYTES and self.box is None:
                told = "pixels from 0 to 255: lengths, epsilon and proved radii too, are in those units"
                warnings.warn(f"{told}; box=(0, 255) says that it is meant, X / 255 has them from 0 to 1", stacklevel=4)
        if seen is None:
            return X
        if self.shape_ is not None and seen != self.shape_:
            told, known = (" x ".join(map(str, each)) for each in (seen, self.shape_))
            raise NbrError(f"pictures are {told}; the classifier knows {known}")
        return np.asarray(X).reshape(shape[0], -1)

    def _inside(self, points: Array) -> Array:
        check_box(self.box)
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
