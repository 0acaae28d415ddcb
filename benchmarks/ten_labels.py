"""All ten labels at once: a network for each pair of labels, with a proof. How the shipped mnist-10 was made.

python benchmarks/ten_labels.py -o src/nbr/models/mnist-10.nbr    a run that was stopped goes on
python benchmarks/ten_labels.py --data fashion-mnist              another collection, the same settings
python benchmarks/ten_labels.py --again nbr.nbr -o new.nbr        the networks of a file, objections combined again
python benchmarks/ten_labels.py --rest                            one network for each label and no memories

The last 3,000 training images are held out: settings are chosen there, and the test images are looked at once.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import nbr
from nbr import datasets

HELD = 3000
SHAPE = ("frames", "width", "depth", "head", "memories")
TOLD = ("epsilon", *SHAPE, "epochs", "batch_size", "learning_rate", "beta", "augment")
RADII = (0.5, 1.0, 1.58, 2.0)


def main(data: str, epochs: int, beta: float, frames: str, output: Path | None, checkpoint: Path) -> None:
    load = datasets.mnist if data == "mnist" else datasets.fashion_mnist
    (X, y), (Z, z) = load(part="train"), load(part="test")
    start = time.perf_counter()
    each = 1 if frames == "rest" else nbr.RobustClassifier().networks
    classifier = nbr.RobustClassifier(
        1.58, frames=frames, networks=each, width=256, depth=5, head=32, epochs=epochs, batch_size=512,
        learning_rate=0.06, beta=beta, augment=0.3, memories=frames != "rest",
        box=(0, 1), preparation="digits" if data == "mnist" else "none", random_state=0, verbose=True,
        checkpoint=checkpoint,
    )  # fmt: skip
    classifier.fit(X[:-HELD], y[:-HELD])
    if frames == "pairs":
        classifier = classifier.cautious(X[-HELD:], y[-HELD:])
    if output is not None:
        classifier.save(output)  # before anything else can go wrong
    told = {
        "data": data,
        "held_out": measured(classifier, X[-HELD:], y[-HELD:]),
        **measured(classifier, Z, z),
        **classifier.contents(),
        "settings": {name: value for name, value in classifier.get_params().items() if name in TOLD},
        "seconds": round(time.perf_counter() - start),
    }
    if output is not None:
        classifier.figures_ = told
        classifier.save(output)
    print(json.dumps(told, indent=1))
    stem = "ten-labels" + ("" if data == "mnist" else f"-{data}") + ("" if frames == "pairs" else f"-{frames}")
    path = Path(__file__).parent.parent / "docs" / "results" / f"{stem}.json"
    path.write_text(json.dumps(told, indent=1) + "\n")


def again(source: Path, output: Path) -> None:
    """The networks of a classifier of MNIST, with their objections combined cautiously, and how that compares."""
    (X, y), (Z, z) = datasets.mnist(part="train"), datasets.mnist(part="test")
    before = nbr.load(source)
    found = before.cautious(X[-HELD:], y[-HELD:])
    now = {"held_out": measured(found, X[-HELD:], y[-HELD:]), **measured(found, Z, z), **found.contents()}
    found.figures_ = {**before.figures_, **now, "scale": float(found.rules_.scale[0]), "before": measured(before, Z, z)}
    found.save(output)
    path = Path(__file__).parent.parent / "docs" / "results" / "ten-labels.json"
    path.write_text(json.dumps(found.figures_, indent=1) + "\n")
    print(json.dumps(found.figures_, indent=1))


def measured(classifier: nbr.RobustClassifier, X: np.ndarray, y: np.ndarray) -> dict:
    """The share of images that are right, and proved to stay so."""
    right, radius = classifier.predict(X) == y, classifier.certified_radius(X)
    proved = {str(eps): float((right & (radius > eps)).mean()) for eps in RADII}
    return {"images": len(y), "natural": float(right.mean()), "proved": proved, **told(classifier, X, y)}


def told(classifier: nbr.RobustClassifier, X: np.ndarray, y: np.ndarray) -> dict:
    """The log-loss of probabilities, and how far they are from how often labels are right, in 15 bins."""
    chances = classifier.predict_proba(X)
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == y
    bins = np.ceil(sure * 15)
    gaps = [(bins == each).mean() * abs(sure[bins == each].mean() - right[bins == each].mean()) for each in set(bins)]
    return {"log_loss": float(-np.log(chances[np.arange(len(y)), y]).mean()), "calibration_error": float(sum(gaps))}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=["mnist", "fashion-mnist"], default="mnist")
    parser.add_argument("--epochs", type=int, default=320)
    parser.add_argument("--beta", type=float, default=1.2)
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("-o", "--output", type=Path, help="save the classifier here")
    parser.add_argument("--checkpoint", type=Path, default=Path("ten-labels.part"))
    parser.add_argument("--again", type=Path, help="a classifier whose networks are combined again")
    chosen = parser.parse_args()
    if chosen.again is not None:
        again(chosen.again, chosen.output)
        raise SystemExit
    frames = "rest" if chosen.rest else "pairs"
    main(chosen.data, chosen.epochs, chosen.beta, frames, chosen.output, chosen.checkpoint)
