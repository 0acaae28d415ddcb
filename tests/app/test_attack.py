"""`nbr attack` on a small classifier and made-up test images."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import nbr
from command import run
from nbr import NbrError
from nbr.app import attack, learn
from pictures import bars


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "bars.nbr"
    settings = {"networks": 2, "width": 32, "depth": 1, "head": 8, "epochs": 15, "batch_size": 32, "random_state": 0}
    X, y = bars(None, "train")
    nbr.RobustClassifier(1.0, box=(0, 1), **settings).fit(X, y).save(path)
    return path


@pytest.fixture
def model(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(attack.datasets, "mnist", bars)
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

    monkeypatch.setattr(attack.datasets, "mnist", three)
    X, y = three(None, "train")
    settings = {"width": 32, "depth": 1, "head": 8, "epochs": 15, "batch_size": 32, "random_state": 0}
    classifier = nbr.RobustClassifier(1.0, box=(0, 1), **settings).fit(X, y)
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
