"""A column predicted from the others, as scikit-learn has it: a classifier or a regressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from nbr import tables
from nbr.density import PredictedColumn, predict, predicted_column
from nbr.errors import NbrError
from nbr.learning.about import about
from nbr.learning.fitting import fit
from nbr.learning.prior_by_name import PriorLike
from nbr.tables import Table
from nbr.world import Choice, Real, Variable

TARGET = "target"
TASKS = ("auto", "classification", "regression")


def _of_labels(predictor: Predictor) -> bool:
    """Whether there are probabilities: numbers have none, and `predict_interval` says where nine in ten lie."""
    fitted = hasattr(predictor, "name_")
    return hasattr(predictor, "classes_") if fitted else predictor.task != "regression"


class Predictor(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that learns a table with `nbr.fit` and predicts one more column.

    For labels it is a classifier with `classes_` and `predict_proba`, for numbers a regressor with `predict_interval`.
    By default labels have rules of their own beside those of the whole table, learned by how likely they make the
    labels of the rows, where held-out rows gain by that: `about_`, or None. `reasoner_` is the model of the table.
    Columns may be of any kind and have holes, also when predicting.

    Args:
        rules: The rules of `nbr.fit`.
        prior: The prior of `nbr.fit`.
        random_state: The seed of all randomness.
        task: "classification", "regression", or "auto" to decide by the values to predict. Name it where scikit-learn
            has to know before `fit`, as for stratified folds.

    >>> X = pd.DataFrame({"rain": [1, 0] * 400, "roof": [0, 0, 1, 1] * 200})
    >>> y = ["wet", "dry", "dry", "dry"] * 200
    >>> Predictor(rules="clauses").fit(X, y).predict(pd.DataFrame({"rain": [1, 1], "roof": [0, 1]})).tolist()
    ['wet', 'dry']
    """

    def __init__(
        self, rules: int | str = "auto", prior: PriorLike = "auto", random_state: int = 0, task: str = "auto"
    ) -> None:
        self.rules = rules
        self.prior = prior
        self.random_state = random_state
        self.task = task

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.target_tags.required = True
        if self.task == "classification" or hasattr(self, "classes_"):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif self.task == "regression" or hasattr(self, "name_"):
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags

    def fit(self, X: ArrayLike | pd.DataFrame, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows and the values to predict.

        Args:
            X: A DataFrame, or numbers of shape (rows, columns); holes are NaN or None.
            y: Labels or numbers, shape (rows,); holes are allowed.
            sample_weight: The weight of each row, shape (rows,); a weight of 2 is the same as the row twice.
        """
        if self.task not in TASKS:
            raise NbrError(f"task must be one of {', '.join(TASKS)}, not {self.task!r}")
        frame = self._frame(X, reset=True)
        if y is None:
            raise NbrError("this estimator requires y to be passed, but the target y is None")
        target = pd.Series(column_or_1d(y, warn=True))
        if len(frame) != len(target):
            raise NbrError(f"there are {len(frame)} rows and {len(target)} values to predict")
        if target.dtype.kind == "f" and bool(np.isinf(target).any()):
            raise NbrError("the values to predict contain infinity")
        self.name_ = next(
            name for name in (TARGET, *(f"{TARGET}{i}" for i in range(len(frame) + 1))) if name not in frame
        )
        kind = self._kind(target)
        words = target.map(str, na_action="ignore").astype(object) if kind is not None and not kind.numeric else target
        data = tables.read(frame.assign(**{self.name_: words}), columns={} if kind is None else {self.name_: kind})
        if self.name_ not in data.world.variables:
            raise NbrError(f"the values to predict cannot be learned: {'; '.join(data.notes[-1:])}")
        if sample_weight is not None:
            data = tables.repeated(data, sample_weight, self.random_state)
        data = data.part(torch.from_numpy(np.lexsort(data.codes.numpy().T)))  # so that the order of rows says nothing
        self.reasoner_ = fit(data, self.rules, self.prior, seed=self.random_state)
        own = self.rules == self.prior == "auto"  # no others were asked for
        self.about_ = about(self.reasoner_, data, self.name_, self.random_state) if own else None
        return self

    def predict(self, X: ArrayLike | pd.DataFrame) -> NDArray[Any]:
        """The most likely label, or the median of the number, for each row.

        Args:
            X: As in `fit`.

        Returns:
            Labels or numbers, shape (rows,).
        """
        found = self._cells(self._table(X))
        if found.chances is not None:
            return np.asarray(self.classes_[found.chances.argmax(dim=1).numpy()])
        return np.asarray(found.value.numpy())

    @available_if(_of_labels)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike | pd.DataFrame) -> NDArray[np.float64]:
        """The probability of each of `classes_`.

        Args:
            X: As in `fit`.

        Returns:
            Probabilities, shape (rows, classes).
        """
        found = self._cells(self._table(X))
        assert found.chances is not None
        return np.asarray(found.chances.numpy())

    def predict_interval(self, X: ArrayLike | pd.DataFrame) -> NDArray[Any]:
        """For numbers a 90% interval; for labels the range of the probability of the most likely one.

        Args:
            X: As in `fit`.

        Returns:
            The lower and the upper ends, shape (rows, 2).
        """
        table = self._table(X)
        found = predict(self.reasoner_.model, table, self.name_, self.random_state, self._cells(table))
        return np.asarray(found[["low", "high"]])

    def score(self, X: ArrayLike | pd.DataFrame, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of labels that are right, or R^2 for numbers.

        Args:
            X: As in `fit`.
            y: The true labels or numbers, shape (rows,).
            sample_weight: The weight of each row, shape (rows,).
        """
        measure = accuracy_score if hasattr(self, "classes_") else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _kind(self, target: pd.Series[Any]) -> Variable | None:
        """What is to be predicted; None to let the table say."""
        known = target.dropna()
        if self.task == "regression":
            numbers = known.astype(float)
            return Real(float(numbers.min()), float(numbers.max() + (numbers.nunique() < 2)))
        if self.task == "auto" and self._numbers(target):
            self.__dict__.pop("classes_", None)
            return None
        if known.dtype.kind == "f" and bool((known != known.round()).any()):
            raise NbrError("Unknown label type: continuous. Classes are labels or whole numbers")
        self.classes_ = np.unique(known.to_numpy())
        return Choice(*map(str, self.classes_))

    def _numbers(self, target: pd.Series[Any]) -> bool:
        found = tables.read(pd.DataFrame({TARGET: target}))
        return TARGET in found.world.variables and found.world.variables[TARGET].numeric

    def _cells(self, table: Table) -> PredictedColumn:
        model = self.reasoner_ if self.about_ is None else self.about_
        return predicted_column(model.model, table.codes, self.name_, self.random_state)

    def _table(self, X: ArrayLike | pd.DataFrame) -> Table:
        check_is_fitted(self, "reasoner_")
        return tables.read(self._frame(X, reset=False), self.reasoner_.world)

    def _frame(self, X: ArrayLike | pd.DataFrame, reset: bool) -> pd.DataFrame:
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            named = X.reset_index(drop=True)
            return named if all(isinstance(name, str) for name in named) else named.set_axis(_names(X.shape[1]), axis=1)
        least = 2 if reset else 1
        values = validate_data(
            self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=least
        )
        return pd.DataFrame(values, columns=_names(values.shape[1]))


def _names(count: int) -> list[str]:
    return [f"x{number}" for number in range(count)]
