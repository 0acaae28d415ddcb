"""Reading tables: what is inferred, and errors that name the row and the column."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from nbr import tables


def write(tmp_path, text: str, name: str = "t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_kinds_are_inferred(tmp_path) -> None:
    text = "bit,color,stars,size,flag\n1,red,5,1.5,true\n0,blue,1,2,false\n,red,3,,true\n"
    table = tables.read(write(tmp_path, text))
    assert table.world == nbr.World(
        bit=nbr.Bit(),
        color=nbr.Choice("blue", "red"),
        stars=nbr.Real(1, 5, step=1),
        size=nbr.Real(1.5, 2),
        flag=nbr.Bit(),
    )
    expected = [[1, 1, 5, 1.5, 1], [0, 0, 1, 2, 0], [float("nan"), 1, 3, float("nan"), 1]]
    assert np.array_equal(table.codes.numpy(), expected, equal_nan=True)


def test_a_table_without_a_header(tmp_path) -> None:
    table = tables.read(write(tmp_path, "0,1\n1,0\n1,\n"))
    assert table.world.names == ("x0", "x1")
    assert len(table) == 3


def test_several_tables_and_what_they_show_together(tmp_path) -> None:
    first = write(tmp_path, "a,b\n0,1\n1,0\n", "first.csv")
    second = write(tmp_path, "b,c\n0,1\n1,0\n1,1\n", "second.csv")
    table = tables.read([first, second])
    assert table.world.names == ("a", "b", "c")
    assert table.views() == [("a", "b"), ("b", "c")]
    assert len(table) == 5


@pytest.mark.parametrize("kind", ["frame", "array", "tensor", "parquet"])
def test_other_sources(kind: str, tmp_path) -> None:
    frame = pd.DataFrame({"x0": [0, 1, 1], "x1": [0.0, 1.0, np.nan]})
    source = {"frame": frame, "array": frame.to_numpy(), "tensor": torch.from_numpy(frame.to_numpy())}.get(kind)
    if kind == "parquet":
        source = tmp_path / "t.parquet"
        frame.to_parquet(source)
    table = tables.read(source)
    assert table.world == nbr.World.bits(2)
    assert np.array_equal(table.codes.numpy(), frame.to_numpy(), equal_nan=True)


def test_frame_is_the_inverse_of_reading() -> None:
    frame = pd.DataFrame({"a": [0, 1, 1], "c": ["u", "v", "u"], "r": [0.5, 1.5, 0.25], "n": [3, 7, 4]})
    frame["d"] = ["2021-03-05", "2020-02-29", "2021-12-31"]
    frame["t"] = ["2021-03-05T14:30", "2020-02-29T00:00", "2021-12-31T23:59:30"]
    table = tables.read(frame)
    assert tables.frame(table.world, table.codes).equals(frame)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("a,b\n", "0 rows"),
        ("a,b\n1,0\n", "1 row"),
        ("a,b\n0,1.5\n1,2.5\n0,x\n1,3.5\n", "row 4, column 'b': 'x' is not a number"),
        ("a,b\n0,1.5\n1,inf\n0,2.5\n", "row 3, column 'b': 'inf' is not a number"),
        ("a,b\n0,1\n1\n", "row 3 has 1 field, and there are 2 columns"),
        ("a,b\n0,1\n1,0,1\n", "row 3 has 3 fields"),
        ("a,a\n0,1\n1,0\n", "two columns are called 'a'"),
        ("a,b\n,\n,\n", "no column is left to learn from"),
        (
            "a,b\n1.5,2.5\nx,2\n2,y\n3,3\n",
            "row 3, column 'a': 'x' is not a number.*row 4, column 'b': 'y' is not a num",
        ),
        ("a,b\n" + "0\n" * 9, "row 2 has 1 field.*row 6 has 1 field, and there are 2 columns; and 4 more"),
    ],
)
def test_wrong_tables(tmp_path, text: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words) as error:
        tables.read(write(tmp_path, text))
    assert "\n" not in str(error.value)


WORLD = nbr.World(a=nbr.Bit(), c=nbr.Choice("u", "v"), r=nbr.Real(0, 1), d=nbr.Real("2021-01-01", "2021-02-01"))


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("c\nw\n", -1, "c: 1 cells have values that the model does not know, such as 'w'"),
        ("a\n2\n", -1, "a: 1 cells have values"),
        ("r\n9\n", 9, "r: 1 cells have values"),
        ("d\n2022-01-01\n", 18993, "d: 1 cells have values"),
        ("a,extra\n1,u\n", 1, "extra: the model has no such column, left out"),
    ],
)
def test_values_that_a_world_does_not_have(tmp_path, text: str, code: float, words: str) -> None:
    table = tables.read(write(tmp_path, text), WORLD)
    assert table.codes[0, WORLD.column(text[0])] == code
    assert any(words in note for note in table.notes)
    priors = [nbr.priors.uniform(WORLD), nbr.priors.marginals(tables.Table(WORLD, torch.zeros(3, 4).double()))]
    assert all(bool(prior.log_prob(table.codes).isfinite().all()) for prior in priors)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,r\n1,x\n1,y\n", "row 2, column 'r': 'x' is not a number.*row 3, column 'r': 'y' is not a number"),
        ("d\n5\n", "row 2, column 'd': '5' is not a date"),
        ("colour,extra\nu,1\n", "the model has none of the columns colour, extra; it has a, c, r, d"),
    ],
)
def test_cells_that_cannot_be_read(tmp_path, text: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        tables.read(write(tmp_path, text), WORLD)


def test_a_misspelt_column_is_an_error(tmp_path) -> None:
    world = nbr.World(pressure=nbr.Real(0, 1), age=nbr.Real(0, 99))
    with pytest.raises(nbr.NbrError, match="no column 'presure'; did you mean 'pressure'"):
        tables.read(write(tmp_path, "presure,age\n0.5,20\n"), world)


def test_a_table_is_read_into_another_world() -> None:
    """A table that has codes already is not taken as it is where the world differs."""
    table = tables.read(pd.DataFrame({"c": ["u", "w", "u"], "n": [3, 7, 4], "e": [1, 0, 1]}))
    world = nbr.World(n=nbr.Real(0, 10), c=nbr.Choice("w", "v", "u"), a=nbr.Bit())
    again = tables.read(table, world)
    assert again.world == world
    expected = [[3, 2, math.nan], [7, 0, math.nan], [4, 2, math.nan]]
    assert np.array_equal(again.codes.numpy(), expected, equal_nan=True)
    assert tables.read(table, table.world) is table
