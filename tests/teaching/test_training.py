"""Sensors that learn from statements: toy pictures of which the label can be seen, and only sums are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import nbr
from nbr.errors import NbrError
from nbr.progress import Progress
from nbr.teaching.examples import Examples
from nbr.teaching.network import NetworkSensor

SIDE = 4
WORLD = nbr.World(a=nbr.Real(0, 2, step=1), b=nbr.Real(0, 2, step=1))


def pictures(labels: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """A bright row where the label says, and noise."""
    noise = torch.rand(len(labels), SIDE, SIDE, generator=torch.Generator().manual_seed(seed))
    noise[torch.arange(len(labels)), labels] += 1.0
    return noise / 2


def told(count: int = 160, seed: int = 0) -> tuple[dict[str, Any], torch.Tensor]:
    labels = torch.randint(0, 3, (2, count), generator=torch.Generator().manual_seed(seed))
    return {"a": pictures(labels[0], 1), "b": pictures(labels[1], 2), "s": labels.sum(dim=0).tolist()}, labels


def right(model: nbr.Reasoner, seed: int = 9) -> float:
    labels = torch.arange(3).repeat(40)
    sensor = model.model.sensors["a"]
    assert isinstance(sensor, NetworkSensor)
    return float((sensor.scores(pictures(labels, seed)).argmax(dim=1) == labels).double().mean())


@pytest.mark.parametrize("network", ["dense", "nonexpansive"])
def test_labels_are_learned_from_sums(network: str) -> None:
    examples, _ = told()
    found = nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", network=network, epochs=15, batch=32, rate=0.02)
    assert right(found) > 0.95
    assert found.model.sensors["a"] is found.model.sensors["b"]
    assert found.see(a=pictures(torch.tensor([2]))[0], b=pictures(torch.tensor([1]))[0]).best().point == {
        "a": "2",
        "b": "1",
    }


def test_augmented_pictures_are_other_ones_of_the_same_label() -> None:
    examples, _ = told()
    settings: dict[str, Any] = {"network": "dense", "epochs": 15, "batch": 32, "rate": 0.02}
    plain, moved = (
        nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", augment=strength, **settings) for strength in (0, 0.5)
    )
    one, other = (each.model.sensors["a"].spec()[1] for each in (plain, moved))
    assert not any(torch.equal(one[name], other[name]) for name in one if name.endswith("weight"))
    assert right(moved) > 0.9


def test_a_text_for_each_row_says_the_same_as_a_column() -> None:
    examples, _ = told(60)
    sums = examples["s"]
    one = nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", epochs=3)
    texts = [f"a + b = {s}" for s in sums]
    two = nbr.train(nbr.Reasoner(WORLD), {**examples, "says": texts}, epochs=3)
    first, second = (each.model.sensors["a"].spec()[1] for each in (one, two))
    assert all(torch.equal(first[name], second[name]) for name in first)
    other = nbr.train(nbr.Reasoner(WORLD), {**examples, "says": ["a + b >= 0"] * 60}, epochs=3)
    assert not torch.equal(other.model.sensors["a"].spec()[1]["1.weight"], first["1.weight"])


def test_rules_count_beside_what_is_said_and_their_beliefs_are_learned() -> None:
    labels = torch.randint(0, 3, (2, 400), generator=torch.Generator().manual_seed(3))
    labels[1] = torch.where(torch.arange(400) % 10 < 8, labels[0], labels[1])
    examples = {"a": pictures(labels[0], 1), "b": pictures(labels[1], 2)}
    says = [f"a = {a}, b = {b}" for a, b in labels.T.tolist()]
    model = nbr.Reasoner(WORLD, [nbr.Clause("a - b = 0", belief=0.5)])
    kept = nbr.train(model, examples, says, epochs=2)
    assert kept.rules[0].degree == 0.5
    source, blind = torch.Generator().manual_seed(0), nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    noise = {name: torch.rand(400, 2, 2, generator=source) for name in "ab"}
    found = nbr.train(model, noise, says, network=blind, beliefs=True, epochs=15, rate=0.05, shift=0)
    same = float((labels[0] == labels[1]).double().mean())  # of 9 points 3 have a = b: b by equation (11)
    assert found.rules[0].degree == pytest.approx(1 - (1 - same) / 2 / same, abs=0.06)


def test_a_run_that_was_stopped_ends_with_the_same_weights(tmp_path: Path) -> None:
    examples, _ = told(80)
    settings: dict[str, Any] = {"says": "a + b = s", "epochs": 6, "batch": 10}
    whole = nbr.train(nbr.Reasoner(WORLD), examples, **settings)

    def stop(progress: Progress) -> None:
        if progress.done == 30 and not progress.ended:
            raise KeyboardInterrupt

    part = tmp_path / "m.part"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nbr.training.loop.SECONDS", 0.0)
        with pytest.raises(KeyboardInterrupt):
            nbr.train(nbr.Reasoner(WORLD), examples, **settings, checkpoint=part, verbose=stop)
    assert part.exists()
    steps: list[int] = []
    again = nbr.train(
        nbr.Reasoner(WORLD), examples, **settings, checkpoint=part, verbose=lambda each: steps.append(each.done)
    )
    assert min(steps) > 25
    assert not part.exists()
    for name, value in whole.model.sensors["a"].spec()[1].items():
        assert torch.equal(value, again.model.sensors["a"].spec()[1][name])


def test_what_was_learned_is_saved_and_learning_goes_on(tmp_path: Path) -> None:
    examples, _ = told(60)
    model = nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", epochs=3, network="nonexpansive")
    model.save(tmp_path / "m.nbr")
    back = nbr.load(tmp_path / "m.nbr")
    assert isinstance(back, nbr.Reasoner)
    shown = {"a": examples["a"][0], "b": examples["b"][0]}
    assert back.see(shown).ask("a = 1").belief == model.see(shown).ask("a = 1").belief
    assert right(nbr.train(back, examples, "a + b = s", epochs=15, batch=20)) > 0.9


def test_proved_evidence_holds_at_inputs_near_by() -> None:
    examples, _ = told()
    found = nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", network="nonexpansive", epochs=4, batch=32)
    sensor, source = found.model.sensors["a"], torch.Generator().manual_seed(1)
    points = torch.as_tensor(examples["a"][:50], dtype=torch.float64).requires_grad_()
    evidence = sensor.look(points.detach())
    for distance in (0.0, 0.1, 1.0):
        bounds = evidence.within(torch.full((50,), distance, dtype=torch.float64))
        assert bounds is not None
        low, high = bounds
        assert bool((low <= high).all())
        for attempt in range(10):
            change = torch.randn(50, SIDE, SIDE, generator=source, dtype=torch.float64)
            if attempt:  # uphill for one label against another
                layers = sensor.network.layers.double()  # type: ignore[attr-defined]
                scores = layers(points.flatten(1))[0]
                (change,) = torch.autograd.grad((scores[:, attempt % 3] - scores[:, (attempt + 1) % 3]).sum(), points)
            change = distance * change / change.flatten(1).norm(dim=1)[:, None, None].clamp(min=1e-12)
            seen = sensor.look(points.detach() + change).log_plausibility
            assert bool((seen >= low).all())
            assert bool((seen <= high).all())
    assert float((high - low).max()) > 1e-3


def test_a_network_of_ones_own_learns_but_is_not_saved(tmp_path: Path) -> None:
    examples, _ = told(60)
    own = nn.Sequential(nn.Flatten(), nn.Linear(SIDE * SIDE, 3))
    before = own[1].weight.detach().clone()  # type: ignore[union-attr]
    found = nbr.train(nbr.Reasoner(WORLD), examples, "a + b = s", network=own, epochs=2)
    assert torch.equal(own[1].weight, before)  # type: ignore[union-attr]
    with pytest.raises(NbrError, match="cannot be saved"):
        found.save(tmp_path / "m.nbr")


def bad(**changed: Any) -> dict[str, Any]:
    examples, _ = told(6)
    return {**examples, **changed}


ROWS = torch.arange(12.0 * SIDE).view(12, SIDE) / 12 / SIDE


@pytest.mark.parametrize(
    ("examples", "settings", "said"),
    [
        (
            bad(s=[1, 1, 7, 1, 1, 1]),
            {"says": "a + b = s"},
            "row 3 of the examples, 'a \\+ b = s' with s = 7, can never",
        ),
        (
            bad(s=[3] * 6, t=[1, 1, 7, 1, 1, 1]),
            {"says": "t = 2 * a"},
            "row 1 of .*' with t = 1, can",
        ),
        (bad(says=["a = 0"] * 5 + ["a = 2, a = 1"]), {}, "row 6 of the examples, .* can never hold"),
        (
            {"a": torch.zeros(2, SIDE, SIDE), "says": ["a = 0", "a in {1, 2}"]},
            {},
            "row 2 of the examples, .* contradicts what is said of the same pictures in row 1",
        ),
        (bad(), {}, "a column 'says'"),
        (bad(says=["a = 0"] * 5), {}, "6 rows of 'a' and 5 of 'says'|5 statements"),
        (bad(), {"says": "a + c = s"}, "'c'"),
        (bad(), {"says": "a + b = s", "network": "resnet"}, "no network 'resnet'"),
        (bad(), {"says": "a + b = s", "network": "lenet"}, "'lenet' takes pictures of 16 x 16"),
        (bad(), {"says": "a + b = s", "network": nn.Sequential(nn.Flatten(), nn.Linear(16, 5))}, r"gives \(2, 5\)"),
        (bad(), {"says": "a + b = s", "epochs": 0}, "epochs must be a number above 0"),
        (bad(), {"says": "a + b = s", "shift": 4}, "less than their sides, not 4"),
        (bad(), {"says": "a + b = s", "augment": -1}, "augment must be a number above 0, not -1"),
        (bad(a=ROWS[:6], b=ROWS[6:]), {"says": "a + b = s", "augment": 1}, "only pictures"),
        (bad(a=torch.zeros(6)), {"says": "a + b = s"}, "'a' of a variable has a picture"),
        (bad(b=torch.zeros(6, 5, 5)), {"says": "a + b = s"}, "one shape"),
        (bad(b=torch.full((6, SIDE, SIDE), 255)), {"says": "a + b = s"}, "from 0 to 1"),
        (bad(belief=[1, 1, 1, 1, 1, 2]), {"says": "a + b = s"}, "row 6: the belief of a statement must be"),
        ({"s": [1]}, {"says": "a + b = s"}, "no column of the examples has the name of a variable"),
    ],
)
def test_bad_examples_are_one_line(examples: dict[str, Any], settings: dict[str, Any], said: str) -> None:
    with pytest.raises(NbrError, match=said) as error:
        nbr.train(nbr.Reasoner(WORLD), examples, **settings)
    assert "\n" not in str(error.value)
    assert "\t" not in str(error.value)


def test_contradictions_that_go_through_other_rows_are_found() -> None:
    shown = pictures(torch.tensor([0, 1, 2]))
    columns = {"a": shown[[0, 1, 0]], "b": shown[[1, 2, 2]], "says": ["a + b = 4", "a + b = 0", "a + b = 2"]}
    with pytest.raises(NbrError, match="contradicts"):
        nbr.train(nbr.Reasoner(WORLD), columns)
    doubted = nbr.train(nbr.Reasoner(WORLD), {**columns, "belief": [0.9, 0.9, 0.9]}, epochs=1)
    assert doubted.model.sensors


def test_statements_count_as_far_as_they_are_believed() -> None:
    """Of rows n that say a and m that say not a, believed to b, p is (n - m (1 - b)) / (b (n + m)) at the maximum."""
    blind = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    columns = {"x": torch.ones(3, 2, 2), "says": ["x", "x", "~x"], "belief": [0.8, 0.8, 0.8]}
    model = nbr.Reasoner(nbr.World(x=nbr.Bit()))
    found = nbr.train(model, columns, network=blind, epochs=250, rate=0.05, shift=0)
    sensor = found.model.sensors["x"]
    assert isinstance(sensor, NetworkSensor)
    assert float(sensor.scores(torch.ones(1, 2, 2)).softmax(dim=1)[0, 1]) == pytest.approx((2 - 0.2) / 2.4, abs=0.02)


def test_a_row_keeps_its_number_where_others_are_held_out() -> None:
    examples = Examples.of(WORLD, bad(s=[1, 1, 1, 1, 1, 7]), "a + b = s").only(torch.tensor([1, 5]))
    with pytest.raises(NbrError, match="row 6 of the examples"):
        nbr.train(nbr.Reasoner(WORLD), examples)
