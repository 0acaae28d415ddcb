"""What sums leave open: toy pictures of five labels, told sums that settle some of them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

import nbr
from nbr.app import screen
from nbr.errors import NbrError
from nbr.teaching.network import NetworkSensor
from nbr.teaching.settled import settled
from nbr.teaching.statements import Statements

SIDE, COUNT = 5, 240
PAIRS = [(0, 0), (0, 1), (2, 3), (2, 4)]  # 0 and 1 are settled, 2, 3 and 4 are not
WORLD = nbr.World(a=nbr.Real(0, 4, step=1), b=nbr.Real(0, 4, step=1))


def pictures(labels: torch.Tensor, seed: int = 0) -> torch.Tensor:
    noise = torch.rand(len(labels), SIDE, SIDE, generator=torch.Generator().manual_seed(seed))
    noise[torch.arange(len(labels)), labels] += 1.0
    return noise / 2


def pairs(seed: int = 0) -> torch.Tensor:
    source = torch.Generator().manual_seed(seed)
    return torch.tensor(PAIRS)[torch.randint(0, len(PAIRS), (COUNT,), generator=source)].T


def possible(allowed: list[tuple[int, int]], labels: int) -> list[set[int]]:
    """By listing all maps: what each label may stand for so that all sums are as they were."""
    maps = [
        each
        for each in itertools.product(range(labels), repeat=labels)
        if all(each[one] + each[other] == one + other for one, other in allowed)
    ]
    return [{each[label] for each in maps} for label in range(labels)]


@pytest.mark.parametrize("noisy", [0.0, 0.03])
def test_what_is_open_equals_a_list_of_all_maps(noisy: float) -> None:
    labels = pairs()
    groups = 2 * labels + torch.randint(0, 2, labels.shape, generator=torch.Generator().manual_seed(1))  # two of each
    stray = torch.rand(labels.shape, generator=torch.Generator().manual_seed(2)) < noisy
    groups = torch.where(stray, (groups + 3) % 10, groups)
    said = Statements.of(nbr.Reasoner(WORLD).model, ["a + b = s"], {"s": labels.sum(dim=0).tolist()}, ["a", "b"], COUNT)
    found = settled(said, {"a": groups[0], "b": groups[1]}, 5, torch.ones(COUNT, dtype=torch.bool))
    wanted = possible(PAIRS, 5)
    assert wanted[:2] == [{0}, {1}]
    for group in range(10):
        assert set(found.possible[found.kind[group]].nonzero()[:, 0].tolist()) == wanted[group // 2]
    assert found.open == sorted(map(sorted, {frozenset(each) for each in wanted if len(each) > 1}))
    which = found.telling()
    assert which is not None
    assert len(found.possible[which].nonzero()) > 1


def test_sensors_say_what_is_open(tmp_path: Path) -> None:
    labels = pairs()
    examples: dict[str, Any] = {
        "a": pictures(labels[0], 1),
        "b": pictures(labels[1], 2),
        "s": labels.sum(dim=0).tolist(),
    }
    found = nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", groups=10, epochs=10, batch=40, rate=0.02)
    found.save(tmp_path / "m.nbr")
    back = nbr.load(tmp_path / "m.nbr")
    assert isinstance(back, nbr.Reasoner)
    shown = pictures(torch.tensor([0, 3]), 9)
    for model in (found, back):
        seen = model.see(a=shown[1])
        for label in (1, 2, 3):
            answer = seen.ask(f"a = {label}")
            assert answer.plausibility > 0.9
            assert answer.belief < 0.1
        assert seen.ask("a = 0").plausibility < 0.2
        assert model.see(a=shown[0]).ask("a = 0").belief > 0.8
    assert screen.model(back, "m.nbr").endswith("\n".join(found.model.sensors["a"].notes))
    sensor = back.model.sensors["a"]
    assert isinstance(sensor, NetworkSensor)
    assert (
        sensor.notes[0]
        == "the examples leave open: pictures of one group may be 1, 2 or 3; pictures of one group may be 2, 3 or 4"
    )
    assert (
        "would tell most: of 3 ways to label the groups that explain as much, 1 at most "
        "would be left" in sensor.notes[1]
    )


def test_few_labels_settle_the_rest_and_learning_starts_there() -> None:
    labels = pairs()
    examples: dict[str, Any] = {"a": pictures(labels[0], 1), "b": pictures(labels[1], 2)}
    says = [f"a + b = {total}" for total in labels.sum(dim=0).tolist()]
    for row in [int((labels.sum(dim=0) == total).nonzero()[at, 0]) for total in (5, 6) for at in (0, 1)]:
        says[row] = f"a = {int(labels[0, row])}, b = {int(labels[1, row])}"
    found = nbr.train(nbr.Reasoner(WORLD), examples, says, groups=10, epochs=10, batch=40, rate=0.02)
    sensor, truth = found.model.sensors["a"], torch.arange(5).repeat(20)
    assert isinstance(sensor, NetworkSensor)
    assert sensor.notes == ()
    assert float((sensor.scores(pictures(truth, 9)).argmax(dim=1) == truth).double().mean()) > 0.9
    with pytest.raises(NbrError, match="groups must be a number"):
        nbr.train(nbr.Reasoner(WORLD), examples, says, groups=1)
