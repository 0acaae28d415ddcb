"""What belief and memories add: one network, NBR without memories, and NBR, trained alike.

python benchmarks/ablations.py                  30 epochs, three seeds, three pairs; a run that was stopped goes on
python benchmarks/ablations.py --epochs 120     the default of RobustClassifier

The same epochs, batches, losses, changes of pictures and widths for all; NBR without memories is trained without them,
not only judged without them. Test images are looked at once for each run.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import nbr
from nbr import datasets

RESULTS = Path(__file__).parent.parent / "docs" / "results"
PAIRS = {"4 and 9": ("mnist", (4, 9)), "3 and 8": ("mnist", (3, 8)), "pullover and coat": ("fashion_mnist", (2, 4))}
RADII = (1.0, 1.58, 2.0)
Figures = dict[str, float]


def made(kind: str, seed: int, epochs: int, checkpoint: Path) -> Any:
    same = {"epochs": epochs, "box": (0, 1), "random_state": seed, "verbose": True, "checkpoint": checkpoint}
    if kind == "one network":
        shape = nbr.RobustClassifier()
        return nbr.NonexpansiveClassifier(2.0, widths=(shape.width,) * shape.depth, **same)
    return nbr.RobustClassifier(2.0, memories=kind == "NBR", discount=False, **same)


def measured(kind: str, pair: str, seed: int, epochs: int, checkpoint: Path) -> Figures:
    name, labels = PAIRS[pair]
    load = getattr(datasets, name)
    (X, y), (Z, z) = load(labels, "train"), load(labels, "test")
    start = time.process_time()
    classifier = made(kind, seed, epochs, checkpoint).fit(X, y)
    seconds = time.process_time() - start
    right, radius = classifier.predict(Z) == z, classifier.certified_radius(Z)
    proved = {str(eps): round(float((right & (radius > eps)).mean()), 4) for eps in RADII}
    return {"right": round(float(right.mean()), 4), **proved, "seconds": round(seconds)}


def main(epochs: int, seeds: int) -> None:
    path = RESULTS / f"ablations-{epochs}.json"
    known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"epochs": epochs, "runs": {}}
    for seed in range(seeds):
        for pair in PAIRS:
            for kind in ("one network", "NBR without memories", "NBR"):
                key = f"{pair}, seed {seed}, {kind}"
                if key not in known["runs"]:
                    known["runs"][key] = measured(kind, pair, seed, epochs, RESULTS / "ablations.part")
                    known["means"] = means(known["runs"])
                    path.write_text(json.dumps(known, indent=1) + "\n")
                    print(key, known["runs"][key], flush=True)


def means(runs: dict[str, Figures]) -> dict[str, dict[str, str]]:
    """Of each pair and kind over its seeds, with the smallest and the largest."""
    found: dict[str, dict[str, str]] = {}
    for key in runs:
        pair, _, kind = key.split(", ")
        mine = [run for other, run in runs.items() if other.split(", ")[::2] == [pair, kind]]
        told = {name: np.array([run[name] for run in mine]) for name in ("right", *map(str, RADII))}
        found[f"{pair}, {kind}"] = {
            name: f"{100 * v.mean():.1f} ({100 * v.min():.1f} to {100 * v.max():.1f}, {len(v)} seeds)"
            for name, v in told.items()
        }
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args()
    main(chosen.epochs, chosen.seeds)
