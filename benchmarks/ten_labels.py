"""All ten digits at once: nonexpansive networks as rules on binary frames, each digit against the rest.

python benchmarks/ten_labels.py         two networks at a time
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread for each of two networks trained side by side

import numpy as np

import nbr
from nbr import datasets
from nbr.classify import frames


def main(epsilon: float, epochs: int, width: int, held: int, jobs: int) -> None:
    (X, y), (Z, z) = datasets.mnist(part="train"), datasets.mnist(part="test")
    if held:  # for choosing settings: the test part is not looked at
        X, y, Z, z = X[:-held], y[:-held], X[-held:], y[-held:]
    network = nbr.NonexpansiveClassifier(
        epsilon, widths=(width,) * 4, epochs=epochs, batch_size=512, box=(0, 1), random_state=0, augment=0.5
    )
    start = time.perf_counter()
    rules = [(network, frame) for frame in frames.rest(range(10))]
    classifier = nbr.BeliefClassifier(rules, held_out=0, n_jobs=jobs, random_state=0).fit(X, y)
    trained = time.perf_counter() - start
    right, radius = classifier.predict(Z) == z, classifier.certified_radius(Z)
    interval = classifier.belief(Z[:2000])
    told = {
        "images": len(z),
        "natural": float(right.mean()),
        "proved": {str(eps): float((right & (radius > eps)).mean()) for eps in (0.5, 1.0, 1.58, 2.0)},
        "mean_width_of_the_interval": float(np.mean(interval[..., 1] - interval[..., 0])),
        "beliefs": classifier.beliefs_.tolist(),
        "settings": {"epsilon": epsilon, "epochs": epochs, "width": width},
        "seconds": round(trained),
    }
    print(json.dumps(told, indent=1))
    if not held:
        path = Path(__file__).parent.parent / "docs" / "results" / "ten-labels.json"
        path.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, default=1.58)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--held", type=int, default=0, help="measure on this many training images instead")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    main(chosen.epsilon, chosen.epochs, chosen.width, chosen.held, chosen.jobs)
