"""Files with a right checksum whose makers meant no good: refused in one line, or all that they claim is so."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest
import torch

import hostile_files as hostile
import nbr
from hostile_verdicts import attacked, judged

EACH = 75


def written(path: Path, model: hostile.Model) -> Path:
    path.write_bytes(hostile.content(model))
    return path


def test_small_models_as_they_are_keep_their_promises(tmp_path: Path) -> None:
    for kind in (hostile.classifiers, hostile.reasoners):
        for name, model in kind().items():
            said = judged(written(tmp_path / "m.nbr", model), steps=20, budget=0.05)
            assert said in ("kept, something proved", "no proof", "answers kept"), name


@pytest.mark.parametrize("kind", [hostile.classifiers, hostile.reasoners])
def test_changed_files_are_refused_or_keep_their_promises(tmp_path: Path, kind) -> None:
    models, said = kind(), []
    for seed in range(EACH):
        dice = random.Random(seed)
        model, _ = hostile.changed(models[dice.choice(list(models))], dice)
        said.append(judged(written(tmp_path / "m.nbr", model), seed, steps=20, budget=0.05))
    assert said.count("refused") > EACH / 4
    assert len(said) - said.count("refused") > EACH / 8


@pytest.mark.parametrize("name", [name for name in hostile.AIMED if name != "a checkpoint"])
def test_aimed_changes(tmp_path: Path, name: str) -> None:
    for base in ("robust", "nonexpansive"):
        spec, parts = copy.deepcopy(hostile.classifiers()[base][0]), dict(hostile.classifiers()[base][1])
        hostile.AIMED[name](spec, parts, random.Random(0))
        judged(written(tmp_path / "m.nbr", (spec, parts)), steps=12)


@pytest.mark.parametrize("base", ["robust", "robust, pairs, exact", "nonexpansive", "belief of networks"])
def test_an_odd_width_proves_nothing(tmp_path: Path, base: str) -> None:
    """All shapes fit; MaxMin would pair by broadcasting, which stretches while the bound says 1."""
    spec, parts = hostile.classifiers()[base]
    parts = dict(parts)
    hostile.odd(spec, parts, random.Random(0))
    with pytest.raises(nbr.NbrError, match=r"m\.nbr: .*MaxMin takes groups of 2, and gets [35] numbers"):
        nbr.load(written(tmp_path / "m.nbr", (spec, parts)))


def test_the_attack_is_not_a_sham(tmp_path: Path) -> None:
    """Of a radius three times as large labels are lost."""
    model = nbr.load(written(tmp_path / "m.nbr", hostile.classifiers()["robust"]))
    X = torch.randn(20, hostile.SIZE, generator=torch.Generator().manual_seed(0), dtype=torch.float64).numpy()
    radius = model.certified_radius(X)
    assert attacked(model, X, radius, steps=40) == 0
    assert attacked(model, X, 3 * radius + 0.1, steps=40) > 5


def test_rules_of_a_classifier_take_its_inputs(tmp_path: Path) -> None:
    for base in ("belief of regressions", "belief of networks"):
        spec, parts = hostile.classifiers()[base]
        with pytest.raises(nbr.NbrError, match="rule 1 takes inputs of another shape"):
            nbr.load(written(tmp_path / "m.nbr", ({**spec, "shape": [2, 3]}, parts)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_familiarity_in_another_precision_is_asked(tmp_path: Path, dtype: torch.dtype) -> None:
    spec, parts = hostile.classifiers()["robust"]
    known = {name: part.to(dtype) for name, part in parts.items() if "familiarity" in name and "labels" not in name}
    model = nbr.load(written(tmp_path / "m.nbr", (spec, {**parts, **known})))
    degree = model.familiarity(torch.zeros(3, hostile.SIZE).numpy())
    assert bool(((degree >= 0) & (degree <= 1)).all())


def test_settings_of_a_run_are_not_taken_from_a_file(tmp_path: Path) -> None:
    spec, parts = copy.deepcopy(hostile.classifiers()["robust"])
    for setting in ({"n_jobs": 4000}, {"checkpoint": "elsewhere"}, {"verbose": True}, {"colour": 1}):
        changed = {**spec, "settings": {**spec["settings"], **setting}}
        with pytest.raises(nbr.NbrError, match="does not read from files"):
            nbr.load(written(tmp_path / "m.nbr", (changed, parts)))
