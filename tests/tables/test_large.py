"""Tables read some rows at a time: the same world, rows, counts, scores and models as read as a whole."""

import datetime
import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from command import run
from nbr import priors, tables
from nbr.app import sampling
from nbr.density.likelihood import score, score_large
from nbr.learning import objectives
from nbr.learning.bank import Bank
from nbr.learning.splitting import split
from nbr.tables import Table, large, parquet
from small_table import WORLD, holed, rows


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large here."""
    monkeypatch.setattr("nbr.tables.large.ROWS", 50)
    monkeypatch.setattr(parquet, "BATCH", 37)


def mixed(count: int = 300) -> pd.DataFrame:
    """Every kind of column, with holes, numbers of few and of many values, and an identifier."""
    source = np.random.default_rng(0)
    days = [datetime.date(2021, 3, 1) + datetime.timedelta(int(day)) for day in source.integers(0, 90, count)]
    frame = pd.DataFrame(
        {
            "key_id": np.arange(100, 100 + count),
            "flag": source.integers(0, 2, count).astype(bool),
            "told": pd.array(source.integers(0, 2, count), dtype="Int64"),
            "label": pd.Series(source.choice(["red", "green", "NA", "dark blue"], count)),
            "number": source.normal(size=count).round(3),
            "count": source.integers(0, 30, count),
            "kind": pd.Categorical(source.choice(["a", "b", "c"], count)),
            "day": days,
        }
    )
    frame.loc[::7, "told"] = pd.NA
    frame.loc[::5, "number"] = np.nan
    frame.loc[3, "label"] = None
    return frame


def test_streamed_and_whole_are_the_same(tmp_path: Path) -> None:
    mixed().to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    whole = tables.read(tmp_path / "rows.parquet")
    streamed = large.open_large(tmp_path / "rows.parquet")
    assert streamed.world == whole.world
    assert list(whole.world.variables) == ["flag", "told", "label", "number", "count", "kind", "day"]
    assert sorted(streamed.notes) == sorted(whole.notes)
    assert [piece.rows for _, piece in streamed.pieces] == [70, 70, 70, 70, 20]
    codes = torch.cat([part for place in streamed.pieces for part in streamed.codes(place)])
    torch.testing.assert_close(codes, whole.codes, equal_nan=True, rtol=0, atol=0)
    said = {"columns": {"count": "choice"}, "drop": ["label"], "na": ["2.5", "3"]}
    assert (
        large.open_large(tmp_path / "rows.parquet", **said).world
        == tables.read(tmp_path / "rows.parquet", **said).world
    )


def test_many_values_of_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where values are too many to be kept, kind and ends are still those of all rows."""
    mixed().to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    monkeypatch.setattr(parquet, "DISTINCT", 40)
    found, whole = large.open_large(tmp_path / "rows.parquet").world, tables.read(tmp_path / "rows.parquet").world
    assert found.variables["number"] == whole.variables["number"]
    assert found.variables["count"] == whole.variables["count"]
    assert "key_id" not in found.variables


def test_a_folder_is_one_table(tmp_path: Path) -> None:
    frame = mixed()
    (tmp_path / "rows").mkdir()
    for at, start in enumerate(range(0, 300, 100)):
        frame[start : start + 100].to_parquet(tmp_path / "rows" / f"part-{at}.parquet")
    (tmp_path / "rows" / "_about.parquet").write_text("not a table")
    found = large.open_large(tmp_path / "rows")
    frame.to_parquet(tmp_path / "rows.parquet")
    assert found.rows == 300
    assert found.world == large.open_large(tmp_path / "rows.parquet").world
    frame[["flag", "count"]].to_parquet(tmp_path / "rows" / "part-3.parquet")
    with pytest.raises(nbr.NbrError, match="part-3.parquet: its columns are not those of"):
        large.open_large(tmp_path / "rows")


@pytest.fixture
def stored(tmp_path: Path) -> tuple[Path, torch.Tensor]:
    """Rows with holes and with a label that the world does not have."""
    codes = holed(rows(400), 0.1)
    frame = tables.frame(WORLD, codes.nan_to_num())
    frame = frame.astype(object).where(~codes.isnan().numpy(), None)
    frame.loc[11, "b"] = "never seen"
    frame.astype({"b": "string", "n": "string"}).to_parquet(tmp_path / "rows.parquet", row_group_size=150)
    codes[11, 1] = -1.0
    return tmp_path / "rows.parquet", codes


def test_counted_rows_are_the_rows(stored: tuple[Path, torch.Tensor]) -> None:
    path, codes = stored
    found = large.open_large(path, WORLD).counted()
    assert found is not None
    assert found.counts is not None
    assert (found.rows, len(found)) == (400, len(torch.unique(codes.nan_to_num(nan=9), dim=0)))
    whole, again = Table(WORLD, codes), found.codes.repeat_interleave(found.counts, dim=0)
    assert sorted(again.nan_to_num(nan=9).tolist()) == sorted(codes.nan_to_num(nan=9).tolist())
    assert (found.views(), found.view_rows(), found.together) == (whole.views(), whole.view_rows(), whole.together)
    parts = split(found, seed=3)
    assert parts.test is not None
    assert [part.rows for part in (parts.train, parts.valid, parts.test, parts.every)] == [320, 40, 40, 400]
    some, counts = objectives.distinct_rows(parts.every)
    every, total = objectives.distinct_rows(whole)
    assert torch.equal(some, every)
    assert torch.equal(counts, total)
    bank = Bank(WORLD, [WORLD.names], rules=2, width=4, seed=0)
    both = [objectives.objective(bank, priors.uniform(WORLD), {"train": each}, 0) for each in (found, whole)]
    assert both[0].mean(bank, "train") == pytest.approx(both[1].mean(bank, "train"), abs=1e-6)
    few = found.one_by_one()
    assert (few.counts, len(few)) == (None, 400)


def test_a_model_of_counted_rows_is_that_of_the_rows(tmp_path: Path) -> None:
    tables.frame(WORLD, rows(300)).to_parquet(tmp_path / "rows.parquet")
    tables.frame(WORLD, rows(100, seed=1)).to_parquet(tmp_path / "valid.parquet")
    settings = {"rules": 1, "steps": 30, "seed": 0, "width": 8}
    counted = nbr.fit(tmp_path / "rows.parquet", valid=tmp_path / "valid.parquet", world=WORLD, **settings)
    both = [Table(WORLD, rows(300)), Table(WORLD, rows(100, seed=1))]
    whole = nbr.fit(both[0], valid=both[1], **settings)
    torch.testing.assert_close(counted.beliefs, whole.beliefs, atol=1e-6, rtol=0)


def test_scores(stored: tuple[Path, torch.Tensor], monkeypatch: pytest.MonkeyPatch) -> None:
    path, codes = stored
    model = nbr.Reasoner(WORLD, [nbr.Clause("a -> b=w", 0.7), nbr.Clause("c", 0.3)], prior=priors.uniform(WORLD))
    whole = score(model.model, Table(WORLD, codes))
    streamed = score_large(model.model, large.open_large(path, WORLD))
    assert (streamed.rows, streamed.exact) == (400, True)
    assert streamed.mean == pytest.approx(whole.mean, abs=1e-12)
    monkeypatch.setattr("nbr.density.likelihood.numbered_points", lambda world: None)  # as where a world is too large
    monkeypatch.setattr("nbr.tables.tally.numbered_points", lambda world, most: None)
    monkeypatch.setattr("nbr.density.likelihood.ROWS", 90)
    drawn = score_large(model.model, large.open_large(path, WORLD), seed=1)
    assert drawn.mean == pytest.approx(whole.mean, abs=0.02)
    assert drawn.error == pytest.approx(score(model.model, Table(WORLD, codes), 1).error, rel=0.1)


def test_rows_are_drawn_where_they_cannot_be_counted(tmp_path: Path) -> None:
    mixed().to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    found = large.open_large(tmp_path / "rows.parquet")
    assert found.counted() is None
    some = found.drawn(20, seed=0)
    whole = tables.read(tmp_path / "rows.parquet").codes.nan_to_num(nan=-9).tolist()
    assert len(some) == 20
    assert all(row in whole for row in some.codes.nan_to_num(nan=-9).tolist())
    assert some.notes[-1] == "20 of 300 rows, drawn at random"
    assert torch.equal(found.drawn(999, 0).codes.nan_to_num(nan=-9), torch.tensor(whole, dtype=torch.float64))


def test_samples_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "ROWS", 100)
    for jobs in ("1", "2"):
        with joblib.parallel_config(backend="sequential"):
            for ending in ("csv", "parquet"):
                words = ["sample", "examples/garden.toml", "-n", 250, "--given", "rain", "--jobs", jobs]
                assert run(*words, "-o", tmp_path / f"{jobs}.{ending}").returncode == 0
    for ending in ("csv", "parquet"):
        assert (tmp_path / f"1.{ending}").read_bytes() == (tmp_path / f"2.{ending}").read_bytes()
    rows, text = pd.read_parquet(tmp_path / "1.parquet"), pd.read_csv(tmp_path / "1.csv")
    assert rows.astype(str).equals(text.astype(str))
    assert (len(rows), set(rows["rain"])) == (250, {1})
    assert not rows[:100].reset_index(drop=True).equals(rows[100:200].reset_index(drop=True))
    one = nbr.load("examples/garden.toml").sample(100, "rain", seed=0)
    assert rows[:100].astype(str).equals(one.astype(str))


def test_commands(tmp_path: Path) -> None:
    tables.frame(WORLD, rows(200)).to_parquet(tmp_path / "rows.parquet")
    model = tmp_path / "m.nbr"
    told = run("fit", tmp_path / "rows.parquet", "-o", model, "--rules", 1, "--steps", 20, "--json")
    assert json.loads(told.stdout)["rows"] == 200
    scored = json.loads(run("score", model, tmp_path / "rows.parquet", "--json", "--jobs", 1).stdout)
    assert scored["rows"] == 200
    expected = nbr.load(model).log_prob(Table(nbr.load(model).world, rows(200))).mean()
    assert scored["mean_log_likelihood"] == pytest.approx(float(expected), abs=1e-9)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.parquet").write_text("nothing")
    (tmp_path / "book.xlsx").write_text("no workbook")
    for paths, words in [
        (["empty"], "there is no Parquet file in this folder"),
        (["broken.parquet"], "cannot read it as Parquet"),
        (["rows.parquet", "book.xlsx"], "others have to be CSV or Parquet files"),
    ]:
        found = run("score", model, *[tmp_path / path for path in paths])
        assert found.returncode == 2
        assert words in found.stderr
        assert len(found.stderr.splitlines()) == 1
    assert run("score", model, tmp_path / "rows.parquet", "--rows", 3).returncode == 2
