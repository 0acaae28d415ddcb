"""The classifier that comes with the package: it loads, answers, and its networks never move two inputs apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import nbr
from nbr.classify.robust import RobustClassifier
from nbr.kinds import SHIPPED
from nbr.lipschitz import bound

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def shipped() -> RobustClassifier:
    return nbr.load("mnist-4-9")


def test_it_is_small_and_carries_its_figures(shipped: RobustClassifier) -> None:
    assert (SHIPPED / "mnist-4-9.nbr").stat().st_size <= 25_000_000
    assert shipped.figures_["images"] == 1991
    assert shipped.classes_.tolist() == [4, 9]
    assert shipped.rules_.first_memory >= 14


@pytest.mark.parametrize(("name", "label"), [("nine", 9), ("four", 4)])
def test_it_reads_pictures(shipped: RobustClassifier, name: str, label: int) -> None:
    picture = shipped.read(EXAMPLES / f"{name}.png")
    assert shipped.predict(picture).tolist() == [label]
    low, high = shipped.belief(picture)[0, [4, 9].index(label)]
    assert 0.5 < low <= high <= 1
    assert shipped.certified_radius(picture)[0] > 0


def test_all_ten_digits() -> None:
    """The other one that is shipped: networks for each pair of labels on layers in common."""
    ten = nbr.load("mnist-10")
    assert (SHIPPED / "mnist-10.nbr").stat().st_size <= 10_000_000
    assert ten.figures_["images"] == 10_000
    assert ten.classes_.tolist() == list(range(10))
    X = ten.read(*(EXAMPLES / f"{name}.png" for name in ("nine", "four")))
    assert ten.predict(X).tolist() == [9, 4]
    assert bool((ten.certified_radius(X) > 1).all())
    seen, blank = (np.diff(ten.belief(each)).max() for each in (X, np.zeros_like(X)))
    assert seen < 0.2 < 0.8 < blank, "of a blank picture hardly anything is known"
    assert ten.combine == "cautious"
    assert len(ten.rules_) == 45, "no memories"
    world = nbr.World(d=nbr.Real(0, 9, 1))
    both = [nbr.Reasoner(world, sensors={"d": nbr.Sensor(ten)}).see(d=each) for each in X]
    assert [each.best().point["d"] for each in both] == ["9", "4"], "what is classified is what is seen"
    np.testing.assert_allclose([each.certified_radius() for each in both], ten.certified_radius(X), rtol=1e-2)
    assert bool((bound(ten.rules_.networks.module().double()) <= 1 + 1e-6).all())


def test_no_pair_of_inputs_moves_apart(shipped: RobustClassifier) -> None:
    network, generator = shipped.rules_.networks.module().double(), torch.Generator().manual_seed(0)
    most = bound(network)
    assert bool((most <= 1 + 1e-6).all())
    images = shipped.rules_.memories.double()
    for scale in (1e-4, 0.1, 2.0, 10.0):
        first = images[torch.randint(len(images), (1000,), generator=generator)].requires_grad_()
        (slope,) = torch.autograd.grad(
            network(first)[int(torch.randint(len(most), (1,), generator=generator))].sum(), first
        )
        noise = torch.randn(first.shape, generator=generator, dtype=torch.float64)
        for away in (slope, noise / noise.norm(dim=1, keepdim=True)):
            with torch.no_grad():
                moved = (network(first) - network(first + scale * away))[..., 0].abs()
            assert bool((moved <= most[:, None] * scale * away.norm(dim=1) * (1 + 1e-9)).all())


def test_gradient_steps_break_no_certified_picture(shipped: RobustClassifier) -> None:
    """Straight down the margin from every memorised image, to just inside its proved radius."""
    images = shipped.rules_.memories[:60].double()
    radius = torch.from_numpy(shipped.certified_radius(images.clamp(0, 1).numpy()))
    module = shipped.as_module()
    logits = module(images).detach()
    label = torch.where(logits[:, 1] >= logits[:, 0], 1.0, -1.0).double()
    moved = images.clone()
    for _ in range(40):
        moved = moved.detach().requires_grad_()
        told = module(moved)
        margin = (told[:, 1] - told[:, 0]) * label
        assert bool((margin[radius > 0] > 0).all())
        (slope,) = torch.autograd.grad(margin.sum(), moved)
        away = moved.detach() - 0.2 * radius[:, None] * slope / slope.norm(dim=1, keepdim=True) - images
        moved = images + away * (radius[:, None] / away.norm(dim=1, keepdim=True).clamp(min=1e-12)).clamp(max=1)
    assert np.isfinite(radius.numpy()).all()
