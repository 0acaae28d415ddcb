"""Does a classifier know what it does not know? Inputs of another kind against its own test images.

python benchmarks/far_inputs.py mnist-4-9     the other digits
python benchmarks/far_inputs.py mnist-10      Fashion-MNIST, noise, strokes, blank pictures
.. --ours                                     ours alone; what others said of the same inputs stays as it was

The score was named beforehand: the width of the interval of the predicted label. Beside it, in the same run: conflict;
the width before discounting; the confidence of the softmax and of a perceptron trained on the same images; the distance
to the nearest training image; the p-value of a conformal predictor (nearest image of the label over nearest other); and
the vacuity of an evidential network (Sensoy and others, 2018).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from torch.nn.functional import one_hot

import nbr
from nbr import datasets
from nbr.classify.robust import RobustClassifier

COUNT = 1000  # of each kind of far input
WIDE = 0.2
Array = np.ndarray


def main(model: str, alone: bool) -> None:
    path = Path(__file__).parent.parent / "docs" / "results" / f"far-{model}.json"
    classifier = nbr.load(model)
    labels = tuple(classifier.classes_.tolist())
    X, y = datasets.mnist(labels, "train")
    own, _ = datasets.mnist(labels, "test")
    far = other_digits(labels) if len(labels) < 10 else other_things()
    scores = ours(classifier, nbr.load(model).set_params(discount=False)) | ({} if alone else peers(X, y))
    told = {name: score(own) for name, score in scores.items()}
    rows = {
        name: {kind: auroc(told[name], score(inputs)) for kind, inputs in far.items()} for name, score in scores.items()
    }
    if alone:
        rows = json.loads(path.read_text())["auroc"] | rows
    width = told["width of the interval"]
    found = {
        "model": model,
        "own": len(own),
        "far": {kind: len(inputs) for kind, inputs in far.items()},
        "share_of_own_no_wider_than_0.2": float(np.mean(width <= WIDE)),
        "auroc": rows,
    }
    print(json.dumps(found, indent=1))
    path.write_text(json.dumps(found, indent=1) + "\n")


def auroc(own: Array, far: Array) -> float:
    """The chance that a far input scores above one of the classifier's own."""
    return round(float(roc_auc_score(np.repeat([0, 1], [len(own), len(far)]), np.concatenate([own, far]))), 4)


def ours(classifier: RobustClassifier, plain: RobustClassifier) -> dict[str, Callable[[Array], Array]]:
    def width(which: RobustClassifier) -> Callable[[Array], Array]:
        def score(inputs: Array) -> Array:
            told = which.verdict(inputs, reasons=1)
            row = np.searchsorted(which.classes_, told.labels)
            low, high = told.intervals[np.arange(len(row)), row].T
            return high - low

        return score

    return {
        "width of the interval": width(classifier),
        "width before discounting": width(plain),
        "conflict": classifier.conflict,
        "softmax confidence": lambda inputs: 1 - classifier.predict_proba(inputs).max(axis=1),
    }


def peers(X: Array, y: Array) -> dict[str, Callable[[Array], Array]]:
    """Others, on the same training images."""
    flat = X.reshape(len(X), -1).astype(np.float32)
    perceptron = MLPClassifier((128,), max_iter=12, early_stopping=True, random_state=0).fit(flat, y)
    dice = np.random.default_rng(0).permutation(len(X))
    held, kept = dice[:2000], dice[2000:22000]
    known = torch.from_numpy(flat[kept])

    def distances(inputs: Array) -> Array:
        """To the nearest kept image of each label: (n, labels)."""
        asked, found = torch.from_numpy(inputs.reshape(len(inputs), -1).astype(np.float32)), []
        for part in asked.split(256):
            every = torch.cdist(part, known).numpy()
            found.append(np.stack([every[:, y[kept] == label].min(axis=1) for label in np.unique(y)], axis=1))
        return np.concatenate(found)

    def strange(near: Array) -> Array:
        """Nearest image of the likeliest label over the nearest of another one."""
        two = np.sort(near, axis=1)[:, :2]
        return two[:, 0] / two[:, 1]

    usual = np.sort(strange(distances(X[held])))

    def conformal(inputs: Array) -> Array:
        return np.searchsorted(usual, strange(distances(inputs))) / len(usual)

    return {
        "confidence of a perceptron": lambda inputs: (
            1 - perceptron.predict_proba(inputs.reshape(len(inputs), -1).astype(np.float32)).max(axis=1)
        ),
        "distance to the nearest image": lambda inputs: distances(inputs).min(axis=1),
        "conformal p-value": conformal,
        "vacuity of an evidential network": evidential(
            torch.from_numpy(flat), torch.from_numpy(np.unique(y, return_inverse=True)[1])
        ),
    }


def evidential(X: torch.Tensor, y: torch.Tensor, epochs: int = 12) -> Callable[[Array], Array]:
    """A perceptron whose outputs are evidence for a Dirichlet distribution; it lacks labels over their total."""
    torch.manual_seed(0)
    labels = int(y.max()) + 1
    network = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, labels))
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    flat = torch.distributions.Dirichlet(torch.ones(labels))
    for epoch in range(epochs):
        for rows in torch.randperm(len(X)).split(256):
            truth = one_hot(y[rows], labels).float()
            alpha = torch.nn.functional.softplus(network(X[rows])) + 1
            total = alpha.sum(dim=1, keepdim=True)
            mean = alpha / total
            risk = ((truth - mean).square() + mean * (1 - mean) / (total + 1)).sum(dim=1)
            misleading = torch.distributions.Dirichlet(truth + (1 - truth) * alpha)
            away = torch.distributions.kl_divergence(misleading, flat.expand(misleading.batch_shape))
            optimiser.zero_grad()
            (risk + min(1, epoch / 10) * away).mean().backward()
            optimiser.step()

    def vacuity(inputs: Array) -> Array:
        with torch.no_grad():
            found = network(torch.from_numpy(inputs.reshape(len(inputs), -1).astype(np.float32)))
        return (labels / (torch.nn.functional.softplus(found) + 1).sum(dim=1)).numpy()

    return vacuity


def other_digits(labels: tuple[int, ...]) -> dict[str, Array]:
    images, digits = datasets.mnist(part="test")
    others = sorted(set(range(10)) - set(labels))
    every = images[np.isin(digits, others)]
    return {"other digits": every, **{f"{digit}": images[digits == digit] for digit in others}}


def other_things() -> dict[str, Array]:
    dice = np.random.default_rng(0)
    return {
        "Fashion-MNIST": datasets.fashion_mnist(part="test")[0][:COUNT],
        "noise": dice.random((COUNT, 28, 28)),
        "sparse noise": (dice.random((COUNT, 28, 28)) < 0.15).astype(float),
        "strokes": strokes(dice, 0, np.pi),
        "strokes that lie": strokes(dice, -np.pi / 5, np.pi / 5),
        "blank pictures": np.linspace(0, 1, 101)[:, None, None] * np.ones((28, 28)),
    }


def strokes(dice: np.random.Generator, low: float, high: float) -> Array:
    """One straight stroke each, its angle from the horizontal between two; upright ones look like the digit 1."""
    rows, columns = np.mgrid[:28, :28]
    found = np.zeros((COUNT, 28, 28))
    for picture in found:
        angle, (x, y), half, thick = (
            dice.uniform(low, high),
            dice.uniform(6, 22, 2),
            dice.uniform(6, 12),
            dice.uniform(1, 2.2),
        )
        along = ((columns - x) * np.cos(angle) + (rows - y) * np.sin(angle)).clip(-half, half)
        away = np.hypot(columns - x - along * np.cos(angle), rows - y - along * np.sin(angle))
        picture[:] = (thick + 0.5 - away).clip(0, 1)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["mnist-4-9", "mnist-10"])
    parser.add_argument("--ours", action="store_true")
    chosen = parser.parse_args()
    main(chosen.model, chosen.ours)
