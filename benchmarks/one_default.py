"""Which way of combining rules a new classifier should have: the same networks, three ways, on held-out examples.

python benchmarks/one_default.py              six data sets, three seeds; a run that was stopped goes on
python benchmarks/one_default.py --seeds 1    fewer

Of the training examples of each data set (of MNIST some of its training images; no test data is read) 60% are learned
from, 20% say how sharp scores are, and on the last 20% the ways are compared: log-loss and calibration error of
`predict_proba`, right, and proved at the radius that was trained for and at twice it. Results go to
docs/results/one-default.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from copy import copy
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import nbr

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "one-default.json"
WAYS = ("scaled", "exact", "cautious", "cautious, own examples")
BINS = 10


def some(count: int, labels: tuple[int, ...] | None = None) -> tuple[np.ndarray, np.ndarray]:
    X, y = nbr.datasets.mnist(**({} if labels is None else {"labels": labels}), part="train")
    rows = np.random.default_rng(0).permutation(len(X))[:count]
    return X[rows], y[rows]


def shapes(count: int = 450, side: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Bars, rings and crosses of any colour on any ground, moved about, with noise: (count, side, side, 3)."""
    dice = np.random.default_rng(0)
    across, down = np.meshgrid(np.arange(side), np.arange(side))
    y, X = np.arange(count) % 3, np.empty((count, side, side, 3))
    for picture, kind in zip(X, y, strict=True):
        at, size = dice.uniform(side * 0.4, side * 0.6, 2), dice.uniform(side * 0.22, side * 0.34)
        right, up = across - at[0], down - at[1]
        if kind == 0:
            there = (np.abs(right) < 1.5) & (np.abs(up) < size)
        elif kind == 1:
            there = np.abs(np.hypot(right, up) - size) < 1.2
        else:
            there = (np.minimum(np.abs(right - up), np.abs(right + up)) < 1.6) & (np.abs(right) < size)
        ink, ground = dice.uniform(size=(2, 3))
        picture[:] = np.where(there[..., None], ink, ground) + dice.normal(0, 0.06, (side, side, 3))
    return X.clip(0, 1), y


def standard(load) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


SETS = {
    "mnist 4 and 9": (lambda: some(3000, (4, 9)), {"box": (0, 1), "epochs": 40, "linear": False}),
    "mnist ten": (lambda: some(6000), {"box": (0, 1), "epochs": 30, "linear": False}),
    "digits": (lambda: (load_digits().images / 16, load_digits().target), {"epsilon": "auto", "epochs": 40}),
    "wine": (lambda: standard(load_wine), {"epsilon": "auto"}),
    "breast cancer": (lambda: standard(load_breast_cancer), {"epsilon": "auto"}),
    "colour": (shapes, {"epsilon": "auto", "box": (0, 1)}),
}


def calibration(chances: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error of the largest probability, in equal bins."""
    top = chances.max(axis=1)
    places = np.minimum((top * BINS).astype(int), BINS - 1)
    parts = [(places == each) for each in range(BINS) if (places == each).any()]
    return float(sum(part.mean() * abs(right[part].mean() - top[part].mean()) for part in parts))


def compared(name: str, seed: int) -> dict:
    load, settings = SETS[name]
    X, y = load()
    learn, rest, own, others = train_test_split(X, y, train_size=0.6, stratify=y, random_state=seed)
    held, asked, truth, answers = train_test_split(rest, others, train_size=0.5, stratify=others, random_state=seed)
    start = time.process_time()
    first = nbr.RobustClassifier(random_state=seed, discount=False, combine="scaled", **settings).fit(learn, own)
    seconds = time.process_time() - start
    told = {"set": name, "seed": seed, "rules": first.contents(), "seconds": round(seconds, 1)}
    told["epsilon"] = float(first.recipe_["epsilon"])
    for way in WAYS:
        if way == "scaled":
            found = first
        elif way == "exact":
            found = copy(first).set_params(combine="exact")
        else:
            found = first.cautious(*((learn, own) if "own" in way else (held, truth)))
        if "own" not in way:
            found.calibrate(held, truth)
        chances = found.predict_proba(asked)
        right = found.predict(asked) == answers
        radius = found.certified_radius(asked)
        told[way] = {
            "log loss": float(log_loss(answers, chances, labels=found.classes_)),
            "calibration": calibration(chances, right),
            "right": float(right.mean()),
            "proved": float((right & (radius >= told["epsilon"])).mean()),
            "proved at twice": float((right & (radius >= 2 * told["epsilon"])).mean()),
        }
        if way == "scaled" and first.contents()["memories"]:
            bare = first.without_memories()
            told["scaled"]["right without memories"] = float((bare.predict(asked) == answers).mean())
    return told


def main(seeds: int) -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    for seed in range(seeds):
        for name in SETS:
            if any((each["set"], each["seed"]) == (name, seed) for each in known):
                continue
            known.append(compared(name, seed))
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")
            print(json.dumps(known[-1]), flush=True)
    for name in SETS:
        for way in WAYS:
            rows = [each[way] for each in known if each["set"] == name]
            keys = [key for key in rows[0] if all(key in row for row in rows)]
            print(f"{name:14} {way:24}", {key: round(float(np.mean([row[key] for row in rows])), 4) for key in keys})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    main(parser.parse_args().seeds)
