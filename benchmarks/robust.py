"""Proved robustness on two labels: the belief classifier beside one network of its family and a linear SVM.

python benchmarks/robust.py mnist 4 9 --epochs 400 -o mnist-4-9.nbr    how the shipped model was made
python benchmarks/robust.py mnist 3 8                                   another pair, default settings
python benchmarks/robust.py fashion-mnist 2 4

Everything is trained on the training part alone and measured once on the test part. A run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.svm import LinearSVC

import nbr
from nbr import datasets
from nbr.paper.curves import accuracy_curves
from nbr.robustness.shares import percent_interval

RADII = [round(0.1 * step, 1) for step in range(41)]
WIDTHS = (384,) * 5  # of the one network: about as large as ours
STRENGTHS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)  # C of a linear SVM
LOST = 0.02  # of accuracy, for wider margins
SHOWN = [0.0, 0.5, 1.0, 1.58, 2.0, 2.5, 3.0]


def main(name: str, labels: tuple[int, int], output: Path | None, epochs: int, only: str | None) -> None:
    load = datasets.mnist if name == "mnist" else datasets.fashion_mnist
    (X, y), (Z, z) = load(labels, "train"), load(labels, "test")
    stem = f"robust-{name}-{labels[0]}-{labels[1]}"
    folder = Path(__file__).parent.parent / "docs" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    rows = {}
    if only in (None, "nbr"):
        start = time.perf_counter()
        classifier = nbr.RobustClassifier(
            2.0,
            epochs=epochs,
            box=(0, 1),
            preparation="digits" if name == "mnist" else "none",
            random_state=0,
            verbose=True,
            checkpoint=folder / f"{stem}.part",
        ).fit(X, y)
        seconds = time.perf_counter() - start
        if output is not None:
            classifier.save(output)  # before anything else can go wrong
        rows["NBR"] = curve(classifier.predict(Z) == z, classifier.certified_radius(Z), seconds)
        bare = classifier.without_memories()
        rows["NBR without memories"] = curve(bare.predict(Z) == z, bare.certified_radius(Z), seconds)
        rows["NBR"]["rules"] = len(classifier.rules_)
        rows["NBR"]["memories"] = len(classifier.rules_.memories)
        if output is not None:
            classifier.figures_ = {
                "data": name,
                "natural": rows["NBR"]["proved"][0],
                "proved": dict(zip(map(str, RADII), rows["NBR"]["proved"], strict=True)),
                "images": len(z),
                "seconds": round(seconds),
            }
            classifier.save(output)
    if only in (None, "one"):
        network, seconds = one_network(X, y, epochs, folder / f"{stem}-one.part")
        if output is not None:
            network.save(output.with_stem(f"{output.stem}-one"))
        rows["one network"] = curve(network.predict(Z) == z, network.certified_radius(Z), seconds)
    if only in (None, "svm"):
        rows |= linear(X, y, Z, z)
    path = folder / f"{stem}.json"
    known = json.loads(path.read_text()) if path.exists() else {"radii": RADII, "images": len(z), "rows": {}}
    known["rows"] |= rows
    path.write_text(json.dumps(known, indent=1) + "\n")
    show(known)
    drawn = {kind: row["proved"] for kind, row in known["rows"].items()}
    title = f"{name}, {labels[0]} against {labels[1]}: proved accuracy, {len(z):,} test images"
    path.with_suffix(".svg").write_text(accuracy_curves(title, RADII, drawn, len(z)))


def curve(right: np.ndarray, radius: np.ndarray, seconds: float) -> dict:
    """The share of test images that are right and proved to stay so, for every radius."""
    proved = [float(np.mean(right & (radius > eps) if eps else right)) for eps in RADII]
    at = float(np.mean(right & (radius > 1.58)))
    return {"proved": proved, "proved_1.58": at, "errors": int((~right).sum()), "seconds": round(seconds, 1)}


def one_network(X: np.ndarray, y: np.ndarray, epochs: int, path: Path) -> tuple[nbr.NonexpansiveClassifier, float]:
    """One nonexpansive network of about the same size: the same loss, optimiser, changes of pictures and epochs."""
    start = time.perf_counter()
    network = nbr.NonexpansiveClassifier(
        2.0, widths=WIDTHS, epochs=epochs, box=(0, 1), random_state=0, verbose=True, checkpoint=path
    ).fit(X, y)
    return network, time.perf_counter() - start


def linear(X: np.ndarray, y: np.ndarray, Z: np.ndarray, z: np.ndarray) -> dict[str, dict]:
    """Linear SVMs, whose distance to the boundary is exact: both ends of what C trades, and one between them.

    A small C gives a short weight vector, so wide margins and more errors. C is chosen on a fifth of the training
    images: the one that is right most often, the one that is right and proved at 1.58 most often, and the one that is
    proved most often among those that lose at most two points of the first. Then all training images are learned.
    """
    flat, tested, cut = X.reshape(len(X), -1), Z.reshape(len(Z), -1), len(X) // 5
    held = {}
    for c in STRENGTHS:
        machine = LinearSVC(C=c, random_state=0).fit(flat[cut:], y[cut:])
        right, radius = exact(machine, flat[:cut], y[:cut])
        held[c] = (float(right.mean()), float((right & (radius > 1.58)).mean()))
        print(f"C = {c:g}, held out: {100 * held[c][0]:.1f}% right, {100 * held[c][1]:.1f}% proved at 1.58")
    accurate = max(STRENGTHS, key=lambda c: held[c][0])
    near = [c for c in STRENGTHS if held[c][0] >= held[accurate][0] - LOST]
    chosen = {
        "linear SVM": accurate,
        "linear SVM, wide": max(near, key=lambda c: held[c][1]),
        "linear SVM, widest": max(STRENGTHS, key=lambda c: held[c][1]),
    }
    rows = {}
    for name, c in chosen.items():
        start = time.perf_counter()
        machine = LinearSVC(C=c, random_state=0).fit(flat, y)
        rows[name] = {"C": c, **curve(*exact(machine, tested, z), time.perf_counter() - start)}
    return rows


def exact(machine: LinearSVC, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether a linear SVM is right, and how far each input is from its boundary."""
    return machine.predict(X) == y, np.abs(machine.decision_function(X)) / np.linalg.norm(machine.coef_)


def show(known: dict) -> None:
    count = known["images"]
    print(f"\nproved accuracy in % on {count:,} test images (95% intervals)")
    print(f"{'':<24}" + "".join(f"{eps:<20}" for eps in SHOWN))
    for name, row in known["rows"].items():
        cells = ""
        for eps in SHOWN:
            share = row["proved_1.58"] if eps == 1.58 else row["proved"][RADII.index(eps)]
            cells += f"{100 * share:5.1f} ({percent_interval(share, count)})".ljust(20)
        print(f"{name:<24}{cells}{row['errors']} errors, {row['seconds']:.0f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=["mnist", "fashion-mnist"])
    parser.add_argument("labels", type=int, nargs=2)
    parser.add_argument("-o", "--output", type=Path, help="save the classifier here, and the one network beside it")
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--only", choices=["nbr", "one", "svm"])
    chosen = parser.parse_args()
    main(chosen.data, tuple(chosen.labels), chosen.output, chosen.epochs, chosen.only)
