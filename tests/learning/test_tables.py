"""Reading tables: what is inferred, and errors that name the row and the column."""

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
        stars=nbr.Choice("1", "3", "5"),
        size=nbr.Real(1.5, 2),
        flag=nbr.Bit(),
    )
    expected = [[1, 1, 2, 1.5, 1], [0, 0, 0, 2, 0], [float("nan"), 1, 1, float("nan"), 1]]
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
    frame = pd.DataFrame({"a": [0, 1, 1], "c": ["u", "v", "u"], "r": [0.5, 1.5, 0.25]})
    table = tables.read(frame)
    assert tables.frame(table.world, table.codes).equals(frame)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("a,b\n", "0 rows"),
        ("a,b\n1,0\n", "1 row"),
        ("a,b\n0,\n1,\n", "column 'b' is empty"),
        ("a,b\n0,1\n1,1\n", "column 'b' is always '1'"),
        ("a,b\n0,1.5\n1,2.5\n0,x\n1,3.5\n", "row 4, column 'b': 'x' is not a number"),
        ("a,b\n0,1.5\n1,nan\n0,2.5\n", "row 3, column 'b': 'nan' is not a number"),
        ("a,b\n0,1.5\n1,inf\n0,2.5\n", "row 3, column 'b': 'inf' is not a number"),
        ("a,b\n1,nan\n0,inf\n1,0\n", "row 2, column 'b': 'nan' is not a number"),
        ("a,b\n0,1\n1\n", "row 3 has 1 fields, and there are 2 columns"),
        ("a,b\n0,1\n1,0,1\n", "row 3 has 3 fields"),
        ("a,a\n0,1\n1,0\n", "two columns are called 'a'"),
        ("a,\n0,1\n1,0\n", "column 2 has no name"),
        ("a,b\n" + "".join(f"{i % 2},name{i}\n" for i in range(500)), "column 'b' has 500 different labels"),
    ],
)
def test_wrong_tables(tmp_path, text: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words) as error:
        tables.read(write(tmp_path, text))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,c\n0,w\n", "row 2, column 'c': 'w' is not one of its labels"),
        ("a,c\n2,u\n", "row 2, column 'a': '2' is not a value of a bit"),
        ("a,d\n1,u\n", "the model has no column 'd'"),
        ("a,r\n1,9\n", "row 2, column 'r': 9 is not between 0 and 1"),
    ],
)
def test_rows_of_another_world(tmp_path, text: str, words: str) -> None:
    world = nbr.World(a=nbr.Bit(), c=nbr.Choice("u", "v"), r=nbr.Real(0, 1))
    with pytest.raises(nbr.NbrError, match=words):
        tables.read(write(tmp_path, text), world)
