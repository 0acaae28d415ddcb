"""The Predictor by scikit-learn's own checks, in its pipelines and searches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import nbr

ROUGH = {"check_regressors_train": "clauses cut a number in few pieces, which is rough for a number they are to tell"}
LABELS = nbr.Predictor("clauses", "marginals", task="classification")
NUMBERS = nbr.Predictor("clauses", "marginals", task="regression")


@parametrize_with_checks([LABELS, NUMBERS], expected_failed_checks=lambda each: ROUGH if each is NUMBERS else {})
def test_scikit_learn_checks(estimator: nbr.Predictor, check) -> None:  # type: ignore[no-untyped-def]
    check(estimator)


def people(rows: int) -> pd.DataFrame:
    random = np.random.default_rng(0)
    sex = random.choice(["f", "m"], rows)
    height = np.round(np.where(sex == "f", 165, 180) + random.normal(size=rows) * 6, 1)
    return pd.DataFrame({"sex": sex, "height": height, "day": pd.date_range("2021-01-01", periods=rows).astype(str)})


def test_labels_are_told_from_numbers_or_it_is_said() -> None:
    frame = people(120)
    labels = nbr.Predictor("clauses", "marginals").fit(frame[["height", "day"]], frame.sex)
    numbers = nbr.Predictor("clauses", "marginals").fit(frame[["sex", "day"]], frame.height)
    assert (is_classifier(labels), is_regressor(labels)) == (True, False)
    assert (is_classifier(numbers), is_regressor(numbers)) == (False, True)
    assert (is_classifier(LABELS), is_regressor(NUMBERS)) == (True, True)
    assert not hasattr(numbers, "predict_proba")
    assert numbers.feature_names_in_.tolist() == ["sex", "day"]
    assert labels.score(frame[["height", "day"]], frame.sex) > 0.75
    whole = nbr.Predictor("clauses", "marginals", task="classification").fit(frame[["sex"]], [*range(10)] * 12)
    assert whole.classes_.tolist() == [*range(10)]
    with pytest.raises(nbr.NbrError, match="task must be one of auto, classification, regression"):
        nbr.Predictor(task="labels").fit(frame[["sex"]], frame.height)


def test_pipelines_searches_and_folds() -> None:
    frame = people(150)
    X, y = frame[["height"]], frame.sex
    assert cross_val_score(LABELS, X, y, cv=3).mean() > 0.75
    pipeline = make_pipeline(FunctionTransformer(), nbr.Predictor("clauses", "marginals"))
    assert pipeline.fit(X, y).score(X, y) > 0.75
    search = GridSearchCV(LABELS, {"prior": ["marginals", "uniform"]}, cv=2).fit(X, y)
    assert search.best_params_["prior"] in ("marginals", "uniform")


def test_rows_count_as_often_as_they_weigh() -> None:
    frame = people(300)
    X, y = frame[["height"]], frame.sex
    weights = np.where(y == "f", 3, 1)
    found = clone(LABELS).fit(X, y, sample_weight=weights)
    again = clone(LABELS).fit(X.loc[X.index.repeat(weights)], y.repeat(weights))
    alike = clone(LABELS).fit(X, y)
    none = pd.DataFrame({"height": [np.nan]})
    assert found.predict_proba(none) == pytest.approx(again.predict_proba(none))
    assert found.predict_proba(none)[0, 0] > alike.predict_proba(none)[0, 0] + 0.1


def crossed(rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A label that goes with the product of two numbers, of which neither says anything by itself; some holes."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(rows, 3)).round(3), columns=["a", "b", "c"])
    y = np.where(X.a * X.b + 0.3 * random.normal(size=rows) > 0, "same", "other")
    return X.mask(random.random(X.shape) < 0.02), y


def test_labels_have_rules_of_their_own_where_rows_gain_by_them() -> None:
    X, y = crossed(400, 0)
    model = nbr.Predictor(task="classification").fit(X, y)
    assert model.about_ is not None
    (rule,) = model.about_.rules
    assert str(rule) == "what tells target"
    later, truth = crossed(1000, 1)
    chances = model.predict_proba(later)
    assert chances.sum(axis=1) == pytest.approx(1)
    own = log_loss(truth, chances, labels=model.classes_)
    frame = later.assign(target=pd.Series(dtype=object))
    table = model.reasoner_.predict(frame, "target")
    assert own < log_loss(truth, table[[f"target={label}" for label in model.classes_]], labels=model.classes_) - 0.03
    ends = model.predict_interval(later)
    likeliest = chances.max(axis=1)
    assert ((ends[:, 0] <= likeliest) & (likeliest <= ends[:, 1])).all()


def test_labels_that_nothing_tells_have_none() -> None:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.integers(2, size=300), "b": random.integers(2, size=300)})
    model = nbr.Predictor(task="classification").fit(X, random.choice(["u", "v", "w"], 300))
    chances = model.predict_proba(X)
    assert np.abs(chances - 1 / 3).max() < 0.15
    few = nbr.Predictor(task="classification").fit(X[:30], random.choice(["u", "v"], 30))
    assert few.about_ is None
