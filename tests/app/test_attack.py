"""`nbr attack` on a small classifier and made-up test images."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import nbr
from command import run
from nbr import NbrError
from nbr.app import attack, learn
from pictures import bars


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "bars.nbr"
    settings = {
        "networks": 2,
        "linear": False,
        "width": 32,
        "depth": 1,
        "head": 8,
        "epochs": 15,
        "batch_size": 32,
        "random_state": 0,
    }
    X, y = bars(None, "train")
    nbr.RobustClassifier(1.0, box=(0, 1), **settings).fit(X, y).save(path)
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(nbr.datasets, "mnist", bars)
    return Path(shutil.copy(trained, tmp_path))


def test_attacked_lies_between_proved_and_natural(model: Path) -> None:
    names, folder = ["PGD", "DDN", "margin"], model.parent / "run"
    told = attack.run(str(model), "mnist", 2.0, "quick", names, 20, folder, False, 0)
    assert told["images"] == 20
    assert told["proved"] <= told["attacked"] <= min(told["left_by"].values()) <= told["natural"]
    assert told["broken_within_their_proved_radius"] == 0
    assert told["proved"] <= told["attacked_without_box"] <= told["attacked"]
    assert "left by all attacks" in attack.shown(told)
    assert "left without the box" in attack.shown(told)
    sure = {**told, "natural": 1.0, "images": 20}
    assert re.search(r"natural +100.0 % +\(83.9 to 100.0\)", attack.shown(sure))  # 20 of 20 is not all there are
    assert attack.run(str(model), "mnist", 2.0, "quick", names, 20, folder, False, 0) == told
    wide = attack.run(str(model), "mnist", 20.0, "quick", ["DDN"], 20, model.parent / "wide", True, 0)
    assert wide["attacked"] == 0
    spared = attack.run(str(model), "mnist", 2.0, "quick", names, 20, model.parent / "spared", True, 0)
    left = list(spared["left_after"].values())
    assert spared["natural"] >= left[0] >= left[1] >= left[2] == spared["attacked"] == told["attacked"]
    assert "left after margin" in attack.shown(spared)


def test_three_labels_are_attacked_too(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def three(labels, part):
        X, y = bars(None, part)
        thick = X[::3].copy()
        thick[:, 9:19, 9:19] = 1
        return np.concatenate([X, thick]), np.concatenate([y, np.full(len(thick), 7)])

    monkeypatch.setattr(nbr.datasets, "mnist", three)
    X, y = three(None, "train")
    settings = {"width": 32, "depth": 1, "head": 8, "epochs": 15, "batch_size": 32, "random_state": 0}
    classifier = nbr.RobustClassifier(1.0, box=(0, 1), linear=False, **settings).fit(X, y)
    classifier.save(model.parent / "three.nbr")
    told = attack.run(
        str(model.parent / "three.nbr"), "mnist", 2.0, "quick", ["DDN", "margin"], 30, model.parent / "t", True, 0
    )
    assert told["natural"] == pytest.approx(1.0)
    assert told["proved"] <= told["attacked_without_box"] <= told["attacked"] < told["natural"]
    assert told["broken_within_their_proved_radius"] == 0


def test_bad_settings(model: Path) -> None:
    for change, words in [((0.0, None), "above 0"), ((2.0, 100), "60 test images")]:
        with pytest.raises(NbrError, match=words):
            attack.run(str(model), "mnist", change[0], "quick", ["PGD"], change[1], model.parent / "x", False, 0)
    with pytest.raises(NbrError, match="unknown data"):
        attack.run(str(model), "cifar", 2.0, "quick", ["PGD"], None, model.parent / "x", False, 0)
    with pytest.raises(NbrError, match="did you mean 'mnist-4-9'"):
        attack.run("mnist-49", "mnist", 2.0, "quick", ["PGD"], None, model.parent / "x", False, 0)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier whose labels are words, class folders, and the same as a table; dark on light."""
    place = tmp_path_factory.mktemp("own")
    X, y = bars(None, "train")
    X, names = 1 - X[:, ::2, ::2], np.array(["up", "flat"])[y]
    network = nbr.NonexpansiveClassifier(1.0, widths=(32, 8), epochs=8, batch_size=32, random_state=0)
    network.fit(X, names).save(place / "own.nbr")
    network.fit(X.reshape(60, -1), names).save(place / "vectors.nbr")
    for number, (pixels, name) in enumerate(zip(X[:30], names, strict=False)):
        folder = place / "pictures" / name
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((pixels * 255).round().astype(np.uint8)).save(folder / f"{number}.png")
    (place / "pictures" / "up" / "notes.txt").write_text("no picture, and does not look like one")
    table = pd.DataFrame(X[:30].reshape(30, -1)).assign(kind=names[:30])
    table.columns = [*(f"p{i}" for i in range(196)), "kind"]
    table.to_csv(place / "rows.csv", index=False)
    table[["kind", *table.columns[:-1]]].to_parquet(place / "rows.parquet")
    return place


def attacked(own: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run("attack", *words, "-o", f"run-{len(list(own.iterdir()))}", "--only", "DDN", "--epsilon", "1", cwd=own)


def test_own_pictures_and_rows_are_attacked(own: Path) -> None:
    """Labels are words; folders and tables of the same pictures give the same figures, whatever takes them."""
    found = {}
    for model, data, more in [
        ("own.nbr", "pictures", ()),
        ("own.nbr", "rows.csv", ()),
        ("vectors.nbr", "rows.csv", ("--label", "kind")),
        ("vectors.nbr", "rows.parquet", ("--label", "kind")),
    ]:
        done = attacked(own, model, "--data", data, *more, "--json")
        assert done.returncode == 0, done.stderr
        told = found[model, data] = json.loads(done.stdout)
        assert (told["images"], told["natural"], told["broken_within_their_proved_radius"]) == (30, 1.0, 0)
        assert told["proved"] <= told["attacked_without_box"] <= told["attacked"] <= 1
    assert found["own.nbr", "pictures"]["proved_of"] == "file"
    assert found["own.nbr", "rows.csv"]["proved_of"] == "prepared picture"
    assert found["vectors.nbr", "rows.csv"]["proved_of"] == "numbers"
    for model in ("own.nbr", "vectors.nbr"):
        assert len({(told["proved"], told["attacked"]) for (of, _), told in found.items() if of == model}) == 1
    assert found["own.nbr", "rows.csv"]["proved"] == pytest.approx(found["vectors.nbr", "rows.csv"]["proved"], abs=0.05)
    shown = attacked(own, "own.nbr", "--data", "pictures").stdout
    assert "own.nbr: 30 pictures, L2 1" in shown
    assert "lengths and proofs are of the file" in shown


def test_what_cannot_be_attacked_is_told_in_a_line(own: Path) -> None:
    shutil.copytree(own / "pictures", own / "strange")
    (own / "strange" / "flat").rename(own / "strange" / "flatt")
    shutil.copytree(own / "pictures" / "up", own / "single" / "up")
    shutil.copytree(own / "pictures", own / "broken")
    (own / "broken" / "up" / "z.png").write_text("nothing")
    (own / "empty" / "up").mkdir(parents=True)
    (own / "hole.csv").write_text("\n".join((own / "rows.csv").read_text().splitlines()[:2]).replace("1.0", "?", 1))
    for words, said in [
        (("own.nbr",), "mnist has the labels 0 to 9, and the classifier knows 'flat' from 'up'; give your pictures"),
        (("own.nbr", "--data", "nothing"), "unknown data 'nothing': there is no such file; data are mnist"),
        (("own.nbr", "--data", "strange"), "the folder 'flatt' is not a label of the classifier; did you mean 'flat'?"),
        (("own.nbr", "--data", "single"), "all pictures have the same label"),
        (("own.nbr", "--data", "broken"), "z.png: not a picture that can be read"),
        (("own.nbr", "--data", "empty"), "up has no pictures (.bmp"),
        (("own.nbr", "--data", "pictures/up"), "pictures/up has no sub-folders; class folders have one for each"),
        (("vectors.nbr", "--data", "pictures"), "the classifier takes none: its inputs are numbers, not pictures"),
        (("vectors.nbr", "--data", "rows.csv", "--label", "knd"), "there is no column 'knd'; did you mean 'kind'?"),
        (("vectors.nbr", "--data", "rows.csv", "--label", "p3"), "the label '1.0' is not a label of the classifier"),
        (("vectors.nbr", "--data", "hole.csv"), "row 2, column 'p0': '?' is not a number"),
        (("mnist-4-9", "--data", "rows.csv"), "196 columns beside the label 'kind', and the classifier takes 784"),
    ]:
        done = attacked(own, *words)
        assert (done.returncode, done.stdout, said in done.stderr) == (2, "", True), done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (KeyboardInterrupt(), 130, "nbr: stopped"),
        (FileExistsError(17, "File exists", "here"), 2, "nbr: cannot write here: File exists"),
    ],
)
def test_ctrl_c_is_told_in_one_line_and_a_folder_by_its_name(
    error: BaseException, status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise error

    monkeypatch.setattr(learn, "score", stop)
    done = run("score", "m.nbr", "t.csv")
    assert (done.returncode, done.stderr.strip()) == (status, words)
