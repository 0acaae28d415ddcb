"""Asking changes nothing: not a bit of the weights, whatever the precision, from how many threads ever."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pytest
import torch

import nbr
from nbr import BeliefClassifier, NonexpansiveClassifier, RobustClassifier

SMALL = {
    "networks": 2,
    "linear": False,
    "width": 16,
    "depth": 1,
    "head": 8,
    "epochs": 6,
    "batch_size": 64,
    "gamma": 2.0,
}
FILES = Path(__file__).parent / "files"


def clouds(size: int = 6, count: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    dice = np.random.default_rng(seed)
    y = dice.integers(0, 2, count)
    X = dice.normal(size=(count, size)) * 0.5
    X[:, 0] += 3 * (y - 0.5)
    return X, y


@pytest.mark.parametrize("kind", ["robust", "nonexpansive"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_another_precision_leaves_the_proof_alone(kind: str, dtype: torch.dtype) -> None:
    classifier = nbr.load(FILES / f"{kind}.nbr")
    X, _ = clouds()
    before, margin = classifier.certified_radius(X), classifier.decision_function(X)
    weights = {name: value.clone() for name, value in classifier.rules_.networks.module().state_dict().items()}
    logits = classifier.as_module()(torch.from_numpy(X).to(dtype))
    assert logits.dtype is dtype
    np.testing.assert_array_equal(classifier.certified_radius(X), before)
    np.testing.assert_array_equal(classifier.decision_function(X), margin)
    after = classifier.rules_.networks.module().state_dict()
    assert all(torch.equal(value, after[name]) for name, value in weights.items())
    fresh = nbr.load(FILES / f"{kind}.nbr")
    fresh.as_module()(torch.from_numpy(X).to(dtype))  # before anything was computed from the weights
    np.testing.assert_array_equal(fresh.certified_radius(X), before)


def test_what_is_handed_out_is_a_copy() -> None:
    classifier = nbr.load(FILES / "robust.nbr")
    X, _ = clouds()
    before = classifier.certified_radius(X)
    network = classifier.rules_.networks.module()
    for value in network.parameters():
        torch.nn.init.zeros_(value)
    np.testing.assert_array_equal(classifier.certified_radius(X), before)


def test_threads_in_different_precisions_do_not_disturb_each_other() -> None:
    classifier = nbr.load(FILES / "robust.nbr")
    X, _ = clouds()
    module, points = classifier.as_module(), torch.from_numpy(X)

    def ask(number: int) -> np.ndarray:
        if number % 2:
            return module(points.float()).numpy()
        return classifier.certified_radius(X)

    alone = [nbr.load(FILES / "robust.nbr").certified_radius(X), module(points.float()).numpy()]
    with ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(ask, range(40))):
            np.testing.assert_array_equal(found, alone[number % 2])


@pytest.mark.parametrize("kind", [RobustClassifier, NonexpansiveClassifier])
def test_fitted_again_it_is_as_if_fitted_once(kind: type) -> None:
    settings = SMALL if kind is RobustClassifier else {"widths": (16, 8), "epochs": 6, "batch_size": 64}
    classifier = kind(0.5, random_state=0, **settings)
    for size, seed in ((6, 0), (9, 1), (9, 2)):
        X, y = clouds(size, seed=seed)
        again, once = classifier.fit(X, y), kind(0.5, random_state=0, **settings).fit(X, y)
        np.testing.assert_array_equal(again.certified_radius(X), once.certified_radius(X))
        np.testing.assert_array_equal(again.rule_radius(X), once.rule_radius(X))


def test_pickled_it_answers_the_same(tmp_path: Path) -> None:
    X, y = clouds()
    network = NonexpansiveClassifier(0.5, widths=(8, 4), epochs=3, random_state=0)
    for classifier in (nbr.load(FILES / "robust.nbr"), BeliefClassifier([network], random_state=0).fit(X, y)):
        radius = classifier.certified_radius(X)
        joblib.dump(classifier, tmp_path / "c")
        np.testing.assert_array_equal(joblib.load(tmp_path / "c").certified_radius(X), radius)


def test_a_verdict_is_one_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    from nbr.classify.rules import NonexpansiveRules

    classifier = nbr.load(FILES / "robust.nbr")
    X, _ = clouds(count=30)
    calls: list[int] = []
    scores = NonexpansiveRules.scores
    monkeypatch.setattr(NonexpansiveRules, "scores", lambda self, points: calls.append(1) or scores(self, points))
    found = classifier.verdict(X)
    assert len(calls) == 1
    monkeypatch.undo()
    np.testing.assert_array_equal(found.labels, classifier.predict(X))
    np.testing.assert_array_equal(found.intervals, classifier.belief(X))
    np.testing.assert_array_equal(found.conflict, classifier.conflict(X))
    np.testing.assert_array_equal(found.radius, classifier.certified_radius(X))
    assert found.reasons == classifier.reasons(X)
    every = classifier.reasons(X[:1], most=1000)[0]
    towards = sum(each.weight if each.speaks_for == found.labels[0] else -each.weight for each in every)
    assert towards == pytest.approx(abs(classifier.decision_function(X[:1])[0]), abs=1e-7)
