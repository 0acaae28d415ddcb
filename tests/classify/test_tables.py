"""scikit-learn's own tables through pipelines and searches, with radii that an attack confirms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nbr
from nbr import BeliefClassifier, NbrError, RobustClassifier
from nbr.classify import linear

SMALL = {
    "networks": 2,
    "linear": False,
    "width": 32,
    "depth": 2,
    "head": 8,
    "epochs": 12,
    "batch_size": 32,
    "random_state": 0,
}


@pytest.mark.parametrize(("load", "right"), [(load_wine, 0.93), (load_breast_cancer, 0.93), (load_digits, 0.9)])
def test_tables_of_any_unit_in_a_pipeline(load: Callable, right: float) -> None:
    X, y = load(return_X_y=True)
    X, Z, y, z = train_test_split(X[:700], y[:700], test_size=150 / min(len(X), 700), random_state=0, stratify=y[:700])
    model = make_pipeline(StandardScaler(), RobustClassifier("auto", **SMALL)).fit(X, y)
    assert model.score(Z, z) >= right
    scaler, classifier = model[0], model[-1]
    points = scaler.transform(Z)
    radius = classifier.certified_radius(points)
    assert np.median(radius) > 0.2 * classifier.recipe_["epsilon"]
    reached = attacked(classifier, points, radius * (1 - 1e-9))
    assert not reached.any()
    assert attacked(classifier, points, radius * 2 + 0.5).mean() > 0.3  # the same attack, further, gets there


def attacked(classifier: RobustClassifier, points: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Whether 20 steps down the lead of the label, none of them further away than the radius, change the label."""
    start, module, limit = torch.from_numpy(points), classifier.raw_module(), torch.from_numpy(radius)[:, None]
    label = torch.from_numpy(np.searchsorted(classifier.classes_, classifier.predict(points)))[:, None]
    moved, changed = start.clone(), np.zeros(len(points), dtype=bool)
    for _ in range(20):
        scores = module(moved.requires_grad_())
        others = scores.scatter(1, label, -torch.inf).amax(dim=1)
        (slope,) = torch.autograd.grad((scores.gather(1, label)[:, 0] - others).sum(), moved)
        step = moved.detach() - slope / slope.norm(dim=1, keepdim=True).clamp(min=1e-12) * limit / 4 - start
        moved = start + step * (limit / step.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
        changed |= classifier.predict(moved.numpy()) != classifier.classes_[label[:, 0]]
    return changed


@pytest.mark.parametrize(("load", "labels"), [(load_wine, 3), (load_breast_cancer, 2), (load_digits, 10)])
def test_a_search_takes_the_pipeline(load: Callable, labels: int) -> None:
    X, y = load(return_X_y=True)
    X, y = X[:500], y[:500]
    model = make_pipeline(StandardScaler(), RobustClassifier("auto", **SMALL | {"epochs": 4}))
    search = GridSearchCV(model, {"robustclassifier__beta": [1.1, 1.3]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    found = search.best_estimator_
    assert found.predict_proba(X).shape == (len(X), labels)
    points, classifier = found[0].transform(X), found[-1]
    radius = classifier.certified_radius(points)
    assert radius.max() > 0
    assert not attacked(classifier, points, radius * (1 - 1e-9)).any()


@pytest.mark.parametrize("rules", [None, [LogisticRegression(max_iter=200, C=0.5)]])
def test_logistic_regressions_combined_are_saved(rules: list | None, tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    classifier = BeliefClassifier(rules, combine="exact", random_state=0).fit(X, y)
    classifier.save(tmp_path / "c.nbr")
    again = nbr.load(tmp_path / "c.nbr")
    for name in ("belief", "conflict", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(again, name)(X), getattr(classifier, name)(X))
    again.fit(X, y)  # with the rules that it was made of
    np.testing.assert_allclose(again.predict_proba(X), classifier.predict_proba(X), atol=0.05)
    told, tensors = linear.spec(classifier.estimators_[0])
    for wrong in ({"start": tensors["start"] * np.nan}, {"coefficients": tensors["coefficients"][:0]}):
        with pytest.raises(NbrError, match="has not finite coefficients"):
            linear.from_spec(told, tensors | wrong)
