"""A column predicted from the others, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from nbr.errors import NbrError
from nbr.learning.fitting import fit
from nbr.learning.prior_by_name import PriorLike
from nbr.tables import read

TARGET = "target"


class Predictor(BaseEstimator):  # type: ignore[misc]
    """Learns a table with `nbr.fit`, and says of each row what its last column is.

    Columns may be of any kind and have holes, also where something is predicted. A column of labels has `classes_` and
    `predict_proba`; a column of numbers has `predict_interval`, in which nine in ten lie.

    >>> X = pd.DataFrame({"rain": [1, 0] * 400, "roof": [0, 0, 1, 1] * 200})
    >>> y = ["wet", "dry", "dry", "dry"] * 200
    >>> Predictor(rules="clauses").fit(X, y).predict(pd.DataFrame({"rain": [1, 1], "roof": [0, 1]})).tolist()
    ['wet', 'dry']
    """

    def __init__(self, rules: int | str = "auto", prior: PriorLike = "auto", random_state: int = 0) -> None:
        self.rules = rules
        self.prior = prior
        self.random_state = random_state

    def fit(self, X: ArrayLike | pd.DataFrame, y: ArrayLike) -> Self:
        frame, target = self._frame(X), pd.Series(np.asarray(y))
        if len(frame) != len(target):
            raise NbrError(f"there are {len(frame)} rows and {len(target)} values to predict")
        self.name_ = next(
            name for name in (TARGET, *(f"{TARGET}{i}" for i in range(len(frame) + 1))) if name not in frame
        )
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = frame.shape[1]
        data = read(frame.reset_index(drop=True).assign(**{self.name_: target}))
        if self.name_ not in data.world.variables:
            raise NbrError(f"the values to predict cannot be learned: {'; '.join(data.notes[-1:])}")
        self.reasoner_ = fit(data, self.rules, self.prior, seed=self.random_state)
        variable = data.world.variables[self.name_]
        if not variable.numeric:
            known = {str(value).removesuffix(".0"): value for value in target.dropna().unique()}
            labels = list(variable.labels)
            self.classes_ = np.array([known.get(label, label) for label in labels])
        return self

    def predict(self, X: ArrayLike | pd.DataFrame) -> NDArray[Any]:
        """The likeliest label, or the middle number, of each row."""
        found = self._predicted(X)
        if hasattr(self, "classes_"):
            return np.asarray(self.classes_[self._shares(found).argmax(axis=1)])
        return np.asarray(found[self.name_])

    def predict_proba(self, X: ArrayLike | pd.DataFrame) -> NDArray[np.float64]:
        """The probability of each of `classes_`."""
        found = self._predicted(X)
        if not hasattr(self, "classes_"):
            raise NbrError("numbers have no probabilities; predict_interval says where nine in ten lie")
        return self._shares(found)

    def predict_interval(self, X: ArrayLike | pd.DataFrame) -> NDArray[Any]:
        """Of numbers, where nine in ten lie; of labels, what stays open of the probability of the likeliest: (n, 2)."""
        return np.asarray(self._predicted(X)[["low", "high"]])

    def _predicted(self, X: ArrayLike | pd.DataFrame) -> pd.DataFrame:
        check_is_fitted(self, "reasoner_")
        return self.reasoner_.predict(self._frame(X), self.name_, seed=self.random_state)

    def _shares(self, found: pd.DataFrame) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = found.iloc[:, -len(self.classes_) :].to_numpy(dtype=np.float64)
        return shares

    def _frame(self, X: ArrayLike | pd.DataFrame) -> pd.DataFrame:
        if isinstance(X, pd.DataFrame):
            return X.reset_index(drop=True)
        values = np.asarray(X)
        return pd.DataFrame(values, columns=[f"x{i}" for i in range(values.shape[1])])
