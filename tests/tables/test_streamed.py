"""Large CSV files, some rows at a time: the same table as of the whole file."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from nbr import tables
from nbr.tables import large, parquet, streamed

PLAIN = "key,flag,label,number,day,note\n" + "".join(
    f"k{i},{i % 2},{'red' if i % 3 else ' dark blue '},{'NA' if i % 7 == 0 else i / 8},2021-03-{i % 28 + 1:02},"
    f'"so, {i % 4}, ""and"" on"\n'
    for i in range(100)
)
FILES = {
    "plain": PLAIN.encode(),
    "gaps and returns": PLAIN.replace("\n", "\r\n").replace("k9,", "\r\n\r\nk9,").encode(),
    "mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "windows": PLAIN.replace("red", "gr\u00fcn").encode("cp1252"),
    "no names": "".join(f"{i % 2},{i},{i * i / 10}\n" for i in range(60)).encode(),
    "line breaks": ('a,"b\n1"\n' + "".join(f'{i % 2},"{i}\n"\n' for i in range(60))).encode(),
    "tabs": "".join(f"{i % 2}\t{i % 5}\n" for i in range(60)).encode(),
    "commas": ("a;b;c\n" + "".join(f"{i % 2};{i},5;x{i % 3}\n" for i in range(60))).encode(),
    "thousands": ("a;b;c\n" + "".join(f"{i % 2};{i % 9 + 1},500;{i}.5\n" for i in range(60))).encode(),
    "late point": ("a;b;c\n" + "".join(f"{i % 2};{i},{'5' if i < 59 else '.'}5;{i % 3}\n" for i in range(60))).encode(),
}
WRONG = {
    "few fields": b"a,b\n" + b"1,2\n" * 50 + b"1\n1,2,3\n" + b"1,2\n" * 50,
    "nothing": b"",
    "binary": b"a,b\n1,\xff\0\n" * 50,
    "broken quotes": b'a,b\n"' + b"x" * 140_000 + b"\n" * 60,
    "not a number": b"a,b\n" + b"1,2\n3,5\n" * 40 + b"1,x\n",
    "twice": b"a,a\n" + b"1,2\n" * 50,
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "ROWS", 40)
    monkeypatch.setattr(streamed, "BATCH", 16)
    monkeypatch.setattr(streamed, "BLOCK", 100)


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_the_same_as_of_the_whole_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    assert tables.is_large(path)
    whole, found = tables.read(path), tables.open_large(path)
    assert found.world == whole.world
    assert set(found.notes) == set(whole.notes)
    assert found.rows == len(whole)
    codes = torch.cat([part for place in found.pieces for part in found.codes(place)])
    torch.testing.assert_close(codes, whole.codes, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_the_same_error_as_of_the_whole_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    told = {"columns": {"b": "real"}} if b"x\n" in content[-5:] else {}
    with pytest.raises(nbr.NbrError) as whole:
        tables.read(path, **told)
    with pytest.raises(nbr.NbrError) as found:
        list(tables.learnable(path, **told).codes)
    assert str(found.value).split(";")[0] == str(whole.value).split(";")[0]


def test_columns_of_many_values_keep_their_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "DISTINCT", 10)
    path, other = tmp_path / "rows.csv", tmp_path / "others.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i / 7}\n" for i in range(60)))
    other.write_text("a,b\n" + "".join(f"{i},{-i / 7}\n" for i in range(60)))
    ends = tables.open_large(path).world.variables["b"]
    assert (ends.low, ends.high) == (0.0, 59 / 7)
    ends = tables.open_large([path, other]).world.variables["b"]
    assert (ends.low, ends.high) == (-59 / 7, 59 / 7)


def test_rows_are_thinned_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, random = tmp_path / "rows.csv", np.random.default_rng(0)
    path.write_text("a;b\n" + "".join(f"{i % 2};{i % 3}\n" for i in range(90)))
    counted = tables.learnable(path)
    assert (len(counted), counted.rows) == (6, 90)
    path.write_text("a;b\n" + "".join(f"{number};{at}\n" for at, number in enumerate(random.normal(size=90))))
    monkeypatch.setattr(large, "SAMPLE", 50)
    some = tables.learnable(path, sep=";", seed=1)
    assert len(some) == some.rows == 50
    assert "50 of 90 rows, drawn at random" in some.notes


def test_parquet_and_csv_are_one_table(tmp_path: Path) -> None:
    path, other = tmp_path / "rows.csv", tmp_path / "rows.parquet"
    path.write_text("a,b\n" + "".join(f"{i % 2},{i % 3}\n" for i in range(30)))
    pd.DataFrame({"a": [1] * 30, "b": [2] * 30}).to_parquet(other)
    assert not tables.is_large(path)
    found = tables.learnable([path, other])
    assert found.rows == 60
    assert int(found.counts.max()) == 35  # type: ignore[union-attr]


def test_what_cannot_be_read_is_not_large(tmp_path: Path) -> None:
    assert not tables.is_large(tmp_path / "none.csv")
    with pytest.raises(nbr.NbrError, match="cannot read"):
        tables.open_large(tmp_path / "none.csv")


def test_score_of_a_large_csv(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "".join(f"{i % 2},{i % 3}\n" for i in range(90)))
    model = nbr.fit(path, rules="clauses")
    model.save(tmp_path / "m.nbr")
    from nbr.app.learn import score

    whole = float(model.log_prob(tables.read(path)).mean())
    assert f"{whole:.4f}" in score(tmp_path / "m.nbr", [path], 0, 0, as_json=False)
    assert f"{whole:.4f}" in score(tmp_path / "m.nbr", [path], 2, 0, as_json=False)
