"""Belief falls as damage grows; what is passed on is chosen on pictures that were held out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

import nbr
from nbr import NbrError, RobustClassifier
from nbr.classify import damage, strangers
from nbr.classify.doubt import Doubt
from nbr.classify.rejection import Rejection, separation

SMALL = {"networks": 1, "linear": False, "width": 32, "depth": 1, "head": 8, "epochs": 15, "batch_size": 64}


def crosses(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Crosses that stand upright or lie askew, 12 x 12, on a dark ground."""
    dice = np.random.default_rng(seed)
    y, place = dice.integers(0, 2, count), np.arange(12) - 5.5
    X = 0.1 * dice.random((count, 12, 12))
    for picture, label in zip(X, y, strict=True):
        down, across = place[:, None] + dice.uniform(-1, 1), place + dice.uniform(-1, 1)
        arms = np.minimum(abs(down), abs(across)) if label else np.minimum(abs(down - across), abs(down + across)) / 1.4
        picture[(arms < 1) & (np.hypot(down, across) < 5)] += 0.8
    return X, np.where(y == 1, "upright", "askew")


@pytest.fixture(scope="module")
def trained() -> RobustClassifier:
    return RobustClassifier(1.0, box=(0, 1), random_state=0, **SMALL).fit(*crosses(220, 0))


@pytest.mark.parametrize("shape", [(9, 16), (16, 9, 3)])
@pytest.mark.parametrize("name", damage.KINDS)
def test_damage_stays_within_its_range_and_grows(name: str, shape: tuple[int, ...]) -> None:
    pictures = torch.rand(40, *shape, generator=torch.Generator().manual_seed(0)).double()
    pictures = damage.smoothed(pictures, torch.full((40,), 0.05))
    far = []
    for strength in (0.0, 0.3, 1.0):
        source = torch.Generator().manual_seed(1)
        found = damage.KINDS[name](pictures, torch.full((40,), strength), source)
        assert found.shape == pictures.shape
        assert found.dtype == pictures.dtype
        assert 0 <= float(found.min()) <= float(found.max()) <= 1
        far.append(float((found - pictures).norm()))
    assert far[0] < 1e-3 * far[2]
    assert far[0] < far[1]
    assert name == "turn" or far[1] < far[2]  # half a turn brings the corners back


def test_blur_is_a_gaussian() -> None:
    from scipy.ndimage import gaussian_filter

    picture = np.zeros((31, 31))
    picture[12:19, 14:20] = 1
    found = damage.smoothed(torch.from_numpy(picture)[None], torch.tensor([2 / 31]))[0]
    np.testing.assert_allclose(found.numpy(), gaussian_filter(picture, 2), atol=0.01)


@pytest.mark.parametrize("shape", [(12, 12), (10, 15, 3)])
def test_strangers_are_pictures_unlike_those_they_are_made_of(shape: tuple[int, ...]) -> None:
    pictures = torch.rand(300, *shape, generator=torch.Generator().manual_seed(0)) * 0.9
    found = strangers.strangers(pictures, pictures.flip(0), torch.Generator().manual_seed(1))
    assert found.shape == pictures.shape
    assert 0 <= float(found.min()) <= float(found.max()) <= 1
    assert bool(((found - pictures).flatten(1).norm(dim=1) > 0.1).all())


def test_belief_falls_as_fewer_labels_are_right(trained: RobustClassifier) -> None:
    X, y = crosses(400, 1)
    assert trained.score(X, y) > 0.95
    for kind in ("noise", "fade", "cover"):
        for strength in (0.0, 0.5, 1.0):
            source = torch.Generator().manual_seed(2)
            Z = damage.KINDS[kind](torch.from_numpy(X), torch.full((len(X),), strength), source).numpy()
            right = trained.predict(Z) == y
            label = np.searchsorted(trained.classes_, trained.predict(Z))
            belief = trained.belief(Z)[np.arange(len(Z)), label, 0]
            assert right.mean() - 0.25 < belief.mean() < right.mean() + 0.08, (kind, strength)
            np.testing.assert_allclose(trained.familiarity(Z), trained.verdict(Z).familiarity)
    odd = strangers.strangers(torch.from_numpy(X), torch.from_numpy(X[::-1].copy()), source).numpy()
    assert trained.familiarity(odd).mean() < trained.familiarity(X).mean() - 0.3


def test_labels_and_proofs_do_not_depend_on_doubt(trained: RobustClassifier, tmp_path: Path) -> None:
    X, _ = crosses(50, 3)
    plain = RobustClassifier(1.0, box=(0, 1), random_state=0, discount=False, **SMALL).fit(*crosses(220, 0))
    for name in ("predict", "certified_radius", "predict_proba"):
        np.testing.assert_array_equal(getattr(trained, name)(X), getattr(plain, name)(X))
    trained.save(tmp_path / "c.nbr")
    again = nbr.load(tmp_path / "c.nbr")
    for name in ("belief", "trust", "reject", "familiarity"):
        np.testing.assert_array_equal(getattr(again, name)(X), getattr(trained, name)(X))
    raw = trained.doubt_.tensors()
    for wrong in ({"first": raw["first"][1:]}, {"spread": 0 * raw["spread"]}, {"third": raw["third"] * torch.nan}):
        with pytest.raises(NbrError, match="of a classifier's doubt"):
            Doubt.restored(raw | wrong, trained.familiarity_, 2)
    with pytest.raises(NbrError, match="doubt does not have the expected parts"):
        Doubt.restored({"first": raw["first"]}, trained.familiarity_, 2)


def test_what_is_passed_on_leaves_labels_that_are_right(trained: RobustClassifier) -> None:
    X, y = crosses(2000, 4)
    Z = damage.damaged(torch.from_numpy(X), torch.Generator().manual_seed(5)).numpy()
    right = trained.predict(Z) == y
    assert right.mean() < 0.9
    few, many = trained.reject(Z, right=0.9), trained.reject(Z, right=0.97)
    assert right[~few].mean() > 0.87
    assert right[~many].mean() > right[~few].mean()
    assert 0.02 < few.mean() < many.mean() < 0.95
    assert roc_auc_score(right, trained.trust(Z)) > 0.75
    assert trained.reject(X, right=0.9).mean() < 0.2
    with pytest.raises(NbrError, match="between 0 and 1, not 1"):
        trained.reject(Z, right=1)


def test_tables_need_rows_that_were_held_out() -> None:
    dice = np.random.default_rng(0)
    y = dice.integers(0, 2, 300)
    X = dice.normal(size=(300, 3)) + 1.5 * y[:, None]
    with pytest.raises(NbrError, match="no examples were held out when it was trained"):
        RobustClassifier(0.5, random_state=0, **SMALL).fit(X, y).reject(X)
    held = RobustClassifier(0.5, held_out=0.3, random_state=0, **SMALL).fit(X, y)
    left = ~held.reject(X, right=0.97)
    assert 0.2 < left.mean() < 1
    assert (held.predict(X) == y)[left].mean() > 0.95


def test_thresholds_and_separation_by_counting() -> None:
    dice = np.random.default_rng(0)
    values = torch.from_numpy(dice.integers(0, 6, 200) / 5.0)
    right = torch.from_numpy(dice.random(200)) < values
    assert separation(values, right) == pytest.approx(roc_auc_score(right, values))
    assert separation(values, torch.ones(200, dtype=torch.bool)) == 0.5
    found = Rejection.of({"radius": -values, "belief": values}, right)
    assert found is not None
    assert found.score == "belief"
    for share in (0.5, 0.8, 0.95, 0.999):
        enough = [float(t) for t in values.unique() if float(right[values >= t].double().mean()) >= share]
        assert found.threshold(share) == (enough[0] if enough else float("inf"))
    again = Rejection.restored(found.tensors())
    assert again is not None
    assert again.threshold(0.8) == found.threshold(0.8)
    for wrong in ({"belief": values}, {"right": right[1:]}, {"belief": values * float("nan")}):
        with pytest.raises(NbrError, match="what a classifier passes on|what is passed on|passes on"):
            Rejection.restored(found.tensors() | wrong)
    assert Rejection.of({"radius": values[:5]}, right[:5]) is None
