"""Classifiers of colour pictures: layers that look at neighbouring pixels, their files, their proof under attack."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
from nbr import NbrError, RobustClassifier
from nbr.classify import storage
from nbr.classify.storage import written
from nbr.lipschitz import Local, local

QUICK = {"networks": 2, "width": 16, "head": 8, "epochs": 25, "batch_size": 32, "linear": False, "random_state": 0}


def spots(count: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A red spot or a green one, anywhere on a noisy picture of 12 x 10."""
    dice = np.random.default_rng(seed)
    X, y = 0.2 * dice.random((count, 12, 10, 3)), dice.integers(0, 2, count)
    for picture, label, row, column in zip(X, y, dice.integers(0, 9, count), dice.integers(0, 7, count), strict=True):
        picture[row : row + 4, column : column + 4, label] += 0.8
    return X, np.array(["green", "red"])[1 - y]


@pytest.fixture(scope="module")
def trained() -> RobustClassifier:
    return RobustClassifier(0.3, box=(0, 1), preparation="scale", **QUICK).fit(*spots())


def test_colour_pictures_get_local_layers_and_are_told_apart(trained: RobustClassifier) -> None:
    layers = list(trained._rules().networks.module())
    assert any(isinstance(layer, Local) for layer in layers)
    assert trained.recipe_["local"] is True
    Z, z = spots(seed=1)
    right, radius = trained.predict(Z) == z, trained.certified_radius(Z)
    assert right.mean() > 0.9
    assert (right & (radius > 0.3)).mean() > 0.7


def test_grey_ones_of_28_pixels_do_not_unless_told_to() -> None:
    X, y = spots(40)
    grey = np.pad(X[..., 0], ((0, 0), (8, 8), (9, 9)))
    settings = QUICK | {"epochs": 1}
    assert RobustClassifier(0.3, **settings).fit(grey, y).recipe_["local"] is False
    assert RobustClassifier(0.3, local=True, **settings).fit(grey, y).recipe_["local"] is True
    with pytest.raises(NbrError, match="vectors have none"):
        RobustClassifier(0.3, local=True, **settings).fit(grey.reshape(40, -1), y)
    with pytest.raises(NbrError, match="local must be True"):
        RobustClassifier(0.3, local="often", **settings).fit(grey, y)


def test_no_change_within_the_radius_alters_the_label(trained: RobustClassifier) -> None:
    Z, _ = spots(60, seed=2)
    label, radius = trained.predict(Z), trained.certified_radius(Z)
    module, number = trained.as_module(), torch.from_numpy(np.searchsorted(trained.classes_, label))
    start = torch.from_numpy(Z)
    lost = {}
    for share in (0.999, 4.0):
        x = start.clone()
        for step in range(60):
            x = x.requires_grad_()
            told = module(x)
            lead = told.gather(1, number[:, None]) - told.gather(1, 1 - number[:, None])
            (slope,) = torch.autograd.grad(lead.sum(), x)
            moved = x - 0.1 / (1 + step / 10) * slope / slope.flatten(1).norm(dim=1).clamp(min=1e-12).view(-1, 1, 1, 1)
            change = (moved.detach() - start).flatten(1)
            far = share * torch.from_numpy(radius)[:, None]
            change = change * (far / change.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
            x = (start + change.view_as(start)).clamp(0, 1)
        lost[share] = float((trained.predict(x.numpy()) != label).mean())
    assert lost[0.999] == 0
    assert lost[4.0] > 0.1  # so that the attack is one


def test_a_file_keeps_them(trained: RobustClassifier, tmp_path: Path) -> None:
    trained.save(tmp_path / "spots.nbr")
    again, (Z, _) = nbr.load(tmp_path / "spots.nbr"), spots(30, seed=3)
    for told in ("predict", "certified_radius", "decision_function"):
        np.testing.assert_array_equal(getattr(again, told)(Z), getattr(trained, told)(Z))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("networks.0.local", None, "layer 1 of a network needs"),
        ("networks.1.local", None, "layer 2 of a network needs"),
        ("networks.0.local", [12, 10, 3], "layer 1 of a network needs"),
        ("networks.0.local", [12, 10, 3, 0, 0], "which is not one"),
        ("networks.0.local", [12, 10, 3, 2, 2], "which is not one"),
        ("networks.0.local", [12, 10, 2, 2, 0], "takes 1 x 12 numbers"),
        ("networks.0.local", [12, 12, 3, 2, 0], "layer 3 of a network takes"),
        ("networks.1.local", [6, 6, 32, 1, 1], "layer 3 of a network takes"),
        ("networks.2.local", [10**9, 10**9, 32, 1, 1], "which is not one"),
    ],
)
def test_plans_of_files_that_do_not_fit_are_refused(name: str, value: list[int] | None, words: str) -> None:
    tensors = dict(written(local((12, 10, 3), 16, 8, 2)))
    if value is None:
        del tensors[name]
    else:
        tensors[name] = torch.tensor(value, dtype=torch.int32)
    with pytest.raises(NbrError, match=words):
        nbr.lipschitz.Fixed.taking(storage.networks(tensors))
