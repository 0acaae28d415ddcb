"""Files that earlier versions wrote load, and answer as they did then: `files/answers.json` is what they said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nbr

FILES = Path(__file__).parent / "files"
EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWERS = json.loads((FILES / "answers.json").read_text())


def vectors() -> np.ndarray:
    dice = np.random.default_rng(7)
    y, kind = dice.integers(0, 2, 40), dice.integers(0, 2, 40)
    X = dice.normal(size=(40, 6)) * 0.5
    X[:, 0] += 3 * (y - 0.5)
    X[:, 1] += 2 * kind * np.where(y == 1, 1, -1)
    return X


def digits() -> np.ndarray:
    """Two digits, pale and noisy ones, one between them, and noise."""
    dice = np.random.default_rng(0)
    P = nbr.load("mnist-4-9").read(*(EXAMPLES / f"{name}.png" for name in ("nine", "four")))
    noisy = (P + dice.random((2, 28, 28)) * 0.5).clip(0, 1)
    return np.concatenate([P, P[::-1] * 0.7, noisy, (P[:1] + P[1:]) / 2, dice.random((3, 28, 28))])


@pytest.mark.parametrize("name", ANSWERS)
def test_they_answer_as_they_did(name: str) -> None:
    said = ANSWERS[name]
    model = {"robust": FILES / "robust.nbr", "exact": FILES / "robust.nbr", "nonexpansive": FILES / "nonexpansive.nbr"}
    classifier = nbr.load(model.get(name, name))
    if name == "exact":
        classifier.set_params(combine="exact")
    if name == "mnist-4-9":
        classifier.set_params(discount=False)  # which was learned later, and changes the intervals alone
    X = digits() if name == "mnist-4-9" else vectors()
    assert classifier.predict(X).tolist() == said["labels"]
    np.testing.assert_allclose(classifier.decision_function(X), said["margin"], rtol=0, atol=2e-8)
    np.testing.assert_allclose(classifier.certified_radius(X), said["radius"], rtol=0, atol=2e-8)
    if "intervals" in said:
        np.testing.assert_allclose(classifier.belief(X), said["intervals"], rtol=0, atol=2e-8)
        np.testing.assert_allclose(classifier.conflict(X), said["conflict"], rtol=0, atol=2e-8)
        np.testing.assert_allclose(classifier.predict_proba(X), said["proba"], rtol=0, atol=2e-8)
        np.testing.assert_allclose(classifier.rule_radius(X)[:, :6], said["rule_radius"], rtol=0, atol=1e-9)
