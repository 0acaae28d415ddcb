"""A table of bits as a density: ours beside its prior alone and peers, in one run.

Everything learns from train.csv, valid.csv says when to stop and how much of it there should be, and test.csv is only
scored.
"""

from __future__ import annotations

import time
from pathlib import Path

import density_peers
from measure import Row
from nbr import tables
from nbr.density.likelihood import Score, score
from nbr.learning.fitting import fit_report
from nbr.priors import trees


def run(data: Path) -> list[Row]:
    train, valid = data / "train.csv", data / "valid.csv"
    start = time.perf_counter()
    fitted = fit_report(train, valid=valid)
    model = fitted.reasoner
    test = tables.read(data / "test.csv", model.world)
    scored = score(model.knowledge, model.prior, test)
    seconds = time.perf_counter() - start
    assert fitted.held_out is not None
    how = f"{len(model.rules)} rules, {fitted.prior}; valid {fitted.held_out.log_likelihood:.4f}"
    ours: Row = {"name": f"nbr fit, {data.name}", "ours_seconds": seconds, "note": f"{_said(scored)}, {how}"}
    start = time.perf_counter()
    prior = trees(tables.read(train, model.world), valid=tables.read(valid, model.world))
    alone = prior.log_prob(test.codes)
    seconds = time.perf_counter() - start
    note = f"{_said(Score(alone, True))}, {len(prior.trees)} trees"
    return [
        ours,
        {"name": f"trees alone, {data.name}", "ours_seconds": seconds, "note": note},
        *density_peers.run(data),
    ]


def _said(scored: Score) -> str:
    error = float(scored.log_prob.std()) / len(scored.log_prob) ** 0.5
    normaliser = "exact" if scored.exact else f"normaliser known to {scored.error:.4f}"
    return f"test log-likelihood {scored.mean:.4f} (standard error {error:.3f}; {normaliser})"
