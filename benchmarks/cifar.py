"""CIFAR-10 on one core: what is right, what is proved at L2 36/255, and the time.

python benchmarks/cifar.py [--labels 0 1] [--epochs 10] [-o docs/results/cifar-10-0-1.json] [--checkpoint run.part]

Ours as it comes but for epsilon (and `--epochs`); beside it logistic regressions from one end of C to the other, with
their exact margins, and the nearest neighbour, whose label is proved within half of how much further away the nearest
picture of another label is. `--labels all` takes all ten. A run that is stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression

import nbr

EPSILON = 36 / 255
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
Array = np.ndarray


def main(labels: list[int] | None, epochs: int | None, output: Path | None, checkpoint: Path | None) -> None:
    X, y = nbr.datasets.cifar10(labels, "train")
    Z, z = nbr.datasets.cifar10(labels, "test")
    report = {"labels": labels or "all", "epsilon": EPSILON, "learned from": len(X), "tested on": len(Z), "rows": {}}
    flat, asked = X.reshape(len(X), -1).astype(np.float32), Z.reshape(len(Z), -1).astype(np.float32)

    def told(name: str, right: Array, radius: Array, start: float, **more: int) -> None:
        shares = {
            str(length): share(right & (radius > at)) for length, at in (("36/255", EPSILON), ("72/255", 2 * EPSILON))
        }
        row = {"right": share(right), "proved": shares, "seconds": round(time.perf_counter() - start), **more}
        report["rows"][name] = row
        print(name, json.dumps(row), flush=True)
        if output is not None:
            output.write_text(json.dumps(report, indent=1) + "\n")

    start, spent = time.perf_counter(), time.process_time()
    settings = {"epochs": epochs or "auto", "box": (0, 1), "random_state": 0, "checkpoint": checkpoint, "verbose": True}
    ours = nbr.RobustClassifier(EPSILON, **settings).fit(X.astype(np.float32), y)
    taken, used = time.perf_counter() - start, time.process_time() - spent
    name = f"ours, {ours.recipe_['epochs']} epochs"
    told(name, ours.predict(Z) == z, ours.certified_radius(Z), start, trained=round(taken), processor=round(used))
    start = time.perf_counter()
    told("nearest neighbour", *neighbour(flat, y, asked, z), start)
    if len(X) <= 10_000:  # a regression of ten labels takes as long as everything else
        for penalty in PENALTIES:
            start = time.perf_counter()
            line = LogisticRegression(C=penalty, max_iter=300).fit(flat, y)
            told(
                f"logistic regression, C = {penalty:g}",
                line.predict(asked) == z,
                nbr.certified_radius(line, asked),
                start,
            )


def neighbour(known: Array, y: Array, asked: Array, z: Array) -> tuple[Array, Array]:
    """Whether the nearest picture has the right label, and half the gap to the nearest of another one."""
    labels = np.unique(y)
    every = torch.from_numpy(known)
    found = []
    for part in torch.from_numpy(asked).split(256):
        far = torch.cdist(part, every).numpy()
        found.append(np.stack([far[:, y == label].min(axis=1) for label in labels], axis=1))
    near = np.sort(np.concatenate(found), axis=1)
    return labels[np.concatenate(found).argmin(axis=1)] == z, (near[:, 1] - near[:, 0]) / 2


def share(values: Array) -> float:
    return round(float(np.mean(values)), 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", nargs="+", default=["0", "1"])
    parser.add_argument("--epochs", type=int)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--checkpoint", type=Path)
    chosen = parser.parse_args()
    some = None if chosen.labels == ["all"] else [int(label) for label in chosen.labels]
    main(some, chosen.epochs, chosen.output, chosen.checkpoint)
