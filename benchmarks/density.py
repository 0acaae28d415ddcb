"""Tables of bits as densities: ours by several seeds, beside its prior alone and peers, in one run.

    python benchmarks/density.py DATA/nltcs [--seeds 5] [--erased 0.3] [--prior trees] [--models FOLDER]

Everything learns from train.csv, valid.csv says when to stop and how much of it there should be, and test.csv is only
scored. With --erased, that share of the cells of train.csv and valid.csv is hidden at random first, and test rows stay
whole. Writes docs/results/density-NAME.json. Peers need `pip install '.[peers]'`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import density_peers
from measure import Row
from nbr import tables
from nbr.density.likelihood import Score, score
from nbr.learning.fitting import fit_report
from nbr.priors import trees

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def read(data: Path, erased: float = 0.0, seed: int = 0) -> dict[str, np.ndarray]:
    """The three parts; some cells of the first two hidden."""
    parts = {name: np.loadtxt(data / f"{name}.csv", delimiter=",") for name in ("train", "valid", "test")}
    random = np.random.default_rng(seed)
    for name in ("train", "valid"):
        parts[name][random.random(parts[name].shape) < erased] = np.nan
    return parts


def run(data: Path, seeds: int = 1, erased: float = 0.0, models: Path | None = None, prior: str = "auto") -> list[Row]:
    rows: list[Row] = []
    for seed in range(seeds):
        parts = read(data, erased, seed)
        start = time.perf_counter()
        fitted = fit_report(parts["train"], prior=prior, valid=parts["valid"], seed=seed)
        model = fitted.reasoner
        test = tables.read(parts["test"], model.world)
        scored = score(model.model, test)
        seconds = time.perf_counter() - start
        assert fitted.held_out is not None
        note = f"{_said(scored)}, {len(model.rules)} rules, {fitted.prior}; valid {fitted.held_out.log_likelihood:.4f}"
        rows.append(_row(f"nbr fit, seed {seed}", data, scored, seconds, note))
        if models is not None:
            models.mkdir(parents=True, exist_ok=True)
            model.save(models / f"{data.name}-{seed}.nbr")
    parts = read(data, erased)
    start = time.perf_counter()
    train, valid, test = (tables.read(parts[name], model.world) for name in ("train", "valid", "test"))
    known = trees(train, valid=valid)
    alone = Score(known.log_prob(test.codes), True)
    rows.append(
        _row("trees alone", data, alone, time.perf_counter() - start, f"{_said(alone)}, {len(known.trees)} trees")
    )
    return [*rows, *density_peers.run(parts, data.name)]


def _row(name: str, data: Path, scored: Score, seconds: float, note: str) -> Row:
    row: Row = {"name": f"{name}, {data.name}", "ours_seconds": seconds, "test": scored.mean, "note": note}
    print(f"{row['name']}: {note}, {seconds:.0f} s", flush=True)
    return row


def _said(scored: Score) -> str:
    error = float(scored.log_prob.std()) / len(scored.log_prob) ** 0.5
    normaliser = "exact" if scored.exact else f"normaliser known to {scored.error:.4f}"
    return f"test log-likelihood {scored.mean:.4f} (standard error {error:.3f}; {normaliser})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder with train.csv, valid.csv and test.csv, bits without header")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--erased", type=float, default=0.0)
    parser.add_argument("--prior", default="auto")
    parser.add_argument("--models", type=Path, help="where to keep the models")
    asked = parser.parse_args()
    found = run(asked.data, asked.seeds, asked.erased, asked.models, asked.prior)
    ours = [row["test"] for row in found[: asked.seeds]]
    print(f"mean of {asked.seeds} seeds: {np.mean(ours):.4f}, from {min(ours):.4f} to {max(ours):.4f}")
    name = f"density-{asked.data.name}" + (f"-erased-{round(100 * asked.erased)}" if asked.erased else "")
    name += f"-{asked.prior}" if asked.prior != "auto" else ""
    told = {
        "erased": asked.erased,
        "prior": asked.prior,
        "seeds": asked.seeds,
        "mean": float(np.mean(ours)),
        "rows": found,
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n")
