"""Rows that weigh differently: shares of the weighted table, and no more rows than they are worth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from command import run
from nbr import tables


@pytest.fixture
def survey() -> tables.Table:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.integers(0, 2, 4000), "w": random.uniform(0.5, 3, 4000)})
    frame.loc[frame.a == 1, "w"] *= 2
    return tables.read(frame, columns={"w": "real"})


def test_a_column_of_weights(survey: tables.Table) -> None:
    weights, a = survey.codes[:, 1], survey.codes[:, 0]
    found = tables.weighed(survey, "w")
    assert found.world.names == ("a",)
    assert len(found) == round(float(weights.sum() ** 2 / (weights**2).sum()))
    assert float(found.codes.mean()) == pytest.approx(float((weights * a).sum() / weights.sum()), abs=0.005)
    assert "rows are worth" in found.notes[-1]
    assert torch.equal(tables.weighed(survey, "w").codes, found.codes)


def test_no_row_comes_more_than_once_too_often() -> None:
    table = tables.Table(nbr.World(x=nbr.Real(0, 99, step=1)), torch.arange(100.0).double()[:, None])
    weights = np.random.default_rng(1).uniform(0.1, 5, 100)
    found = tables.repeated(table, weights)
    counts = torch.bincount(found.codes[:, 0].long(), minlength=100).numpy()
    wanted = weights / weights.sum() * len(found)
    assert (np.abs(counts - wanted) < 1).all()
    assert counts.sum() == len(found) == round(weights.sum() ** 2 / (weights**2).sum())
    times = np.arange(100)
    assert tables.repeated(table, times).codes[:, 0].tolist() == np.repeat(times, times).tolist()


@pytest.mark.parametrize(
    "weights", [np.zeros(100), np.full(100, -1.0), np.full(100, np.nan), np.ones(3), np.ones((100, 1))]
)
def test_weights_that_are_none(weights: np.ndarray) -> None:
    table = tables.Table(nbr.World(x=nbr.Real(0, 99, step=1)), torch.arange(100.0).double()[:, None])
    with pytest.raises(nbr.NbrError, match="weights"):
        tables.repeated(table, weights)


def test_fit_takes_a_column_of_weights(survey: tables.Table) -> None:
    frame = pd.DataFrame({"a": survey.codes[:, 0].long(), "w": survey.codes[:, 1]})
    model = nbr.fit(frame, "clauses", weight="w")
    assert model.world.names == ("a",)
    wanted = float((frame.w * frame.a).sum() / frame.w.sum())
    found = model.probability("a")
    assert found.value == pytest.approx(wanted, abs=0.01)
    assert found.rows == len(tables.weighed(survey, "w"))
    with pytest.raises(nbr.NbrError, match="'v'"):
        nbr.fit(frame, "clauses", weight="v")


def test_the_command_line_takes_a_column_of_weights(tmp_path: Path) -> None:
    """Whole numbers, which would be codes or a count without a word."""
    rows = [f"{a},{w}" for a, w in ((1, 30), (0, 10)) for _ in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,w", *rows]))
    done = run("fit", tmp_path / "rows.csv", "--weight", "w", "--rules", "clauses", "-o", tmp_path / "m.nbr", "--json")
    assert done.returncode == 0, done.stderr
    assert "120 rows are worth 96 of equal weight" in done.stderr
    told = json.loads(run("ask", tmp_path / "m.nbr", "a", "--json").stdout)["probability"]
    assert told["value"] == pytest.approx(0.75, abs=0.02)
    assert told["rows"] == 96
