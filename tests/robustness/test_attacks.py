"""Every attack on models whose distances are known, and on one that hides its gradients."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from distances import SIZE, Linear, Masked, Nearest
from nbr import NbrError
from nbr.robustness.attacks import ATTACKS, attack
from nbr.robustness.base import BUDGETS, Attempt
from nbr.robustness.target import Cut, Target, distance

STEPS = {"PGD": 100, "DDN": 300, "margin": 100, "Square": 2000, "CW": 400, "SCW": 600, "BA": 1000}
WHITE = [name for name, each in ATTACKS.items() if each.knows == "gradients"]


def linear_attempt(model: Linear, epsilon: float = 1.0) -> tuple[Attempt, Tensor]:
    generator = torch.Generator().manual_seed(2)
    images = 0.5 + 0.05 * torch.randn(10, SIZE, generator=generator, dtype=torch.float64)
    signed = model.signed(images)
    labels = (signed > 0).long()
    images = images + (signed.sign() * 0.15)[:, None] * model.weight / model.weight.norm()
    exact = model.signed(images).abs()
    starts = images - 2.2 * (model.signed(images))[:, None] * model.weight / model.weight.norm()
    noise = 0.03 * torch.randn(images.shape, generator=generator, dtype=torch.float64)
    return Attempt(images, labels, (starts + noise).clamp(0, 1), epsilon), exact


@pytest.mark.parametrize("name", ATTACKS)
def test_contract(name: str) -> None:
    """Findings lose the label, lie in the box, and are as far as they are said to be; never nearer than possible.

    Twice the same with a seed, and the caller's random numbers do not notice.
    """
    model = Linear()
    target = Target(model)
    attempt, exact = linear_attempt(model, epsilon=0.6)
    steps, before = attack(name).stages["quick"][-1], torch.get_rng_state()
    found = attack(name).run(target, attempt, steps)
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(3)
    assert torch.equal(attack(name).run(target, attempt, steps).inputs, found.inputs)
    got = found.distance.isfinite()
    assert bool(got.all())
    assert bool(target.lost(found.inputs[got], attempt.labels[got]).all())
    assert float(found.inputs.min()) >= 0
    assert float(found.inputs.max()) <= 1
    torch.testing.assert_close(distance(found.inputs, attempt.images), found.distance)
    assert bool((found.distance >= exact - 1e-9).all())


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_knows_its_own_settings(name: str) -> None:
    """A larger budget begins as the smaller does, so that a run may be extended; each stage has more steps."""
    each = attack(name)
    assert tuple(each.stages) == BUDGETS
    assert each.stages["paper"][: len(each.stages["quick"])] == each.stages["quick"]
    assert all(few < more for few, more in itertools.pairwise(each.stages["paper"]))
    assert each.knows in ("gradients", "scores", "labels")


@pytest.mark.parametrize("name", WHITE)
def test_white_box_attacks_find_the_exact_distance_of_a_linear_model(name: str) -> None:
    model = Linear()
    attempt, exact = linear_attempt(model)
    found = attack(name).run(Target(model), attempt, STEPS[name])
    assert bool((found.distance <= 1.01 * exact).all())


@pytest.mark.parametrize("name", ["Square", "BA"])
def test_other_attacks_come_near_it(name: str) -> None:
    model = Linear()
    attempt, exact = linear_attempt(model)
    reach = float(1.5 * exact.max())
    found = attack(name).run(Target(model), Attempt(attempt.images, attempt.labels, attempt.starts, reach), STEPS[name])
    assert bool((found.distance <= max(reach, float(2 * exact.max()))).all())


@pytest.mark.parametrize("name", WHITE[1:])  # PGD looks for any change in the ball, not for the smallest
def test_nearest_neighbour(name: str) -> None:
    model = Nearest()
    generator = torch.Generator().manual_seed(3)
    images = model.own + 0.02 * torch.randn(8, SIZE, generator=generator, dtype=torch.float64)
    labels = torch.zeros(8, dtype=torch.long)
    exact, nearest = model.exact(images)
    found = attack(name).run(Target(model), Attempt(images, labels, model.others[nearest]), STEPS[name])
    assert bool((found.distance >= exact - 1e-9).all())
    assert bool((found.distance <= 1.05 * exact).all())


@pytest.mark.parametrize("name", ["Square", "BA", "SCW"])
def test_hidden_gradients_do_not_stop_attacks_that_do_not_need_them(name: str) -> None:
    """Square sees nothing here either until it is near the boundary, so it starts with a reach beyond it."""
    model = Masked()
    attempt, exact = linear_attempt(model, epsilon=0.9)
    found = attack(name).run(Target(model), attempt, STEPS[name])
    assert bool(found.distance.isfinite().all())
    assert bool((found.distance >= exact - 1e-9).all())


def test_seeded_cw_is_never_worse_than_its_start() -> None:
    model = Linear()
    attempt, _ = linear_attempt(model)
    assert attempt.starts is not None
    found = attack("SCW").run(Target(model), attempt, 6)
    assert bool((found.distance <= distance(attempt.starts, attempt.images) + 1e-12).all())


def test_what_breaks_a_surrogate_is_tried_on_the_target() -> None:
    """The masked model has no gradients to follow: seeded CW gets to the exact distance by way of the linear one."""
    model = Masked()
    attempt, exact = linear_attempt(model)
    alone = attack("SCW").run(Target(model), attempt, 60)
    helped = attack("SCW").run(Target(model, surrogate=Linear()), attempt, 60)
    assert bool((helped.distance <= 1.01 * exact).all())
    assert bool((helped.distance < alone.distance).all())


@pytest.mark.parametrize("name", ["PGD", "DDN", "margin", "CW"])
def test_raw_scores_help_where_the_margin_saturates(name: str) -> None:
    model = Masked()
    attempt, exact = linear_attempt(model, epsilon=0.6)
    alone = attack(name).run(Target(model), attempt, STEPS[name])
    helped = attack(name).run(Target(model, raw=Linear()), attempt, STEPS[name])
    assert bool((helped.distance <= alone.distance).all())
    if name in ("margin", "CW"):
        assert bool(alone.distance.isinf().any())
    assert bool((helped.distance <= 1.01 * exact.clamp(min=0.6 if name == "PGD" else 0)).all())


def test_seeded_cw_is_at_least_as_good_as_plain_cw() -> None:
    model = Nearest()
    generator = torch.Generator().manual_seed(4)
    images = model.own + 0.03 * torch.randn(12, SIZE, generator=generator, dtype=torch.float64)
    nearest = model.exact(images)[1]
    attempt = Attempt(images, torch.zeros(12, dtype=torch.long), model.others[nearest])
    seeded, plain = (attack(name).run(Target(model), attempt, steps) for name, steps in (("SCW", 1200), ("CW", 200)))
    assert bool((seeded.distance <= 1.001 * plain.distance).all())


def test_ten_labels_cut_to_two() -> None:
    """The cut classifier decides between two logits alone, whatever the others say."""
    network = torch.nn.Linear(SIZE, 10).double()
    target = Target(Cut(network, (4, 9)))
    generator = torch.Generator().manual_seed(6)
    images = torch.rand(20, SIZE, generator=generator, dtype=torch.float64)
    logits = network(images)
    labels = (logits[:, 9] > logits[:, 4]).long()
    assert not bool(target.lost(images, labels).any())
    slope = network.weight[9] - network.weight[4]
    exact = ((logits[:, 9] - logits[:, 4]).abs() / slope.norm()).detach()
    found = attack("DDN").run(target, Attempt(images, labels), 300)
    assert bool((found.distance >= exact - 1e-9).all())


def test_what_is_wrong_already_has_distance_0() -> None:
    model = Linear()
    attempt, _ = linear_attempt(model)
    found = attack("DDN").run(Target(model), Attempt(attempt.images, 1 - attempt.labels), 5)
    assert found.distance.tolist() == [0.0] * 10


def test_names() -> None:
    assert list(ATTACKS) == ["PGD", "DDN", "margin", "Square", "CW", "SCW", "BA"]
    with pytest.raises(NbrError, match="did you mean 'DDN'"):
        attack("DDNN")
    model = Linear()
    attempt, _ = linear_attempt(model)
    with pytest.raises(NbrError, match="BA needs starting points"):
        attack("BA").run(Target(model), Attempt(attempt.images, attempt.labels), 5)
