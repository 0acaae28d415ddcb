"""Samples beside the data they were learned from: quantiles, correlations, and frequencies under conditions.

    python benchmarks/samples.py

Skewed, zero-heavy and t-distributed columns: how far quantiles of a sample are from the data's, over the data's range
from the 5th to the 95th of 100. Breast cancer's 31 columns: how far correlations are. Under narrow conditions: how
often a statement holds in samples of five seeds, beside importance sampling from the prior without the condition, in
standard errors of the difference. Writes docs/results/samples.json.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn import datasets

import nbr
from nbr import tables
from nbr.language import parse

RESULTS = Path(__file__).parents[1] / "docs" / "results"
SHARES = np.array([0.05, *np.arange(0.1, 0.95, 0.1), 0.95])
DRAWN, SEEDS, INSIDE, OUTSIDE, TIMES = 20_000, 5, 4000, 1_000_000, 4


def odd(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Columns as people have them, all moved by one cause."""
    random = np.random.default_rng(seed)
    cause = random.normal(size=rows)
    cost = np.where(random.random(rows) < 0.7 - 0.1 * np.sign(cause), 0.0, random.exponential(900, rows).round(2))
    return pd.DataFrame(
        {
            "income": np.exp(10 + 0.6 * cause + 0.5 * random.normal(size=rows)).round(),
            "cost": cost,
            "change": (0.5 * cause + random.standard_t(2, rows)).round(4),
            "visits": random.poisson(np.exp(0.5 * cause)),
            "smokes": random.random(rows) < 1 / (1 + np.exp(-cause)),
        }
    )


def quantiles(frame: pd.DataFrame, drawn: pd.DataFrame, names: list[str]) -> dict[str, float]:
    wanted, found = (each[names].quantile(SHARES).to_numpy() for each in (frame, drawn))
    off = np.abs(found - wanted) / (wanted[-1] - wanted[0])
    return dict(zip(names, off.max(axis=0).round(4).tolist(), strict=True))


def correlations(model: nbr.Reasoner, frame: pd.DataFrame) -> dict[str, float]:
    data, drawn = (tables.read(each, model.world).codes.numpy() for each in (frame, model.sample(DRAWN, seed=0)))
    gap = np.abs(np.corrcoef(data.T) - np.corrcoef(drawn.T))[np.triu_indices(data.shape[1], 1)]
    return {"mean_off_by": float(gap.mean()), "within_0.1": float((gap < 0.1).mean()), "worst": float(gap.max())}


def conditional(model: nbr.Reasoner, question: str, given: str) -> dict[str, object]:
    """Five samples under a condition beside importance sampling, which draws without it and weighs by the rules."""

    generator, world = torch.Generator().manual_seed(99), model.world
    assert model.prior is not None
    found = []
    for _ in range(TIMES):
        points = model.prior.sample(OUTSIDE, generator)
        found.append(points[parse(given).holds(world, points)])
    met = torch.cat(found)
    weights = model.keep(met).numpy()
    yes = parse(question).holds(world, met).numpy()
    value = float((weights * yes).sum() / weights.sum())
    error = math.sqrt(float((weights**2 * (yes - value) ** 2).sum())) / float(weights.sum())
    asked, shares, off = parse(question), [], []
    for seed in range(SEEDS):
        rows = tables.read(model.sample(INSIDE, given=given, seed=seed), world).codes
        share = float(asked.holds(world, rows).double().mean())
        shares.append(round(share, 4))
        off.append(round(abs(share - value) / math.hypot(error, math.sqrt(value * (1 - value) / INSIDE)), 2))
    told = {"question": question, "given": given, "importance": round(value, 4), "error": round(error, 4)}
    return {**told, "met": len(met), "samples": shares, "standard_errors_off": off}


def main() -> None:
    frame, start = odd(), time.perf_counter()
    model = nbr.fit(frame, seed=0)
    told: dict[str, object] = {"odd_fit_seconds": round(time.perf_counter() - start, 1)}
    told["quantiles_off_by"] = quantiles(frame, model.sample(DRAWN, seed=0), ["income", "cost", "change"])
    told["conditions"] = [
        conditional(model, "smokes", "income>=20000, income<=20500"),
        conditional(model, "smokes", "change>=2.9, change<=3.1"),
        conditional(model, "cost=0", "visits=4, income>=30000"),
        conditional(model, "visits>=2", "cost>=1000, cost<=1100"),
    ]
    print(json.dumps(told, indent=1), flush=True)
    loaded = datasets.load_breast_cancer(as_frame=True)
    cancer, start = loaded.frame, time.perf_counter()
    model = nbr.fit(cancer, seed=0)
    told["breast_cancer_fit_seconds"], start = round(time.perf_counter() - start, 1), time.perf_counter()
    told["breast_cancer"] = correlations(model, cancer)
    told["breast_cancer_sample_seconds"] = round(time.perf_counter() - start, 1)
    print(json.dumps(told["breast_cancer"]), flush=True)
    RESULTS.joinpath("samples.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
