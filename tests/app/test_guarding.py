"""Cells that a spreadsheet would run: left alone unless asked, and then guarded wherever a CSV is written."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import nbr
from command import run

RUNS = "=HYPERLINK(1)"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    world = nbr.World({"@who": nbr.Choice(RUNS, "-x"), "n": nbr.Real(-9, -1, step=1)})
    nbr.Reasoner(world, [nbr.Clause(f'"@who"="{RUNS}"', 1.0)]).save(tmp_path / "m.nbr")
    (tmp_path / "t.csv").write_text("@who,n,other\n,-3,+1+1\n-x,,@a\n")
    (tmp_path / "q.csv").write_text('question\n"""@who""=""=HYPERLINK(1)"""\n')
    return tmp_path / "m.nbr"


def cells(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text().splitlines()))


@pytest.mark.parametrize("command", ["sample", "predict", "impute", "ask"])
@pytest.mark.parametrize("guard", [False, True])
def test_cells_are_guarded_if_asked(command: str, guard: bool, model: Path, tmp_path: Path) -> None:
    words = {
        "sample": [model, "-n", "3"],
        "predict": [model, tmp_path / "t.csv", "--column", "@who"],
        "impute": [model, tmp_path / "t.csv", "--cells", tmp_path / "cells.csv"],
        "ask": [model, "--batch", tmp_path / "q.csv"],
    }[command]
    output = tmp_path / "out.csv"
    done = run(command, *words, "-o", output, *(["--guard"] if guard else []))
    assert done.returncode == 0, done.stderr
    files = [output, *([tmp_path / "cells.csv"] if command == "impute" else [])]
    found = [cell for path in files for row in cells(path) for cell in row]
    risky = [cell for cell in found if re.match(r"[=+@]|-(?!\d+(\.\d+)?$)", cell)]
    assert bool(risky) != (guard or command == "ask")  # a question starts with a quote, which is safe
    if command != "ask":
        assert (f"'{RUNS}" in found) == guard
    if command == "impute":
        assert ("'+1+1" in found) == guard
        assert "-3" in found
