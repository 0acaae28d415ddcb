"""Pictures on the command line: `--see`, `--see-table`, and the proof of what is read."""

import csv
import json
from pathlib import Path

import pytest

import nbr
from command import run

EXAMPLES = Path(__file__).parents[2] / "examples"
MODEL = """
[variables]
"d1..d2" = { from = 0, to = 9, step = 1 }
even = "bit"
[sensors]
"d1..d2" = "mnist-10"
[[rules]]
rule = "(d1 + d2) mod 10 = 3"
belief = 0.99
[[rules]]
rule = "even <-> d1 mod 2 = 0"
belief = 1.0
"""
SEE = ("--see", "d1=four.png", "--see", "d2=nine.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("seen")
    (place / "check.toml").write_text(MODEL)
    for name in ("four.png", "nine.png"):
        (place / name).write_bytes((EXAMPLES / name).read_bytes())
    (place / "files.csv").write_text("d1,d2\nfour.png,nine.png\nnine.png,four.png\nnine.png,nine.png\n")
    return place


def test_every_command_sees(folder: Path) -> None:
    best = json.loads(run("best", "check.toml", *SEE, "--json", cwd=folder).stdout)
    assert best["point"] == {"d1": "4", "d2": "9", "even": "1"}
    asked = json.loads(run("ask", "check.toml", "d1=4", *SEE, "--json", cwd=folder).stdout)
    assert asked["belief"] > 0.9
    every = json.loads(run("ask", "check.toml", "--all", *SEE, "--json", cwd=folder).stdout)
    assert max(every["variables"]["d2"], key=lambda each: each["probability"])["value"] == "9"
    told = json.loads(run("explain", "check.toml", "even", *SEE, "--budget", "2", "--json", cwd=folder).stdout)
    assert any("picture of d1, network" in each["text"] for each in told["rules"])


def test_a_reading_is_proved(folder: Path) -> None:
    total, each = (
        json.loads(run("certify", "--model", "check.toml", *SEE, *more, "--json", cwd=folder).stdout)
        for more in ((), ("--each",))
    )
    assert total["reading"] == each["reading"] == {"d1": "4", "d2": "9"}
    assert (total["budget"], each["budget"]) == ("total", "each")
    assert total["proved_of"] == "prepared picture"
    assert each["radius"] <= total["radius"] <= 2**0.5 * each["radius"]
    model = nbr.load(folder / "check.toml").see(d1=str(folder / "four.png"), d2=str(folder / "nine.png"))
    assert model.certified_radius() == pytest.approx(total["radius"])
    said = run("certify", "--model", "check.toml", *SEE, cwd=folder).stdout
    assert said.startswith("d1=4, d2=9; proved of the prepared pictures, not of the files: no change of all of them")


def test_a_table_of_pictures(folder: Path) -> None:
    rows = list(csv.DictReader(run("best", "check.toml", "--see-table", "files.csv", cwd=folder).stdout.splitlines()))
    assert [(row["d1"], row["d2"], row["even"]) for row in rows[:2]] == [("4", "9", "1"), ("9", "4", "0")]
    costs = [float(row["log_degree"]) for row in rows]
    assert costs[2] < -4 < costs[0] == 0, "two nines break the rule, or one of them is none"
    found = json.loads(run("certify", "--model", "check.toml", "--see-table", "files.csv", "--json", cwd=folder).stdout)
    alone = json.loads(run("certify", "--model", "check.toml", *SEE, "--json", cwd=folder).stdout)
    assert found["readings"][0]["reading"] == alone["reading"]
    assert found["readings"][0]["radius"] == pytest.approx(alone["radius"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("best", "check.toml", "--see", "d1=no.png"), "the picture of 'd1': no.png: No such file or directory"),
        (("best", "check.toml", "--see", "d1"), "--see takes a variable and its picture"),
        (("best", "check.toml", "--see", "even=four.png"), "'even' has no sensor; there are d1, d2"),
        (("best", "check.toml", "--see", "d1=four.png", "--see", "d1=nine.png"), "--see gives two pictures of 'd1'"),
        (("best", "check.toml", "--see-table", "hole.csv"), "hole.csv: line 3 has no picture of 'd2'"),
        (("best", "check.toml", "--see-table", "wide.csv"), "wide.csv: line 2 has more cells than variables"),
        (("best", "check.toml", "--see-table", "no.csv"), "cannot read no.csv: No such file"),
        (("certify", "--model", "check.toml", "--see", "d1=check.toml"), "not a picture that can be read"),
        (("certify", "--model", "check.toml", "--see-table", "far.csv"), "nbr: the picture of 'd1': ../no.png"),
        (("best", "check.toml", "--see-table", "gone.csv"), "line 3: the picture of 'd2': gone.png: No such file"),
        (("certify",), "a picture is missing"),
        (("certify", "four.png", "--see", "d1=four.png"), "give pictures to classify, or --see"),
        (("ask", "check.toml", "--batch", "files.csv", *SEE), "cannot be combined with --see"),
    ],
)
def test_bad_pictures_are_one_line(folder: Path, words: tuple[str, ...], message: str) -> None:
    (folder / "hole.csv").write_text("d1,d2\nfour.png,nine.png\nfour.png,\n")
    (folder / "wide.csv").write_text("d1\nfour.png,nine.png\n")
    (folder / "far.csv").write_text("d1\n../no.png\n")
    (folder / "gone.csv").write_text("d1,d2\nfour.png,nine.png\nfour.png,gone.png\n")
    found = run(*words, cwd=folder)
    assert found.returncode == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
    assert not found.stdout
