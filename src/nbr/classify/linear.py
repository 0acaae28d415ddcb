"""Logistic regressions of scikit-learn as plain data and tensors, so that a classifier made of them can be saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError

NAME = "logistic"
PLAIN = (bool, int, float, str, type(None))


def spec(model: LogisticRegression) -> tuple[registry.Spec, registry.Tensors]:
    """Settings and coefficients of a trained one."""
    settings = {name: value for name, value in model.get_params().items() if isinstance(value, PLAIN)}
    told = {"classifier": NAME, "settings": settings, "classes": model.classes_.tolist()}
    return told, {"coefficients": torch.from_numpy(model.coef_), "start": torch.from_numpy(model.intercept_)}


def from_spec(told: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> LogisticRegression:
    """The inverse of `spec`; settings that this version of scikit-learn does not have are left out."""
    known = LogisticRegression().get_params()
    model = LogisticRegression(**{name: value for name, value in told["settings"].items() if name in known})
    coefficients, start = tensors["coefficients"].double(), tensors["start"].double()
    labels = len(told["classes"])
    rows = 1 if labels == 2 else labels
    sound = bool(coefficients.isfinite().all()) and bool(start.isfinite().all())
    if labels < 2 or coefficients.dim() != 2 or len(coefficients) != rows or start.shape != (rows,) or not sound:
        raise NbrError(f"a logistic regression of {labels} labels has not finite coefficients for each")
    model.classes_, model.coef_, model.intercept_ = np.array(told["classes"]), coefficients.numpy(), start.numpy()
    model.n_features_in_ = coefficients.shape[1]
    return model
