"""Priors alone on tables of bits: learned from train.csv, chosen on valid.csv, scored on test.csv."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from nbr import World, priors, tables


def run(data: Path, seed: int = 0) -> None:
    columns = np.loadtxt(data / "train.csv", delimiter=",", max_rows=1).shape[0]
    parts = {part: tables.read(data / f"{part}.csv", World.bits(columns)) for part in ("train", "valid", "test")}
    for components in (1, None):
        start = time.perf_counter()
        prior = priors.trees(parts["train"], components, valid=parts["valid"], seed=seed)
        seconds = time.perf_counter() - start
        found = {part: float(prior.log_prob(table.codes).mean()) for part, table in parts.items()}
        said = ", ".join(f"{part} {value:.4f}" for part, value in found.items())
        print(f"{data.name}: {len(prior.trees)} trees, {said}, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        run(Path(folder))
