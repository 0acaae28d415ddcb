"""Inputs unlike the examples become "not known"; labels, radii and probabilities stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
from nbr import NbrError, RobustClassifier
from nbr.app.classifying import likeness
from nbr.classify.familiarity import ODD, Familiarity, familiarity
from nbr.classify.intervals import Intervals, discounted
from nbr.classify.recipe import TrainingSample

SMALL = {
    "networks": 2,
    "linear": False,
    "width": 16,
    "depth": 1,
    "head": 8,
    "epochs": 10,
    "batch_size": 64,
    "random_state": 0,
}


def clouds(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A narrow and a wide cloud on a plane in six dimensions."""
    dice = np.random.default_rng(seed)
    y = dice.integers(0, 2, count)
    flat = dice.normal(size=(count, 2)) * np.where(y == 1, 1.0, 0.1)[:, None] + 4 * y[:, None]
    return np.concatenate([flat, 0.01 * dice.normal(size=(count, 4))], axis=1), y


@pytest.fixture(scope="module")
def known() -> Familiarity:
    X, y = clouds(2000, 0)
    return familiarity(TrainingSample(torch.from_numpy(X).float(), torch.from_numpy(y), None), 0)


def test_it_is_calibrated_on_inputs_that_were_held_out(known: Familiarity) -> None:
    """a = p / (p + ODD) with p uniform on inputs like the examples."""
    degree = known.degree(*map(torch.from_numpy, clouds(4000, 1)))
    share = (ODD * degree / (1 - degree)).numpy()
    for quantile in (0.05, 0.25, 0.5, 0.75):
        assert np.mean(share <= quantile) == pytest.approx(quantile, abs=0.04)
    assert float((degree >= 0.8).double().mean()) > 0.93


def test_far_depends_on_the_label_and_on_directions_that_examples_do_not_take(known: Familiarity) -> None:
    points = torch.tensor([[0.0, 0, 0, 0, 0, 0], [4.0, 4, 0, 0, 0, 0], [4, 5.5, 0, 0, 0, 0], [0, 0.8, 0, 0, 0, 0]])
    points = torch.cat([points, points[:2] + torch.tensor([0, 0, 0.3, 0, 0, 0]), torch.full((1, 6), 50.0)])
    labels = torch.tensor([0, 1, 1, 0, 0, 1, 1])
    near, middle, wide, narrow, *off, away = known.degree(points.double(), labels).tolist()
    assert min(near, middle, wide) > 0.8  # 1.5 away from a wide cloud is nothing
    assert max(narrow, *off) < 0.5  # 0.8 away from a narrow one is
    assert away < 1e-6  # farther than any example ever was
    assert max(known.degree(points[:3].double(), 1 - labels[:3]).tolist()) < 0.01  # like examples, of another label


def test_what_is_left_of_all_directions_is_rounding_and_does_not_count(known: Familiarity) -> None:
    assert known.directions.shape == (6, 6)
    assert float(known.weights[-1]) == 0
    X, y = clouds(2000, 0)
    flat = np.concatenate([X, np.zeros((len(X), 2))], axis=1)  # two more columns in which examples never differ
    wider = familiarity(TrainingSample(torch.from_numpy(flat).float(), torch.from_numpy(y), None), 0)
    assert wider is not None
    assert float(wider.weights[-1]) > 0
    outside = torch.zeros(1, 8).double()
    outside[0, 7] = 1.0
    assert float(wider.degree(outside, torch.tensor([0]))) < 1e-6


def test_discounting_is_shafers() -> None:
    told = Intervals(torch.tensor([[0.6, 0.1]]), torch.tensor([[0.9, 0.4]]), torch.tensor([0.2]))
    found = discounted(told, torch.tensor([0.5]))
    torch.testing.assert_close(found.belief, torch.tensor([[0.3, 0.05]]))
    torch.testing.assert_close(found.plausibility, torch.tensor([[0.95, 0.7]]))
    assert discounted(told, None) is told


def test_a_classifier_says_what_it_does_not_know(tmp_path: Path) -> None:
    X, y = clouds(400, 2)
    classifier = RobustClassifier(0.5, **SMALL).fit(X, y)
    plain = RobustClassifier(0.5, discount=False, **SMALL).fit(X, y)
    Z = np.concatenate([clouds(200, 3)[0], np.random.default_rng(0).normal(size=(100, 6)) * 20])
    for name in ("predict", "certified_radius", "predict_proba", "conflict", "decision_function"):
        np.testing.assert_array_equal(getattr(classifier, name)(Z), getattr(plain, name)(Z))
    width = np.diff(classifier.belief(Z), axis=2)[:, 0, 0]
    assert width[200:].min() > 0.2
    assert np.median(width[:200]) < np.diff(plain.belief(Z), axis=2)[:200, 0, 0].mean() + 0.05
    assert classifier.predict_set(Z[-1:]) == [{0, 1}]
    a = classifier.familiarity(Z)[:, None]
    np.testing.assert_allclose(classifier.belief(Z)[..., 0], a * plain.belief(Z)[..., 0])
    np.testing.assert_array_equal(classifier.verdict(Z).familiarity, a[:, 0])
    assert plain.verdict(Z).familiarity is None
    with pytest.raises(NbrError, match="has no record of the examples"):
        plain.familiarity(Z)
    classifier.save(tmp_path / "c.nbr")
    again = nbr.load(tmp_path / "c.nbr")
    np.testing.assert_array_equal(again.belief(Z), classifier.belief(Z))
    np.testing.assert_array_equal(again.set_params(discount=False).belief(Z), plain.belief(Z))


def test_too_few_examples_say_nothing_and_constant_columns_do_no_harm() -> None:
    points = torch.randn(19, 3, generator=torch.Generator().manual_seed(0))
    assert familiarity(TrainingSample(points, torch.zeros(19, dtype=torch.long), None), 0) is None
    points = torch.cat([points.repeat(3, 1), torch.ones(57, 2)], dim=1)
    labels = (torch.arange(57) == 5).long()  # and so does a label with one example
    known = familiarity(TrainingSample(points, labels, None), 0)
    assert bool(known.degree(points.double(), labels).isfinite().all())
    assert float(known.degree(torch.tensor([[0.0, 0, 0, 1, 9]]).double(), labels[:1])) < 0.01


def test_the_nearest_example_of_the_label_decides(known: Familiarity) -> None:
    """The same by brute force, one pair at a time."""
    X, y = (torch.from_numpy(part) for part in clouds(40, 5))
    places = known.coordinates(X).double()
    for place, label, found in zip(places, y, known.degree(X, y), strict=True):
        near = min(float((place - r * known.step.double()).norm()) for r in known.references[known.labels == label])
        usual = known.distances[known.labels == label].double()
        share = (float((usual >= near).sum()) + 1) / (len(usual) + 1)
        if near <= float(usual.max()):
            assert float(found) == pytest.approx(share / (share + ODD), abs=0.03)


def test_parts_that_do_not_fit_are_refused(known: Familiarity) -> None:
    parts = known.tensors()
    for wrong in (
        {"weights": parts["weights"] * torch.nan},
        {"labels": parts["labels"] + 2},
        {"labels": parts["labels"].flip(0)},
        {"centre": parts["centre"][:3]},
        {"references": torch.full_like(parts["references"].float(), torch.inf)},
        {"step": parts["step"][:1]},
        {"step": parts["step"] * torch.inf},
    ):
        with pytest.raises(NbrError, match="a classifier's familiarity"):
            Familiarity.restored(parts | wrong, 6, 2)
    with pytest.raises(NbrError, match="a classifier's familiarity"):
        Familiarity.restored({"centre": parts["centre"]}, 6, 2)
    assert Familiarity.restored({}, 6, 2) is None


def test_a_byte_for_a_coordinate_where_that_is_fine_enough() -> None:
    random = np.random.default_rng(0)
    points, labels = torch.from_numpy(random.normal(size=(400, 6))).float(), torch.arange(400) % 2
    known = familiarity(TrainingSample(points, labels, None), 0)
    assert known.references.dtype == torch.int8
    places = known.coordinates(points)
    for label in (0, 1):
        mine = places[labels == label]
        wanted = torch.cdist(mine, mine).fill_diagonal_(torch.inf).amin(dim=1).sort().values
        found = known.distances[known.labels == label].sort().values
        torch.testing.assert_close(found, wanted, rtol=0.02, atol=0.02)
    points[0] *= 1e3
    assert familiarity(TrainingSample(points, labels, None), 0).references.dtype == torch.float16


def test_files_without_steps_are_read(known: Familiarity) -> None:
    parts = known.tensors()
    before = {name: part for name, part in parts.items() if name != "step"}
    before["references"] = (parts["references"].float() * parts["step"]).half()
    points, labels = torch.rand(30, 6).double(), torch.arange(30) % 2
    found = Familiarity.restored(before, 6, 2)
    torch.testing.assert_close(found.degree(points, labels), known.degree(points, labels), rtol=0.02, atol=0.02)


def test_it_is_told_in_words() -> None:
    assert "like the examples" in likeness(0.95)
    assert "believed less" in likeness(0.7)
    assert "not known" in likeness(0.1)
