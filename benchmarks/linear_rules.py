"""Is the robust classifier ever worse than a logistic regression with its exact margin? Three tables, five seeds.

python benchmarks/linear_rules.py [-o docs/results/linear-rules.json] [--seeds 5]

Thirty per cent of the rows are for testing, columns are standardised, and epsilon is "auto". What is proved at that
radius and at twice it, beside the margins of a logistic regression of scikit-learn as it comes (C = 1).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import nbr

TABLES = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


def main(seeds: int, output: Path | None) -> None:
    report = {}
    for name, load in TABLES.items():
        rows = [one(load, seed) for seed in range(seeds)]
        means = {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0] if key != "chosen"}
        report[name] = {"mean": means, "rows": rows}
        print(name, json.dumps(means), [row["chosen"] for row in rows], flush=True)
    if output is not None:
        output.write_text(json.dumps(report, indent=1) + "\n")


def one(load, seed: int) -> dict:
    X, y = load(return_X_y=True)
    X, Z, y, z = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(X)
    X, Z = scaler.transform(X), scaler.transform(Z)
    start = time.perf_counter()
    ours = nbr.RobustClassifier("auto", random_state=seed).fit(X, y)
    middle = time.perf_counter()
    plain = LogisticRegression(max_iter=1000).fit(X, y)
    end = time.perf_counter()
    epsilon = ours.recipe_["epsilon"]
    found = {"seed": seed, "epsilon": epsilon, "chosen": next(iter(ours.contents()))}
    for word, model in (("ours", ours), ("logistic regression", plain)):
        right, radius = model.predict(Z) == z, nbr.certified_radius(model, Z)
        found |= {
            f"{word}, right": float(right.mean()),
            f"{word}, at epsilon": float((right & (radius > epsilon)).mean()),
            f"{word}, at 2 epsilon": float((right & (radius > 2 * epsilon)).mean()),
        }
    return {**found, "seconds": round(middle - start, 2), "seconds of the regression": round(end - middle, 4)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args()
    main(chosen.seeds, chosen.output)
