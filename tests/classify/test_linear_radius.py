"""Linear classifiers have exact margins, alone, behind scalers, as rules, and as a candidate beside networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import nbr
from nbr import BeliefClassifier, NbrError, NonexpansiveClassifier, RobustClassifier
from nbr.classify import candidates
from nbr.classify.candidates import PENALTIES
from nbr.classify.pairs import Pairs
from nbr.classify.recipe import Recipe, TrainingSample
from nbr.classify.storage import number_like

SCALERS = [StandardScaler(), MinMaxScaler(), RobustScaler(), MaxAbsScaler(), StandardScaler(with_mean=False)]
FAST = {"networks": 1, "width": 16, "depth": 1, "head": 8, "epochs": 4, "batch_size": 32, "random_state": 0}


def nearest(model, x: np.ndarray) -> float:
    """The distance to the nearest hyperplane between the label and another, by numbers of the whole model alone."""
    start = np.zeros((1, len(x)))
    slopes = np.stack([model.decision_function(start + row) - model.decision_function(start) for row in np.eye(len(x))])
    slopes, scores = slopes.reshape(len(x), -1), model.decision_function(x[None]).reshape(-1)
    if len(scores) == 1:
        return abs(scores[0]) / np.linalg.norm(slopes[:, 0])
    best = scores.argmax()
    ways = [k for k in range(len(scores)) if k != best]
    return min((scores[best] - scores[k]) / np.linalg.norm(slopes[:, best] - slopes[:, k]) for k in ways)


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("last", [LogisticRegression(max_iter=5000), LinearSVC(max_iter=20000), RidgeClassifier()])
@pytest.mark.parametrize("labels", [2, 3])
def test_a_margin_is_exact_in_the_units_of_the_raw_input(scaler, last, labels: int) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[y < labels][:, :5], y[y < labels]
    X = X * np.array([1, 100, 1, 0.01, 1]) + np.array([0, 0, 5, 0, 0])
    model = make_pipeline(scaler, last).fit(X, y)
    found = nbr.certified_radius(model, X[::9])
    np.testing.assert_allclose(found, [nearest(model, x) for x in X[::9]], rtol=1e-5)
    label = model.predict(X[::9])
    steps = np.random.default_rng(0).normal(size=(50, *X[::9].shape))
    steps *= (found / np.linalg.norm(steps, axis=2))[..., None]
    assert all((model.predict(X[::9] + step) == label).all() for step in steps)


def test_what_bends_or_is_not_known_is_refused() -> None:
    X, y = load_wine(return_X_y=True)
    for model in (
        DecisionTreeClassifier(),
        make_pipeline(PolynomialFeatures(), LogisticRegression(max_iter=100, C=1e-9)),
        make_pipeline(PCA(2), LogisticRegression()),
        make_pipeline(MinMaxScaler(clip=True), LogisticRegression()),
    ):
        with pytest.raises(NbrError, match="nothing is proved of a"):
            nbr.certified_radius(model.fit(X[:, :3], y), X[:, :3])


def test_linear_rules_of_a_belief_classifier_are_proved_as_far_as_their_margins() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    rule = make_pipeline(StandardScaler(), LogisticRegression())
    one = BeliefClassifier([(rule, [{0}, {1}])], random_state=0).fit(X, y)
    exact = nbr.certified_radius(one.estimators_[0], X)
    np.testing.assert_allclose(one.certified_radius(X), np.minimum(exact, 100), rtol=1e-4, atol=1e-6)
    assert "proved" not in str(one.verdict(X[:2]).radius)
    mixed = BeliefClassifier([rule, DecisionTreeClassifier(max_depth=2)], random_state=0).fit(X, y)
    with pytest.raises(NbrError, match="a proof needs rules of two groups"):
        mixed.certified_radius(X)


def test_no_change_within_the_radius_of_pairs_of_rules_gives_another_label() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    classifier = BeliefClassifier(random_state=0).fit(X, y)  # a logistic regression for every pair
    radius, label = classifier.certified_radius(X), classifier.predict(X)
    assert np.median(radius) > 0.5
    for first in range(3):  # straight at the label, the worst that can be done to linear rules
        for estimator, frame in zip(classifier.estimators_, classifier.frames_, strict=True):
            way = estimator.coef_[0] / np.linalg.norm(estimator.coef_[0])
            way = way * (1 if int(frame[first]) == 0 else -1)
            mine = label == first
            moved = X[mine] + radius[mine, None] * way
            assert (classifier.predict(moved) == first).all()


def test_a_pipeline_is_proved_in_the_units_of_its_input() -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2][:, :4], y[y < 2]
    model = make_pipeline(StandardScaler(), NonexpansiveClassifier(1.0, widths=(8,), epochs=5, random_state=0))
    model.fit(X, y)
    inside = model[-1].certified_radius(model[0].transform(X))
    np.testing.assert_allclose(nbr.certified_radius(model, X), inside * model[0].scale_.min(), rtol=1e-6)
    np.testing.assert_array_equal(nbr.certified_radius(model[-1], model[0].transform(X)), inside)


@pytest.mark.parametrize("labels", [2, 3])
def test_a_linear_rule_is_taken_where_it_is_proved_further(labels: int, tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[y < labels], y[y < labels]
    found = RobustClassifier(1.0, **FAST).fit(X, y)
    worth = found.recipe_["worth"]
    assert worth["linear"] > worth["networks"]
    pairs = labels * (labels - 1) // 2 if labels > 2 else 2
    assert found.contents() == {"linear rules": pairs, "memories": 0, "weights": pairs * (X.shape[1] + 1)}
    assert found.reasons(X[:1])[0][0].kind == "linear rule"
    margins = [  # of some C, the margins of a plain logistic regression
        nbr.certified_radius(LogisticRegression(C=penalty, max_iter=1000).fit(X, y), X) for penalty in PENALTIES
    ]
    radius = np.minimum(found.certified_radius(X), 7)
    assert min(np.median(np.abs(np.minimum(each, 7) - radius)) for each in margins) < 0.05
    found.save(tmp_path / "linear.nbr")
    again = nbr.load(tmp_path / "linear.nbr")
    np.testing.assert_array_equal(again.certified_radius(X), found.certified_radius(X))
    assert again.recipe_["worth"] == worth
    module = found.raw_module()(torch.from_numpy(X))
    assert (module.argmax(dim=1).numpy() == found.predict(X)).all()


def test_more_columns_than_rows_give_the_same_line() -> None:
    dice = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = dice.normal(size=(40, 60)) + 3 * np.eye(3)[y].repeat(20, axis=1)
    sample = TrainingSample(torch.from_numpy(X).float(), torch.from_numpy(y), None)
    found = candidates.linear(sample, Pairs(3), Recipe(epsilon=0.5))[0].weight.detach().numpy()[:, 0]
    scale = np.sqrt(X.var(axis=0).mean())
    near = []
    for penalty in PENALTIES:
        slopes = LogisticRegression(C=penalty, max_iter=1000).fit(X / scale, y).coef_
        ways = np.stack([slopes[0] - slopes[1], slopes[0] - slopes[2], slopes[1] - slopes[2]])
        near.append(np.abs(ways / np.linalg.norm(ways, axis=1, keepdims=True) - found).max())
    assert min(near) < 1e-5
    assert sorted(near)[1] > 1e-3


def test_networks_are_taken_where_no_line_tells_labels_apart() -> None:
    dice = np.random.default_rng(0)
    X = dice.uniform(-1, 1, (400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    found = RobustClassifier(0.1, **FAST | {"epochs": 30}).fit(X, y)
    assert found.recipe_["worth"]["networks"] > found.recipe_["worth"]["linear"]
    assert found.score(X, y) > 0.9
    assert "worth" not in RobustClassifier(0.1, linear=False, **FAST).fit(X, y).recipe_
    with pytest.raises(NbrError, match='linear must be True, False or "auto", not 3'):
        RobustClassifier(linear=3).fit(X, y)


def test_a_comparison_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbr.classify import robust
    from nbr.progress import Progress
    from nbr.training import loop

    dice = np.random.default_rng(0)
    X = dice.uniform(-1, 1, (200, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    whole = RobustClassifier(0.1, **FAST | {"epochs": 20}).fit(X, y)
    path, runs = tmp_path / "run", []

    def stop(progress: Progress) -> None:
        if progress.stage == "networks" and progress.done > 0.7 * progress.of and not progress.ended:
            raise KeyboardInterrupt

    def count(progress: Progress) -> None:
        if progress.stage == "networks" and progress.ended:
            runs.append(progress.done)

    monkeypatch.setattr(loop, "SECONDS", 0.0)
    monkeypatch.setattr(robust, "progress", lambda verbose: stop)
    with pytest.raises(KeyboardInterrupt):
        RobustClassifier(0.1, checkpoint=path, **FAST | {"epochs": 20}).fit(X, y)
    assert (tmp_path / "run.trial").exists()
    monkeypatch.setattr(robust, "progress", lambda verbose: count)
    again = RobustClassifier(0.1, checkpoint=path, **FAST | {"epochs": 20}).fit(X, y)
    np.testing.assert_array_equal(again.certified_radius(X), whole.certified_radius(X))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [RobustClassifier, NonexpansiveClassifier])
def test_a_shift_changes_no_distance(kind: type, tmp_path: Path) -> None:
    """Whole numbers, so that a shift of a power of two changes no bit of what is learned."""
    dice = np.random.default_rng(0)
    y = dice.integers(0, 2, 64)
    X = dice.integers(-8, 9, (64, 4)) / 8.0
    X[:, 0] += 3 * y
    small = {"networks": 1, "linear": False, "width": 8, "depth": 1, "head": 4} if kind is RobustClassifier else {}
    if kind is NonexpansiveClassifier:
        small = {"widths": (8, 8)}
    here, there = (kind(0.5, epochs=10, random_state=0, **small).fit(X + far, y) for far in (0.0, 4096.0))
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X + 4096))
    np.testing.assert_allclose(here.certified_radius(X), there.certified_radius(X + 4096), atol=1e-6)
    assert here.score(X, y) > 0.9
    there.save(tmp_path / "there.nbr")
    again = nbr.load(tmp_path / "there.nbr")
    np.testing.assert_array_equal(again.certified_radius(X + 4096), there.certified_radius(X + 4096))
    points = torch.from_numpy(X + 4096)
    lead = again.as_module()(points)
    np.testing.assert_allclose((lead[:, 1] - lead[:, 0]).numpy(), there.decision_function(X + 4096), atol=1e-9)
    with pytest.raises(NbrError, match="tensor of a classifier has whole numbers"):
        number_like(torch.zeros(3, dtype=torch.long))
