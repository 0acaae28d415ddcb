"""Tables from workbooks and databases, dates in words, and what comes back in the words of the table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nbr
from command import run
from nbr import dates, tables
from nbr.tables import database

QUERY = "select age, sex, day from people where age < 90"


@pytest.fixture
def people() -> pd.DataFrame:
    random = np.random.default_rng(0)
    age = random.integers(18, 100, 300)
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(random.integers(0, 300, 300), "D")
    return pd.DataFrame({"age": age, "sex": random.choice(["f", "m"], 300), "day": days.strftime("%b %-d %Y")})


@pytest.fixture(params=["SQLite", "DuckDB"])
def shop(people: pd.DataFrame, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "a shop?.db"
    if request.param == "SQLite":
        with closing(sqlite3.connect(path)) as connection:
            people.to_sql("people", connection, index=False)
        return path
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect(str(path))) as connection:
        connection.register("given", people)
        connection.execute("create table people as select * from given")
    return path


def test_a_query_is_a_table(shop: Path, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tables.read(people[people.age < 90].reset_index(drop=True))
    monkeypatch.setattr(database, "CHUNK", 17)
    found = tables.read(tables.queried(shop, QUERY))
    assert found.world == wanted.world
    assert sorted(found.codes.tolist()) == sorted(wanted.codes.tolist())
    monkeypatch.setattr(database, "SAMPLE", 50)
    some = tables.queried(shop, QUERY, seed=1)
    assert len(some) == 50
    assert some.equals(tables.queried(shop, QUERY, seed=1))
    assert not some.equals(tables.queried(shop, QUERY, seed=2))


@pytest.mark.parametrize(
    "query", ["drop table people", "delete from people", "attach 'x.db' as x", "selec", "select no"]
)
def test_a_query_only_reads(shop: Path, people: pd.DataFrame, query: str) -> None:
    with pytest.raises(nbr.NbrError, match="select statement"):
        tables.queried(shop, query)
    assert len(tables.queried(shop, "select * from people")) == len(people)
    assert sorted(path.name for path in shop.parent.iterdir()) == [shop.name]


def test_fit_asks_a_database(shop: Path, tmp_path: Path) -> None:
    done = run("fit", shop, "--query", QUERY, "--rules", "clauses", "-o", tmp_path / "m.nbr")
    assert done.returncode == 0, done.stderr
    assert nbr.load(tmp_path / "m.nbr").world.names == ("age", "sex", "day")
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    done = run("fit", tmp_path / "rows.csv", "--query", QUERY, "-o", tmp_path / "n.nbr")
    assert (done.returncode, "neither a SQLite nor a DuckDB file" in done.stderr) == (2, True)


def test_a_workbook(people: pd.DataFrame, tmp_path: Path) -> None:
    people.loc[3, "sex"] = None
    people.assign(day=pd.to_datetime(people.day)).to_excel(tmp_path / "people.xlsx", index=False)
    found, wanted = tables.read(tmp_path / "people.xlsx"), tables.read(people)
    assert found.world == wanted.world
    assert np.array_equal(found.codes.numpy(), wanted.codes.numpy(), equal_nan=True)
    (tmp_path / "bad.xlsx").write_text("no workbook")
    with pytest.raises(nbr.NbrError, match="cannot read it as a workbook"):
        tables.read(tmp_path / "bad.xlsx")


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("Jun 12 1998", "1998-06-12"),
        ("June 12, 1998", "1998-06-12"),
        ("12-Jun-1998", "1998-06-12"),
        ("12/Jun/1998", "1998-06-12"),
        ("Fri, 12 Jun 1998", "1998-06-12"),
        ("Friday, June 12, 1998", "1998-06-12"),
        ("1998.06.12", "1998-06-12"),
        ("Jun 12 1998 2:30 PM", "1998-06-12T14:30"),
        ("12.6.1998, 09:15", "1998-06-12T09:15"),
        ("13/4/2021 12:05 am", "2021-04-13T00:05"),
        ("Jun 31 1998", None),
        ("12 Jun 1998 25:00", None),
        ("1/2/2021 13:05 pm", None),
        ("version 1.2", None),
    ],
)
def test_dates_in_words(written: str, wanted: str | None) -> None:
    found = dates.read(written)
    assert (None if found is None else dates.show(*found)) == wanted


@pytest.mark.parametrize("form", ["%b %-d %Y", "%d.%m.%Y", "%-d.%-m.%Y", "%m/%d/%Y", "%A, %d %B %Y", "%Y-%m-%d"])
def test_filled_dates_are_spelt_as_their_column_spells_them(form: str) -> None:
    days = pd.date_range("2021-01-01", "2021-12-31")
    frame = pd.DataFrame({"day": days.strftime(form), "half": np.where(days.month > 6, "late", "early")})
    frame.loc[40, "day"] = None
    found = filled(frame).day
    assert pd.to_datetime(found[40], format=form.replace("%-", "%")).strftime(form) == found[40]
    assert found.drop(40).tolist() == frame.day.drop(40).tolist()


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    data = tables.read(frame)
    return nbr.Reasoner(data.world, prior=nbr.priors.marginals(data)).impute(frame)


def test_what_comes_back_is_the_table_with_its_holes_filled() -> None:
    """Every kind of column, with its words, type, index and place; where nothing was missing, nothing changed."""
    random = np.random.default_rng(0)
    rows = 60
    frame = pd.DataFrame(
        {
            "key": [f"p{number}" for number in range(rows)],
            "yes": random.choice(["Yes", "No"], rows),
            "flag": random.random(rows) < 0.5,
            "whole": pd.array(random.integers(0, 9, rows), dtype="Int64"),
            "number": random.normal(size=rows).round(2),
            "group": pd.Categorical(random.choice(["a", "b", "c"], rows), categories=["c", "a", "b"]),
            "label": random.choice(["red", "blue"], rows),
            "stamp": pd.Timestamp("2021-01-01") + pd.to_timedelta(random.integers(0, 99, rows), "D"),
            "day": [date(2021, 1, 1 + number % 28) for number in range(rows)],
        },
        index=pd.Index(random.permutation(rows) + 100, name="id"),
    )
    same = filled(frame)
    pd.testing.assert_frame_equal(same, frame)
    holed = frame.copy()
    holed["flag"] = holed["flag"].astype("boolean")
    for place, name in enumerate(frame.columns[1:]):
        holed.iloc[place + 1, holed.columns.get_loc(name)] = None
    found = filled(holed)
    assert found.index.equals(frame.index)
    assert found.columns.tolist() == frame.columns.tolist()
    assert not found.isna().any().any()
    for place, name in enumerate(frame.columns[1:]):
        value = found[name].iloc[place + 1]
        assert type(value) is type(found[name].iloc[place + 20]), name
        assert found[name].drop(found.index[place + 1]).tolist() == frame[name].drop(found.index[place + 1]).tolist()
        assert found[name].dtype == holed[name].dtype, name
    assert found.yes.isin(["Yes", "No"]).all()
    data = tables.read(frame)
    model = nbr.Reasoner(data.world, prior=nbr.priors.marginals(data))
    assert model.predict(frame, "yes").index.equals(frame.index)
    assert set(model.predict(frame, "yes").yes) <= {"Yes", "No"}  # as the table has it
    assert model.predict(frame, "flag").flag.dtype == bool
    assert set(model.predict(frame.drop(columns="yes"), "yes").yes) <= {0, 1}
