"""Classifiers combined by belief, beside voting and stacking of the same models.

python benchmarks/combining.py              eight data sets, five seeds; a run that was stopped goes on
python benchmarks/combining.py --seeds 2    fewer

Four models of scikit-learn: logistic regression, naive Bayes, a small forest and nearest neighbours. `BeliefClassifier`
combines them exactly and scaled; beside it are soft voting, stacking by a logistic regression, and the best of the four
by cross-validation on the training rows. Log-loss and the share right on a test half. Then a third of the labels are
left out of training, and a score has to tell their rows from rows of known labels: conflict, or a low confidence.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nbr

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "combining.json"
Array = np.ndarray


def collections() -> dict[str, Callable[[], tuple[Array, Array]]]:
    def made(**settings: Any) -> Callable[[], tuple[Array, Array]]:
        return lambda: datasets.make_classification(n_samples=1200, random_state=1, **settings)

    def pictures(name: str, count: int) -> Callable[[], tuple[Array, Array]]:
        def load() -> tuple[Array, Array]:
            X, y = getattr(nbr.datasets, name)(part="test")
            return X[:count, ::2, ::2].reshape(count, -1), y[:count]

        return load

    return {
        "iris": lambda: datasets.load_iris(return_X_y=True),
        "wine": lambda: datasets.load_wine(return_X_y=True),
        "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
        "digits": lambda: datasets.load_digits(return_X_y=True),
        "mnist, 14 x 14": pictures("mnist", 2000),
        "fashion-mnist, 14 x 14": pictures("fashion_mnist", 2000),
        "planted, 5 labels": made(n_features=20, n_informative=8, n_classes=5, flip_y=0.05),
        "planted, noisy": made(n_features=30, n_informative=6, n_classes=3, flip_y=0.25),
    }


def models(seed: int) -> list[tuple[str, Any]]:
    return [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))),
        ("bayes", GaussianNB(var_smoothing=1e-3)),
        ("forest", RandomForestClassifier(60, random_state=seed)),
        ("nearest", make_pipeline(StandardScaler(), KNeighborsClassifier(9))),
    ]


def contenders(seed: int) -> dict[str, Any]:
    each = models(seed)
    alone = [model for _, model in each]
    return {
        "belief, exact": nbr.BeliefClassifier(alone, combine="exact", random_state=seed),
        "belief, scaled": nbr.BeliefClassifier(alone, combine="scaled", random_state=seed),
        "soft voting": VotingClassifier(each, voting="soft"),
        "stacking": StackingClassifier(each, LogisticRegression(max_iter=500), cv=3),
    }


def measured(X: Array, y: Array, seed: int) -> dict[str, dict[str, float]]:
    learn, test, truth, asked = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    best = max(
        (model for _, model in models(seed)), key=lambda model: cross_val_score(model, learn, truth, cv=3).mean()
    )
    found = {}
    for name, model in {**contenders(seed), "best of the four": best}.items():
        shares = clone(model).fit(learn, truth).predict_proba(test)
        found[name] = {
            "log_loss": float(log_loss(asked, shares)),
            "right": float(np.mean(np.unique(y)[shares.argmax(axis=1)] == asked)),
        }
    labels = np.unique(y)
    if len(labels) > 2:
        unseen = np.random.default_rng(seed).permutation(labels)[: max(1, len(labels) // 3)]
        known = ~np.isin(truth, unseen)
        far = np.isin(asked, unseen)
        for name, model in contenders(seed).items():
            fitted = clone(model).fit(learn[known], truth[known])
            confidence = fitted.predict_proba(test).max(axis=1)
            found[name]["unseen_by_confidence"] = float(roc_auc_score(far, -confidence))
            if hasattr(fitted, "conflict"):
                found[name]["unseen_by_conflict"] = float(roc_auc_score(far, fitted.conflict(test)))
    return found


def main(seeds: int) -> None:
    runs = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else {}
    for name, load in collections().items():
        X, y = load()
        for seed in range(seeds):
            key = f"{name}, seed {seed}"
            if key not in runs:
                runs[key] = measured(X, y, seed)
                RESULTS.write_text(json.dumps({"means": means(runs), "runs": runs}, indent=1) + "\n")
                print(key, {who: round(told["log_loss"], 4) for who, told in runs[key].items()}, flush=True)
    print(json.dumps(means(runs), indent=1))


def means(runs: dict[str, dict[str, dict[str, float]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Over seeds, for each data set, and over all."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in dict.fromkeys([*(key.rsplit(", seed", 1)[0] for key in runs), "all"]):
        mine = [run for key, run in runs.items() if name in (key.rsplit(", seed", 1)[0], "all")]
        found[name] = {}
        for who in mine[0]:
            figures = {figure for run in mine for figure in run[who]}
            values = {figure: [run[who][figure] for run in mine if figure in run[who]] for figure in sorted(figures)}
            found[name][who] = {figure: round(float(np.mean(each)), 4) for figure, each in values.items()}
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    warnings.filterwarnings("ignore")
    main(parser.parse_args().seeds)
