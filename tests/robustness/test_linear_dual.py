"""Wong and Kolter's bound: never above what an attack finds, exact where nothing bends, much closer than intervals."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nbr.robustness.linear_dual import lowest_leads
from nbr.robustness.rivals import Small, worst_logits

COUNT = 12


@pytest.fixture(scope="module")
def network() -> Small:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Small(labels=3).double().requires_grad_(False)


def pictures(seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    images = torch.rand(COUNT, 28, 28, generator=generator, dtype=torch.float64)
    return images, torch.randint(3, (COUNT,), generator=generator)


def leads(network: Small, images: Tensor, labels: Tensor) -> Tensor:
    """The label's logit minus each other one, in order: (n, 2)."""
    logits, own = network(images), torch.nn.functional.one_hot(labels, 3).bool()
    return logits[own][:, None] - logits[~own].view(len(labels), -1)


def attacked(network: Small, images: Tensor, labels: Tensor, size: float, other: int) -> Tensor:
    """The lowest lead over one other label that signed steps find in the box."""
    low, high, moved = (images - size).clamp(0, 1), (images + size).clamp(0, 1), images.clone()
    best = leads(network, images, labels)[:, other]
    for _ in range(40):
        moved = moved.detach().requires_grad_()
        lead = leads(network, moved, labels)[:, other]
        best = torch.minimum(best, lead.detach())
        (slope,) = torch.autograd.grad(lead.sum(), moved)
        moved = torch.minimum(torch.maximum(moved - size / 8 * slope.sign(), low), high)
    return best


def bound(network: Small, images: Tensor, labels: Tensor, size: float) -> Tensor:
    return lowest_leads(network, (images - size).clamp(0, 1), (images + size).clamp(0, 1), labels)


@pytest.mark.parametrize("size", [0.002, 0.01, 0.05, 0.2])
def test_no_attack_goes_below(network: Small, size: float) -> None:
    images, labels = pictures(0)
    proved = bound(network, images, labels, size)
    assert proved.shape == (COUNT, 2)
    for other in (0, 1):
        assert bool((attacked(network, images, labels, size, other) >= proved[:, other] - 1e-9).all())


def test_it_is_close_where_intervals_are_not(network: Small) -> None:
    images, labels = pictures(1)
    found = torch.stack([attacked(network, images, labels, 0.01, other) for other in (0, 1)], dim=1)
    worst = worst_logits(network, images, labels, 0.01)
    own = torch.nn.functional.one_hot(labels, 3).bool()
    intervals = worst[own][:, None] - worst[~own].view(COUNT, -1)
    gap = (found - bound(network, images, labels, 0.01)).mean()
    assert gap < 0.05
    assert (found - intervals).mean() > 20 * gap


def test_it_is_exact_where_nothing_bends(network: Small) -> None:
    """Within so small a box no unit turns on or off, or hardly one: a linear function has its least at a corner."""
    images, labels = pictures(2)
    size = 1e-8
    low, high = (images - size).clamp(0, 1), (images + size).clamp(0, 1)
    middle = ((low + high) / 2).requires_grad_()
    for other in (0, 1):
        lead = leads(network, middle, labels)[:, other]
        (slope,) = torch.autograd.grad(lead.sum(), middle)
        wanted = lead.detach() - (slope.abs() * (high - low) / 2).flatten(1).sum(dim=1)
        fall = lead.detach() - lowest_leads(network, low, high, labels)[:, other]
        torch.testing.assert_close(fall, lead.detach() - wanted, rtol=1e-4, atol=0)


def test_gradients_lead_to_better_bounds() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = Small(labels=3).double()
    images, labels = pictures(3)
    before = bound(network, images, labels, 0.02).amin(dim=1).mean()
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01)
    for _ in range(3):
        optimiser.zero_grad()
        (-bound(network, images, labels, 0.02).mean()).backward()
        optimiser.step()
    assert bound(network, images, labels, 0.02).amin(dim=1).mean() > before
