"""`nbr train` on class folders, and what is then done with its file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import nbr
from command import run
from nbr.classify import folders
from nbr.classify.folders import Survey

COLOURS = ("blue", "green", "red")


def made(place: Path, count: int = 8) -> Path:
    """Pictures of one colour with noise, 12 x 16; one of another size, one grey, one with an alpha channel."""
    dice = np.random.default_rng(0)
    for number, name in enumerate(COLOURS):
        (place / name).mkdir(parents=True)
        for at in range(count):
            pixels = dice.integers(0, 60, (12, 16, 3))
            pixels[:, :, 2 - number] += 180
            Image.fromarray(pixels.astype(np.uint8)).save(place / name / f"{at}.png")
    Image.open(place / "red" / "0.png").resize((40, 30)).save(place / "red" / "0.png")
    Image.open(place / "green" / "1.png").convert("RGBA").save(place / "green" / "1.png")
    return place


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("train")
    made(place / "pictures")
    done = run("train", "pictures", "-o", "m.nbr", "--size", "8", "--epochs", "2", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    (place / "told.json").write_text(done.stdout)
    (place / "aside.txt").write_text(done.stderr)
    return place


def test_what_is_done_is_told_and_saved(trained: Path) -> None:
    told, aside = json.loads((trained / "told.json").read_text()), (trained / "aside.txt").read_text()
    assert told["labels"] == list(COLOURS)
    assert (told["held_out"], told["learned_from"]) == (5, 19)
    assert told["preparation"] == {"kind": "scale", "shape": [6, 8, 3], "values": [0.0, 1.0]}
    assert "pictures: 24 pictures, 23 of 16 x 12 and 1 other size, 24 of them in colour; 3 labels" in aside
    assert "picture files: any size, scaled to 8 x 6, colour, black 0 to white 1" in aside
    assert "16 x 12 pixels: scaled to 8 x 6" in aside
    assert "to be robust at L2 " in aside
    assert "usually" in aside
    assert told["epsilon"] == pytest.approx(float(aside.split("to be robust at L2 ")[1].split()[0]), rel=0.05)
    assert set(told["compared"]) == {"linear", "networks"}
    loaded = nbr.load(trained / "m.nbr")
    assert loaded.preparation_.as_json() == told["preparation"]
    assert loaded.figures_["right"] == told["right"]
    assert not (trained / "m.nbr.part").exists()
    assert 0 <= told["proved"] <= told["right"] <= 1


def test_the_file_is_used_by_every_command(trained: Path) -> None:
    paths = [f"pictures/{name}/{at}.png" for name in COLOURS for at in (2, 3)]
    done = run("classify", *paths, "--model", "m.nbr", "--json", cwd=trained)
    loaded = nbr.load(trained / "m.nbr")
    said = loaded.predict(loaded.read(*(trained / path for path in paths))).tolist()
    told = json.loads(done.stdout)["pictures"]
    assert [each["label"] for each in told] == said
    assert {each["proved_of"] for each in told} == {"file"}
    assert [each["proved_radius"] for each in told] == pytest.approx([2 * each["prepared_radius"] for each in told])
    words = ("attack", "m.nbr", "--data", "pictures", "-o", "run", "--only", "DDN", "--epsilon", "0.5", "--json")
    attacked = json.loads(run(*words, cwd=trained).stdout)
    assert (attacked["images"], attacked["broken_within_their_proved_radius"]) == (24, 0)
    assert attacked["proved_of"] == "prepared picture"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda place: (place / "red" / "z.png").write_text("nothing"), "z.png: not a picture that can be read"),
        (lambda place: [shutil.rmtree(place / name) for name in COLOURS[1:]], "has one label, 'blue'; a classifier"),
        (lambda place: [each.unlink() for each in (place / "red").glob("[3-9].png")], "red has 3 pictures; 5 or more"),
        (lambda place: shutil.rmtree(place), "pictures is not a folder; class folders have a sub-folder for each"),
    ],
)
def test_folders_that_cannot_be_learned_from(tmp_path: Path, change, said: str) -> None:
    made(tmp_path / "pictures", 6)
    change(tmp_path / "pictures")
    done = run("train", "pictures", "-o", "m.nbr", cwd=tmp_path)
    assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "m.nbr").exists()


def test_grey_pictures_saved_as_colour_are_grey(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (30, 20), (90, 90, 90)).save(tmp_path / name / "1.png")
    looked = folders.survey(folders.listed(tmp_path))
    assert looked == Survey(looked.sizes, 0)
    assert (looked.shape(32), looked.shape(15)) == ((20, 30), (10, 15))
    assert looked.words() == "2 pictures, 2 of 30 x 20, grey"


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    """Killed without warning as soon as it has kept something; what comes out is as if nothing had happened."""
    made(tmp_path / "pictures", 6)
    words = ("train", "pictures", "--size", "8", "--json")
    whole = run(*words, "-o", "whole.nbr", "--epochs", "40", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    command = [sys.executable, "-c", KILLED, *words, "-o", "m.nbr", "--epochs", "40"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == -9
    assert sorted(each.name for each in tmp_path.glob("m.nbr*") if each.suffix != ".lock") == ["m.nbr.part.trial"]
    again = run(*words, "-o", "m.nbr", "--epochs", "40", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "continuing the run that was stopped" in again.stderr
    told, wanted = (json.loads(each.stdout) for each in (again, whole))
    assert {name: told[name] for name in ("right", "proved", "epsilon", "median_radius", "compared")} == {
        name: wanted[name] for name in ("right", "proved", "epsilon", "median_radius", "compared")
    }
    assert not list(tmp_path.glob("m.nbr.part*.trial"))
    first, second = nbr.load(tmp_path / "m.nbr"), nbr.load(tmp_path / "whole.nbr")
    pictures = first.read(*sorted((tmp_path / "pictures" / "red").iterdir()))
    np.testing.assert_array_equal(first.certified_radius(pictures), second.certified_radius(pictures))


KILLED = """
import os, signal
from nbr.app import main
from nbr.storage import checkpoints
from nbr.training import loop

loop.SECONDS, save = 0.0, checkpoints.save

def kept(path, mark, state, tensors):
    save(path, mark, state, tensors)
    if state["step"] > 10:
        os.kill(os.getpid(), signal.SIGKILL)

checkpoints.save = kept
main.main()
"""
