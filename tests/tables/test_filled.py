"""Tables with their holes filled: what was observed comes back as it was written, whatever a table looks like."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nbr
from command import run
from nbr import priors, tables
from nbr.density import filling
from nbr.tables.spliced import Fields

ROWS = 60


def patients(holes: bool = True) -> pd.DataFrame:
    """An identifier, free text, yes and no, labels and numbers; `Diabetes` goes with `Drug`."""
    draw = np.random.default_rng(0)
    ill = draw.random(ROWS) < 0.5
    frame = pd.DataFrame(
        {
            "Patient": [f"P-{number:04}" for number in range(ROWS)],
            "Diabetes": np.where(ill, "yes", "no"),
            "Drug": np.where(ill, "insulin, slow", "none at all"),
            "Age": draw.integers(20, 90, ROWS).astype(str),
            "Note": [f'said "{number}" and then some more words that nobody ever wrote' for number in range(ROWS)],
            "Weight": [f"{value:.1f}" for value in draw.normal(70, 9, ROWS)],
        }
    )
    if holes:
        frame.loc[[3, 9], "Diabetes"] = ""
        frame.loc[[5], "Drug"] = "?"
        frame.loc[[9, 11], "Weight"] = "NA"
    return frame


def model(frame: pd.DataFrame) -> nbr.Reasoner:
    data = tables.read(frame)
    return nbr.Reasoner(data.world, prior=priors.trees(data, 1), views=data.views())


def field(value: str, sep: str) -> str:
    return '"' + value.replace('"', '""') + '"' if sep in value or '"' in value else value


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_all_but_the_holes_comes_back_byte_for_byte(tmp_path: Path, sep: str, end: str, encoding: str) -> None:
    frame = patients()
    frame["Drug"] = frame["Drug"].str.replace("insulin", "Insulin für")
    rows = [list(frame.columns), *frame.to_numpy().tolist()]
    written = [[field(cell, sep) for cell in row] for row in rows]
    written[2][1] = f' "{rows[2][1]}"'.replace(' "', " ").rstrip('"') + " "  # spaces stay
    written[5][5] = f'"{rows[5][5]}"'  # quotes that nobody needs stay
    lines = [sep.join(row) for row in written]
    lines.insert(20, "")  # and so does an empty line
    (tmp_path / "t.csv").write_bytes(end.join([*lines, ""]).encode(encoding))
    model(frame).save(tmp_path / "m.nbr")
    done = run("impute", tmp_path / "m.nbr", tmp_path / "t.csv", "-o", tmp_path / "f.csv")
    assert done.returncode == 0, done.stderr
    found = (tmp_path / "f.csv").read_bytes().decode(encoding).split(end)
    assert len(found) == len(lines) + 1
    filled = {4: 1, 10: (1, 5), 6: 2, 12: 5}
    for number, (new, old) in enumerate(zip([*found[:20], *found[21:-1]], [*lines[:20], *lines[21:]], strict=True)):
        if number not in filled:
            assert new == old
    parsed = list(csv.reader(io.StringIO(end.join(found)), delimiter=sep))
    parsed = [row for row in parsed if row]
    assert parsed[4][1] == ("yes" if rows[4][2].startswith("Insulin") else "no")
    assert parsed[6][2] in ("Insulin für, slow", "none at all")
    assert 40 < float(parsed[12][5]) < 100
    assert [row[0] for row in parsed] == [row[0] for row in rows]
    assert [row[4] for row in parsed] == [row[4] for row in rows]


KINDS = {  # a cell of every kind of column, by its row
    "identifier": lambda row: f"{9000 + 7 * row}",
    "text": lambda row: f'"what ""{row}"" said, and then some more that nobody ever wrote"',
    "bit": lambda row: "01"[row % 2],
    "word": lambda row: ("Yes", "no ")[row % 2],
    "truth": lambda row: ("TRUE", "False")[row % 2],
    "label": lambda row: ("red", '"blue"', " green")[row % 3],
    "code": lambda row: f"{row % 4:03}",
    "count": lambda row: f"{row % 9}",
    "float of whole numbers": lambda row: f"{row % 9}.0",
    "real": lambda row: f"{np.sin(row):.4f}",
    "digits": lambda row: ("1.50", "2.5", "+3", "-.25", "1e2")[row % 5],
    "thousands": lambda row: f'"{1000 + 17 * row:,}"',
    "share": lambda row: f"{row % 50}%",
    "day": lambda row: f"2021-03-{1 + row % 28:02}",
    "spelt day": lambda row: f"Mar {1 + row % 28} 2021",
    "moment": lambda row: f"2021-03-{1 + row % 28:02} 14:{row % 60:02}",
    "clock": lambda row: f"{row % 24:02}:30",
    "same": lambda row: "always",
    "nothing": lambda row: "",
}


def test_nothing_but_holes_changes_in_columns_of_every_kind(tmp_path: Path) -> None:
    """Without holes the bytes are the same; of a row with one, all fields but that."""
    rows = [[cell(row) for cell in KINDS.values()] for row in range(ROWS)]
    path = tmp_path / "t.csv"

    def write() -> str:
        text = "\r\n".join(",".join(row) for row in [list(KINDS), *rows]) + "\r\n"
        path.write_bytes(text.encode())
        return text

    text = write()
    reasoner = model(pd.read_csv(path, dtype=str, keep_default_na=False))
    assert len(reasoner.world) >= len(KINDS) - 3  # an identifier, a text, and a column of nothing are no variables

    def imputed() -> str:
        found, encoding = filling.impute(reasoner.model, path, 0).csv() or ("", "utf-8")
        return found.encode(encoding).decode()

    assert imputed() == text
    for at, name in enumerate(KINDS):
        if name in reasoner.world.variables:
            rows[at][at] = ""
    holed, filled = write().split("\r\n"), imputed().split("\r\n")
    for number, (was, now) in enumerate(zip(holed, filled, strict=True), -1):
        if was != now:
            place = list(KINDS)[number]
            before, after = (next(csv.reader([line])) for line in (was, now))
            assert after[number], place
            assert [*before[:number], *before[number + 1 :]] == [*after[:number], *after[number + 1 :]]
        else:
            assert not 0 <= number < len(KINDS) or list(KINDS)[number] not in reasoner.world.variables


def test_a_frame_keeps_its_columns_types_and_words() -> None:
    frame = pd.DataFrame(
        {
            "id": [f"a{number}" for number in range(ROWS)],
            "on": [True, False] * (ROWS // 2),
            "b": pd.Categorical(["u", "v"] * (ROWS // 2)),
            "n": np.arange(ROWS) % 7 + 0.5,
            "k": pd.array(np.arange(ROWS) % 5, dtype="Int64"),
            "day": pd.to_datetime("2021-03-01") + pd.to_timedelta(np.arange(ROWS) % 28, unit="D"),
        }
    )
    reasoner = model(frame)
    assert reasoner.impute(frame).equals(frame)
    holed = frame.copy()
    holed["on"] = holed["on"].astype(object)
    for at, name in enumerate(frame.columns[1:]):
        holed.loc[at, name] = None
    filled = reasoner.impute(holed)
    assert list(filled.columns) == list(frame.columns)
    assert filled["id"].tolist() == frame["id"].tolist()
    assert not filled.isna().any().any()
    for at, name in enumerate(frame.columns[1:]):
        rest = [row for row in range(ROWS) if row != at]
        assert filled[name][rest].tolist() == frame[name][rest].tolist()
    assert filled["on"].dtype == bool
    assert [filled[name].dtype for name in ("b", "n", "day")] == [frame[name].dtype for name in ("b", "n", "day")]
    told = {cell["column"]: cell["value"] for cell in filled.attrs["cells"]}
    assert told["on"] in ("True", "False")
    assert told["b"] in ("u", "v")


@pytest.mark.parametrize(
    ("seen", "other"),
    [("yes", "no"), ("No", "Yes"), ("TRUE", "FALSE"), ("f", "t"), ("Off", "On"), ("1", "0"), ("N", "Y")],
)
def test_a_truth_value_that_the_table_lacks_is_spelt_like_the_other(seen: str, other: str, tmp_path: Path) -> None:
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit())
    reasoner = nbr.Reasoner(world, [nbr.Clause("a <-> ~b", 1.0)])
    (tmp_path / "t.csv").write_text(f"a,b\n{seen},{seen}\n{seen},\n")
    (filled,) = reasoner.impute(tmp_path / "t.csv").iloc[1:, 1].tolist()
    assert str(filled) == other


def test_numbers_are_written_as_their_column_writes_them(tmp_path: Path) -> None:
    rows = "".join(f"{at % 9 + 1},5;{at % 4};{at % 7}%\n" for at in range(ROWS))
    (tmp_path / "t.csv").write_text("x;k;p\n" + rows + ";;\n")
    done = run("impute", tmp_path / "t.csv", "-o", tmp_path / "f.csv")
    assert done.returncode == 0, done.stderr
    x, k, p = (tmp_path / "f.csv").read_text().splitlines()[-1].split(";")
    assert "," in x
    assert "." not in x
    assert k.isdigit()
    assert p.endswith("%")


def test_a_column_that_the_table_lacks_comes_last(tmp_path: Path) -> None:
    reasoner = model(patients(holes=False))
    reasoner.save(tmp_path / "m.nbr")
    patients()[["Patient", "Drug"]].to_csv(tmp_path / "t.csv", index=False)
    assert run("impute", tmp_path / "m.nbr", tmp_path / "t.csv", "-o", tmp_path / "f.csv").returncode == 0
    found = pd.read_csv(tmp_path / "f.csv")
    assert list(found.columns) == ["Patient", "Drug", "Diabetes", "Age", "Weight"]
    assert not found.isna().any().any()


def test_json_has_all_columns_and_words(tmp_path: Path) -> None:
    patients().to_csv(tmp_path / "t.csv", index=False)
    told = json.loads(run("impute", tmp_path / "t.csv", "--json").stdout)
    assert list(told["rows"][0]) == list(patients().columns)
    assert {row["Diabetes"] for row in told["rows"]} == {"yes", "no"}
    assert {cell["value"] for cell in told["cells"] if cell["column"] == "Diabetes"} <= {"yes", "no"}


def test_fields_are_those_of_the_csv_module() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        text = "".join(draw.choice('ab,"\n\r \v\u2028\0'[: draw.choice([5, 8, 10])]) for _ in range(draw.randrange(14)))
        fields = Fields.of(text, ",")
        try:
            wanted = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
        except csv.Error:
            continue
        assert [[fields.value(span) for span in line] for line in fields.lines] == wanted, repr(text)
        assert fields.replaced({}, []) == text


@pytest.mark.parametrize("columns", [3, 14_000])
def test_a_header_of_any_length_is_read_or_refused_in_one_line(columns: int, tmp_path: Path) -> None:
    names = [f"column{at}" for at in range(columns)]
    (tmp_path / "t.csv").write_text(
        ",".join(names) + "\n" + 2 * (",".join("01"[at % 2] for at in range(columns)) + "\n")
    )
    assert len(tables.read(tmp_path / "t.csv").world) == columns
    (tmp_path / "t.csv").write_text("a" * 200_000 + ",b\n1,0\n0,1\n")
    done = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.nbr")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "field larger than field limit" in done.stderr
