"""A table of bits as a density: ours beside peers, trained on train.csv, chosen on valid.csv, scored on test.csv."""

from __future__ import annotations

import time
from pathlib import Path

import density_peers
from measure import Row
from nbr import tables
from nbr.density.likelihood import score
from nbr.learning.fitting import fit_report


def run(data: Path) -> list[Row]:
    start = time.perf_counter()
    fitted = fit_report(data / "train.csv", valid=data / "valid.csv")
    scored = score(fitted.reasoner, tables.read(data / "test.csv", fitted.reasoner.world))
    seconds = time.perf_counter() - start
    assert fitted.held_out is not None
    valid = fitted.held_out.log_likelihood
    note = f"test log-likelihood {scored.mean:.4f}, {len(fitted.reasoner.rules)} rules, valid {valid:.4f}"
    ours: Row = {"name": f"nbr fit, {data.name}", "ours_seconds": seconds, "note": note}
    return [ours, *density_peers.run(data)]
