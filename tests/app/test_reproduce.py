"""`nbr reproduce table2` from end to end, on small pictures, small classifiers and few steps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import torch

import nbr
from nbr.app import reproduce
from nbr.paper import gallery, open_images, table2
from nbr.robustness.attacks import ATTACKS
from pictures import bars


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    (X, y), (Z, z) = bars(None, "train"), bars(None, "testing")
    given = table2.Data(*(torch.from_numpy(part) for part in (X, y, Z[:16], z[:16])))
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
    trained = nbr.RobustClassifier(2.0, box=(0, 1), **settings).fit(X, y)
    raw, nearest = trained.raw_module(), table2.NearestNeighbour(given.train, given.train_labels)
    rows = {
        "nearest neighbour": table2.Rival(nearest, table2._nothing, raw),
        "NBR": table2.Rival(trained.as_module(), table2.proof(trained), raw, raw),
    }
    monkeypatch.setattr(table2, "data", lambda images, seed: given)
    monkeypatch.setattr(table2, "classifiers", lambda given, folder, only, say: rows)
    few = {"PGD": (5,), "DDN": (10, 40), "margin": (20,), "Square": (20,), "CW": (10,), "SCW": (12,), "BA": (20,)}
    monkeypatch.setattr(gallery, "STEPS", {"DDN": 20, "margin": 20})
    for name, stages in few.items():
        monkeypatch.setattr(ATTACKS[name], "stages", {"quick": stages}, raising=False)


def test_everything_is_written_and_true(small: None, tmp_path: Path) -> None:
    def run(as_json: bool) -> str:
        return reproduce.attacked("table2", "quick", 16, [], tmp_path / "kept", tmp_path / "t.html", as_json)

    told = json.loads(run(True))
    page = (tmp_path / "t.html").read_text()
    assert page.count("<svg") == 2
    assert not re.search(r"(src|href|url\()=?.{0,2}http", page)  # nothing is fetched
    assert [row["classifier"] for row in told["rows"]] == ["nearest neighbour", "NBR"]
    for row in told["rows"]:
        assert row["proved"] <= row["attacked"] <= min(row["left_by"].values()) <= row["natural"]
        assert set(row["left_by"]) == set(ATTACKS)
    assert told["rows"][1]["proved_but_attacked"] > 0
    assert told["checks"]["no image was broken within its proved radius"] is True
    assert json.loads((tmp_path / "t.json").read_text()) == told
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.safetensors")}
    assert "NBR" in run(False)
    assert {path: path.stat().st_mtime_ns for path in before} == before  # nothing was attacked again


def test_open_images_get_the_papers_own_steps(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_images, "STEPS", {"SCW": (600,), "CW": (15,), "BA": (30,)})
    monkeypatch.setattr(reproduce, "EPSILON", 4.4)  # so that something is open, and can be broken
    for attack in ATTACKS.values():
        monkeypatch.setattr(attack, "stages", {"quick": (1,)}, raising=False)

    def run(minutes: float | None) -> dict:
        place = tmp_path / "kept"
        told = reproduce.attacked("table2", "quick", 16, [], place, tmp_path / "t.html", True, longer=minutes)
        return json.loads(told)

    assert "open" not in run(None)
    early, late = run(0), run(10)
    (row,) = early["open"]["rows"]
    assert row["classifier"] == "NBR"
    assert row["open"] > 0
    assert row["attacked"] == {"SCW": 0, "CW": 0, "BA": 0}
    assert row["waiting"] == dict.fromkeys(row["attacked"], row["open"])
    assert row["left"] == pytest.approx(early["rows"][1]["attacked"])
    (row,) = late["open"]["rows"]
    assert row["waiting"] == {"SCW": 0, "CW": 0, "BA": 0}
    assert row["broken"]["SCW"] > 0
    assert row["attacked"]["CW"] == row["open"] - row["broken"]["SCW"]
    assert late["rows"][1]["proved"] <= row["left"] < late["rows"][1]["attacked"]
    assert f"of {row['open']} open images" in (tmp_path / "t.html").read_text()
    monkeypatch.setattr(open_images, "STEPS", {"SCW": (600,), "CW": (15,)})
    assert run(0)["open"]["rows"][0]["broken"]["SCW"] == row["broken"]["SCW"]  # from disk, whatever the time
