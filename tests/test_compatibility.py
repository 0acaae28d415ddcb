"""Files of earlier releases load and say what they said. Each folder was written by the release that names it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nbr

RELEASED = Path(__file__).parent / "released"
VERSIONS = sorted(place.parent.name for place in RELEASED.glob("*/told.json"))


@pytest.fixture(params=VERSIONS)
def folder(request: pytest.FixtureRequest) -> Path:
    return RELEASED / request.param


@pytest.mark.parametrize("name", ["rules.nbr", "learned.nbr"])
def test_reasoners_answer_as_they_did(folder: Path, name: str) -> None:
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))[name]
    model = nbr.load(folder / name)
    for question, given, belief, plausibility in told:
        answer = model.ask(question, given=given)
        assert answer.belief == pytest.approx(belief, abs=1e-6)
        assert answer.plausibility == pytest.approx(plausibility, abs=1e-6)


def test_classifiers_tell_the_same_labels_and_prove_as_much(folder: Path) -> None:
    inputs, labels, radii = json.loads((folder / "told.json").read_text(encoding="utf-8"))["robust.nbr"]
    model = nbr.load(folder / "robust.nbr")
    assert model.predict(np.array(inputs)).tolist() == labels
    assert model.certified_radius(np.array(inputs)) == pytest.approx(np.array(radii), abs=1e-5)


def test_rule_files_answer_as_the_paper_says(folder: Path) -> None:
    majority = nbr.load(folder / "majority.toml")
    answer = majority.ask("x10", given="x0=1")
    assert (answer.belief, answer.plausibility) == (pytest.approx(0), pytest.approx(1 / 3))
    garden = nbr.load(folder / "garden.toml").ask("rain", given="grass=wet, ~sprinkler")
    assert garden.belief == pytest.approx(0.7)


def test_what_is_saved_again_is_read_again(folder: Path, tmp_path: Path) -> None:
    for name in ("rules.nbr", "learned.nbr", "robust.nbr"):
        nbr.load(folder / name).save(tmp_path / name)
        assert repr(nbr.load(tmp_path / name)) == repr(nbr.load(folder / name))
