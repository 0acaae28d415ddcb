"""Every kind of column that people have: what is inferred, what is said of it, and how to say otherwise."""

import math

import pandas as pd
import pytest
import torch
from sklearn import datasets

import nbr
from nbr import priors, tables
from nbr.world import Bit, Choice, Real

LABELS = [f"l{i:03}" for i in range(500)]
COLUMNS = {  # cells, the kind or None if left out, words of the note
    "yes and no": (["yes", "no", "Yes", ""], Bit(), "Yes, yes as 1; no as 0"),
    "true and false": (["True", "False", "true"], Bit(), "True, true as 1; False as 0"),
    "on and off": (["off", "on", "off"], Bit(), "on as 1; off as 0"),
    "Y and N": (["N", "Y", "Y"], Bit(), "Y as 1; N as 0"),
    "t and f": (["t", "f"], Bit(), "t as 1; f as 0"),
    "no and 1": (["no", "1", "1"], Bit(), "no as 0"),
    "a constant": (["red", "red", "red"], Choice("red"), "always 'red'"),
    "always 0": (["0", "0", "0"], Bit(), "always '0'"),
    "always 7": (["7", "7.0", "7"], Choice("7"), "always '7'"),
    "empty": (["", "NA", "?"], None, "empty, left out"),
    "holes in words": (["1.5", "NA", "2.5", "n/a", "?", "-", "None"], Real(1.5, 2.5), "'-', '?', 'NA', 'n/a' read as"),
    "none is a label": (["none", "mild", "severe"], Choice("mild", "none", "severe"), ""),
    "per cent": (["12%", "7.5%", "100%"], Real(7.5, 100), "per cent signs left out"),
    "thousands": (["1,234", "12,000", "7"], Real(7, 12000, step=1), "commas between thousands left out"),
    "counts": (["0", "3", "2", "7", "1"], Real(0, 7, step=1), "whole numbers, from 0 to 7"),
    "rounded": (
        [str(25 * i) for i in range(40, 70)],
        Real(1000, 1725, step=25),
        "whole numbers in steps of 25, from 1000",
    ),
    "few even counts": (["2", "4", "8", "4"], Real(2, 8, step=1), "whole numbers, from 2"),
    "codes": (["101", "205", "330"] * 3, Choice("101", "205", "330"), "3 whole numbers, as codes"),
    "two codes": (["1", "2", "2"], Choice("1", "2"), "as codes"),
    "area code": (["1", "5", "3", "4"], Choice("1", "3", "4", "5"), "as codes"),
    "zeros in front": (["01234", "20500", "00001"], Choice("00001", "01234", "20500"), "as codes"),
    "dates": (["2021-03-05", "2020-02-29", ""], Real("2020-02-29", "2021-03-05"), "dates, as numbers, from 2020-02-29"),
    "German dates": (["5.3.2021", "31.12.2020"], Real("2020-12-31", "2021-03-05"), "dates"),
    "American dates": (["3/25/2021", "12/31/2020"], Real("2020-12-31", "2021-03-25"), "dates"),
    "British dates": (["25/3/2021", "1/2/2021"], Real("2021-02-01", "2021-03-25"), "dates"),
    "dates in doubt": (["3/4/2021", "1/2/2021"], Real("2021-01-02", "2021-03-04"), "1/2/2021 read as 2021-01-02"),
    "dates in words": (["5 Mar 2021", "Mar 7, 2021"], Real("2021-03-05", "2021-03-07"), "dates"),
    "times": (["2021-03-05 14:30", "2021-03-06T10:00:00"], Real("2021-03-05T14:30", "2021-03-06T10:00", 60), "times"),
    "clocks": (["14:30", "9:05"], Real("09:05", "14:30", 60), "clocks"),
    "row number": ([str(i) for i in range(1, 61)], None, "left out as an identifier"),
    "customer id": ([str(7 * i) for i in range(60)], None, "left out as an identifier"),
    "names": ([f"person {i}" for i in range(60)], None, "60 different texts in 60 rows, left out as an identifier"),
    "text": ([f"a long story about number {i}, and how it came to be so long" for i in range(60)], None, "free text"),
    "500 labels": (
        [f"l{i:03}" for i in range(500)] * 2,
        Choice(*(f"l{i:03}" for i in range(500))),
        "500 labels, 500 of them in fewer than 5 rows",
    ),
    "too many labels": ([f"l{i}" for i in range(1200)] * 2, None, "1200 different labels, more than 1000, left out"),
    "weight [kg]": (["1.5", "2.5", "3"], Real(1.5, 3), ""),
    "years": ([str(y) for y in range(1950, 2000)], Real(1950, 1999, step=1), "whole numbers"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_inferred(name: str, tmp_path) -> None:
    cells, kind, words = COLUMNS[name]
    frame = pd.DataFrame({name: cells, "other": [i % 3 * 0.5 for i in range(len(cells))]})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    for source in (path, frame):
        table = tables.read(source)
        assert table.world.variables.get(name) == kind
        said = [note for note in table.notes if note.startswith(f"{name}: ")]
        assert (said and words in said[0]) or not words
        prior = priors.trees(table)
        assert bool(prior.log_prob(table.codes).isfinite().all())
        drawn = tables.frame(table.world, prior.sample(20, torch.Generator()))
        assert len(tables.read(drawn, table.world)) == 20


def test_what_is_said_otherwise() -> None:
    frame = pd.DataFrame(
        {"age": [20, 30, 40], "sex": [1, 2, 2], "id": [7, 8, 9], "x": ["1", "low", "3"], "when": ["a", "1/2/2021", "a"]}
    )
    said = {"age": "real:0:120", "sex": "count", "x": "real", "when": "choice"}
    table = tables.read(frame, columns=said, drop=["id"], na=["low"])
    assert table.world == nbr.World(
        age=Real(0, 120), sex=Real(1, 2, step=1), x=Real(1, 3), when=Choice("1/2/2021", "a")
    )
    assert math.isnan(table.codes[1, 2])
    with pytest.raises(nbr.NbrError, match="'x'.*'low' is not a real; .*say --na 'low'"):
        tables.read(frame, columns={"x": "real"})
    with pytest.raises(nbr.NbrError, match="'number' is not a kind; write one of bit, choice, real"):
        tables.read(frame, columns={"x": "number"})
    with pytest.raises(nbr.NbrError, match="there is no column 'ages'"):
        tables.read(frame, columns={"ages": "real"})


@pytest.mark.parametrize("sep", [";", "\t", "|", ","])
def test_separators_are_found(sep: str, tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a{sep}b{sep}c\n1{sep}x{sep}0.5\n0{sep}y{sep}1.5\n")
    assert tables.read(path).world == nbr.World(a=Bit(), b=Choice("x", "y"), c=Real(0.5, 1.5))
    assert tables.read(path, sep=sep).world == tables.read(path).world


def test_decimal_commas_and_other_alphabets(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a;größe\n1,5;klein\n2,25;groß\n".encode("cp1252"))
    table = tables.read(path)
    assert table.world == nbr.World({"a": Real(1.5, 2.25), "größe": Choice("groß", "klein")})
    assert "not UTF-8: read as Windows-1252" in table.notes


def test_thousands_where_other_columns_have_points(tmp_path) -> None:
    """12,345 beside 70.5 is no twelve and a bit, though semicolons separate columns."""
    path = tmp_path / "t.csv"
    path.write_text("income;weight\n12,345;70.5\n9,000;81.25\n900;64.0\n")
    assert tables.read(path).codes[:, 0].tolist() == [12345, 9000, 900]
    path.write_text("income;weight\n12,345;70,5\n9,000;81,25\n900;64\n")
    assert tables.read(path).codes[:, 0].tolist() == [12.345, 9, 900]


def test_rows_are_counted_as_an_editor_does(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1.5,0\n\n\n2.5,1\nx,1\n")
    with pytest.raises(nbr.NbrError, match="row 6, column 'a'"):
        tables.read(path)


def test_counts_are_asked_about_and_sampled_as_numbers() -> None:
    world = nbr.World(visits=Real(0, 9, step=1), when=Real("2021-01-01", "2021-12-31"))
    r = nbr.Reasoner(world, [nbr.Clause("visits>=3", 0.8), nbr.Clause('when<"2021-07-01"', 0.5)])
    answer = r.ask("visits>=3")
    assert (answer.belief, answer.plausibility, answer.exact) == (0.8, 1.0, True)
    assert r.ask("visits>=4", given="visits>3").belief == 1.0, "there is no count between 3 and 4"
    drawn = r.sample(200, given="visits>=3", seed=0)
    assert drawn["visits"].dtype == int
    assert drawn["visits"].between(3, 9).all()
    assert drawn["when"].between("2021-01-01", "2021-12-31").all()


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes"])
@pytest.mark.parametrize("seed", range(3))
def test_ordinary_splits_can_be_scored(name: str, seed: int) -> None:
    """70 rows of a hundred to learn from, 30 to score: no value beyond the range is an error."""
    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame.sample(frac=1, random_state=seed)
    cut = int(0.7 * len(frame))
    table = tables.read(frame[:cut])
    held = tables.read(frame[cut:], table.world)
    for prior in (priors.marginals(table), priors.trees(table, 1, states=4)):
        assert bool(prior.log_prob(held.codes).isfinite().all())
    assert (
        priors.trees(table, 1, states=4).log_prob(held.codes).mean()
        > priors.marginals(table).log_prob(held.codes).mean()
    )


def test_more_patterns_of_holes_than_can_be_listed() -> None:
    """Every set has columns that at least 30 rows show together, none can grow, and all columns are in some."""
    codes = torch.zeros(400, 12, dtype=torch.float64)
    codes.masked_fill_(torch.rand(codes.shape, generator=torch.Generator().manual_seed(0)) < 0.4, math.nan)
    table = tables.Table(nbr.World.bits(12), codes)
    views = table.views()
    assert 2 < len(views) <= 24
    shown = ~codes.isnan()
    for view in views:
        columns = [table.world.column(name) for name in view]
        together = shown[:, columns].all(dim=1)
        assert int(together.sum()) >= 30
        assert all(int((together & shown[:, c]).sum()) < 30 for c in range(12) if c not in columns)
    assert {name for view in views for name in view} == set(table.world.names)


def test_three_pairs_are_no_triple() -> None:
    """Pairs that are seen together in three tables do not make a set that nobody saw."""
    codes = torch.full((90, 3), math.nan, dtype=torch.float64)
    for part, columns in enumerate([(0, 1), (1, 2), (0, 2)]):
        codes[30 * part : 30 * part + 30, list(columns)] = 1.0
    assert tables.Table(nbr.World.bits(3), codes).views() == [("x0", "x1"), ("x0", "x2"), ("x1", "x2")]


def test_a_date_in_doubt_is_read_as_the_column_was_or_not_at_all() -> None:
    """What a query says alone cannot be told; a column that is scored is read so that it fits what was learned."""
    british = tables.read(pd.DataFrame({"day": ["25/3/2021", "1/4/2021", "12/4/2021"], "x": [1, 0, 1]}))
    later = tables.read(pd.DataFrame({"day": ["3/4/2021", "5/4/2021"]}), british.world)
    assert [british.world.variables["day"].show(code) for code in later.codes[:, 0].tolist()] == [
        "2021-04-03",
        "2021-04-05",
    ]
    with pytest.raises(nbr.NbrError, match="'3/4/2021' may be two days: write 2021-03-04 or 2021-04-03"):
        nbr.Reasoner(british.world).ask("day>='3/4/2021'")
    assert nbr.Reasoner(british.world).ask("day>='28/3/2021'").plausibility == 1
