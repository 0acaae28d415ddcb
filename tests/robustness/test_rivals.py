"""Rivals learn, the attacked ones withstand more, and interval bounds hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from nbr import NbrError
from nbr.robustness import rivals
from nbr.robustness.attacks import attack
from nbr.robustness.base import Attempt
from nbr.robustness.target import Target


def bars(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Upright bars and lying ones, with noise."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (count,), generator=generator)
    images = 0.3 * torch.rand(count, 28, 28, generator=generator)
    for picture, label in zip(images, labels, strict=True):
        at = int(torch.randint(8, 18, (1,), generator=generator))
        if label:
            picture[5:23, at : at + 3] += 0.6
        else:
            picture[at : at + 3, 5:23] += 0.6
    return images, labels


@pytest.fixture(scope="module")
def trained() -> dict[str, rivals.Small]:
    images, labels = bars(300, 0)
    with pytest.MonkeyPatch.context() as patch:
        easy = {"steps": 4, "rate": 3e-3}
        sizes = {name: s.size / (2 if s.norm == "l2" else 8) for name, s in rivals.SETTINGS.items()}
        short = {
            name: replace(s, **easy, size=sizes[name], width=1, epochs=1 if s.after else 24)
            for name, s in rivals.SETTINGS.items()
        }
        patch.setattr(rivals, "SETTINGS", short)
        found: dict[str, rivals.Small] = {}
        for name, setting in short.items():
            few = slice(64 if setting.bound == "dual" else None)
            found[name] = rivals.train(name, images[few], labels[few], start=found.get(setting.after or ""))
        return found


def test_all_learn(trained: dict[str, rivals.Small]) -> None:
    images, labels = bars(200, 1)
    for network in trained.values():
        assert float((network(images).argmax(dim=1) == labels).double().mean()) > 0.9


def test_training_against_attacks_pays(trained: dict[str, rivals.Small]) -> None:
    images, labels = bars(30, 2)
    far = {}
    for name in ("vanilla", "L2 adversarial"):
        target = Target(trained[name].double())
        far[name] = attack("DDN").run(target, Attempt(images.double(), labels), 60).distance.median()
    assert far["L2 adversarial"] > far["vanilla"]


def test_interval_bounds_hold(trained: dict[str, rivals.Small]) -> None:
    images, labels = bars(50, 3)
    network = trained["interval"].float()
    worst = rivals.worst_logits(network, images, labels, 0.05)
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        away = 0.05 * (2 * torch.rand(images.shape, generator=generator) - 1)
        logits = network((images + away).clamp(0, 1))
        own = torch.nn.functional.one_hot(labels, 2).bool()
        assert bool((logits[own] >= worst[own] - 1e-5).all())
        assert bool((logits[~own] <= worst[~own] + 1e-5).all())


def test_what_a_rival_begins_with_is_where_it_begins() -> None:
    images, labels = bars(64, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "SETTINGS", {"late": rivals.Setting(epochs=1, after="early", rate=0.0)})
        start = rivals.Small()
        found = rivals.train("late", images, labels, start=start)
    torch.testing.assert_close(found.state_dict(), start.state_dict(), atol=0, rtol=0)


def test_same_seed_same_rival() -> None:
    images, labels = bars(64, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "SETTINGS", {"vanilla": rivals.Setting(epochs=1)})
        first, second = (rivals.train("vanilla", images, labels, seed=3) for _ in range(2))
        with pytest.raises(NbrError, match="unknown rival"):
            rivals.train("x", images, labels)
    torch.testing.assert_close(first[1].weight, second[1].weight, atol=0, rtol=0)
