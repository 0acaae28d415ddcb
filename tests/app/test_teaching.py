"""`nbr train MODEL EXAMPLES.csv`: sums of toy pictures, and what is then asked of the file."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nbr
from command import run

MODEL = """[variables]
a = { from = 0, to = 2, step = 1 }
b = { from = 0, to = 2, step = 1 }

[[rules]]
rule = "a >= b"
belief = 0.5
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sums")
    (folder / "pictures").mkdir()
    dice = np.random.default_rng(0)
    rows = []
    for row in range(120):
        labels = dice.integers(0, 3, 2)
        files = []
        for name, label in zip("ab", labels, strict=True):
            pixels = dice.integers(0, 80, (6, 6))
            pixels[2 * label : 2 * label + 2] += 150
            files.append(f"pictures/{row}{name}{label}.png")
            Image.fromarray(pixels.astype(np.uint8)).save(folder / files[-1])
        rows.append([*files, f"a + b = {labels.sum()}", str(labels.sum())])
    with (folder / "sums.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "says", "s"], *rows])
    (folder / "sums.toml").write_text(MODEL)
    return folder


def test_sensors_are_taught_and_asked(place: Path) -> None:
    done = run("train", "sums.toml", "sums.csv", "-o", "m.nbr", "--epochs", "60", "--beliefs", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["learned_from"], told["held_out"], told["sensors"]) == (108, 12, ["a", "b"])
    assert told["agree"] > 0.8
    assert [each["rule"] for each in told["beliefs"]] == [1]
    assert not (place / "m.nbr.part").exists()
    picture = next((place / "pictures").glob("*a2.png"))
    found = nbr.load(place / "m.nbr")
    assert isinstance(found, nbr.Reasoner)
    assert found.see(a=str(picture)).ask("a = 2").plausibility > 0.9


@pytest.mark.parametrize(
    ("change", "words", "said"),
    [
        (("pictures/0a", "pictures/none"), (), "row 1: there is no picture pictures/none"),
        (("a + b = ", "a + b + 9 = "), (), "row 1 of the examples, 'a + b + 9 = "),
        (("says", "tells"), (), "need a column 'says'"),
        (("a,b,", "a,c,"), (), "'c' is"),
        (("", ""), ("--says", "a + b = t"), "'t'"),
        (("", ""), ("--network", "big"), "no network 'big'"),
        (("", ""), ("--epsilon", "1"), "--epsilon applies to classifiers"),
    ],
)
def test_bad_input_is_one_line(place: Path, change: tuple[str, str], words: tuple[str, ...], said: str) -> None:
    (place / "bad.csv").write_text((place / "sums.csv").read_text().replace(*change))
    done = run("train", "sums.toml", "bad.csv", "-o", "bad.nbr", *words, cwd=place)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert not (place / "bad.nbr").exists()


def test_settings_of_one_form_are_not_those_of_the_other(place: Path) -> None:
    done = run("train", "pictures", "-o", "bad.nbr", "--network", "lenet", cwd=place)
    assert done.returncode == 2
    assert "nbr train MODEL EXAMPLES.csv" in done.stderr
