"""A table larger than memory: rows drawn from a trained model, scored, and the model found again from them.

python benchmarks/large_tables.py TRAIN.csv VALID.csv --folder FOLDER

The folder gets the model, 20 million rows of it, and the model found; what is there already is kept. Commands run one
after the other, each in a process of its own whose memory is measured. Figures go to docs/results/large-tables.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch

import nbr
from nbr.density.likelihood import log_weights
from nbr.points.numbered import numbered_points

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "large-tables.json"
RULES = "4"


def run(*words: object) -> dict[str, Any]:
    """A command of nbr: its JSON if it prints any, seconds and peak memory."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "nbr", *map(str, words)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, words
    told = json.loads(said) if said.strip() else {}
    return {"told": told, "seconds": time.perf_counter() - began, "peak_megabytes": usage.ru_maxrss / 1024}


def chances(path: Path) -> torch.Tensor:
    """The probability of every point."""
    model = nbr.load(path)
    listed = numbered_points(model.world)
    assert listed is not None
    weights = log_weights(model.model, listed)
    assert weights is not None
    return torch.log_softmax(weights, 0)


def apart(truth: Path, found: Path) -> dict[str, float]:
    """How far two models are from each other: in nats, and in the probability of each column and pair of columns."""
    one, two = chances(truth), chances(found)
    points = torch.cartesian_prod(*[torch.arange(2.0, dtype=torch.float64)] * 16)
    pairs = [points.T @ (points * each.exp()[:, None]) for each in (one, two)]
    return {
        "kl_nats": float((one.exp() * (one - two)).sum()),
        "entropy_nats": float(-(one.exp() * one).sum()),
        "largest_difference_of_a_pair": float((pairs[0] - pairs[1]).abs().max()),
        "total_variation": float((one.exp() - two.exp()).abs().sum() / 2),
    }


def main(train: Path, valid: Path, folder: Path, count: int, steps: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    truth, rows, found = folder / "truth.nbr", folder / "rows.parquet", folder / "found.nbr"
    held = folder / "held.parquet"
    told: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not truth.exists():
        run("fit", train, "--valid", valid, "--rules", RULES, "-o", truth, "--json")
    if not rows.exists():
        told["sample"] = run("sample", truth, "-n", count, "--seed", 1, "-o", rows)
        told["rows"], told["file_megabytes"] = count, rows.stat().st_size / 2**20
    if not held.exists():
        run("sample", truth, "-n", count // 20, "--seed", 2, "-o", held)
    if "score" not in told:
        told["score"] = run("score", truth, rows, "--json")
        told["score"]["rows_per_second"] = count / told["score"]["seconds"]
    if steps and not found.exists():
        told["fit"] = run(
            "fit", rows, "--valid", held, "--rules", RULES, "--steps", steps, "--seed", 1, "-o", found, "--json"
        )
    if found.exists():
        told["found"] = apart(truth, found)
        told["score_of_found"] = run("score", found, rows, "--json")["told"]
    RESULTS.write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("valid", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--steps", type=int, default=1500, help="of training; 0 leaves it out")
    given = parser.parse_args()
    main(given.train, given.valid, given.folder, given.rows, given.steps)
