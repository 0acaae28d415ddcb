"""Nonexpansive networks: no pair of inputs ever moves apart by more than the stated bound."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from nbr import NbrError, lipschitz
from nbr.lipschitz.layers import Convolution, Dense, GroupSort, MaxMin
from nbr.lipschitz.networks import length

ROUND = 1 + 1e-9


def trained(inputs: int = 20, width: int = 16, depth: int = 3, count: int = 3, steps: int = 30) -> nn.Sequential:
    """Networks after some steps towards telling two clouds apart."""
    network = lipschitz.dense(inputs, [width] * depth, count, shared=1, seed=1)
    optimiser = lipschitz.Stiefel(network, lr=0.1)
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(1000, inputs, generator=generator)
    truth = points[:, 0].sign()
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = optimiser.param_groups[1]["lr"] = 0.1 * (1 - step / steps)
        optimiser.zero_grad()
        nn.functional.softplus(1 - network(points)[..., 0] * truth).mean().backward()
        optimiser.step()
    return network


def stretch(network: nn.Module, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """How many times the distance of outputs is that of inputs."""
    moved = (network(first) - network(second)).flatten(-1).norm(dim=-1)
    return moved.detach() / (first - second).flatten(1).norm(dim=1)


def test_training_stays_on_the_manifold_and_learns() -> None:
    network = trained(steps=200)
    for layer in network:
        if isinstance(layer, Dense):
            weight = layer.weight.detach().double()
            rows = weight if weight.shape[1] <= weight.shape[2] else weight.mT
            unit = torch.eye(rows.shape[1]).double().expand(len(rows), -1, -1)
            torch.testing.assert_close(rows @ rows.mT, unit, atol=1e-2, rtol=0)
    points = torch.randn(500, 20, generator=torch.Generator().manual_seed(5))
    right = (network(points)[..., 0] * points[:, 0] > 0).double().mean(dim=1)
    assert bool((right > 0.85).all())


def test_a_finished_network_is_bounded_by_one() -> None:
    network = trained()
    lipschitz.finish(network)
    found = lipschitz.bound(network)
    assert found.shape == (3,)
    assert bool((found <= 1 + 1e-6).all())
    assert bool((found > 0.999).all())


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 100.0])
def test_no_pair_moves_apart(scale: float) -> None:
    network = trained()
    lipschitz.finish(network)
    network = network.double()
    most = lipschitz.bound(network)
    generator = torch.Generator().manual_seed(2)
    first = torch.randn(5000, 20, generator=generator, dtype=torch.float64)
    second = first + scale * torch.randn(5000, 20, generator=generator, dtype=torch.float64)
    assert bool((stretch(network, first, second) <= most[:, None] * ROUND).all())


def test_adversarial_pairs_come_close_to_the_bound_and_do_not_pass_it() -> None:
    network = trained().double()
    most = lipschitz.bound(network)
    first = torch.randn(50, 20, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    for number in range(3):
        x = first.clone().requires_grad_()
        (slope,) = torch.autograd.grad(network(x)[number].sum(), x)
        reached = stretch(network, first, first + 1e-4 * slope)[number]
        assert bool((reached <= most[number] * ROUND).all())
        assert float(reached.max()) > 0.99


def test_the_bound_of_a_dense_layer_is_its_norm() -> None:
    layer = Dense(7, 5, count=2)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(0)))
    truth = torch.linalg.matrix_norm(layer.weight.double(), ord=2)
    torch.testing.assert_close(lipschitz.bound(layer), truth, rtol=1e-12, atol=0)
    assert bool((lipschitz.bound(layer) >= truth).all())


@pytest.mark.parametrize("kernel", [3, 5])
def test_a_convolution_is_bounded_by_its_own_operator(kernel: int) -> None:
    layer = Convolution(2, 3, kernel, (6, 7), torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        layer.weight.mul_(5)
        basis = torch.eye(2 * 6 * 7, dtype=torch.float64).view(-1, 2, 6, 7)
        operator = (layer(basis) - layer(torch.zeros_like(basis))).flatten(1).T
    exact = float(torch.linalg.matrix_norm(operator, ord=2))
    stated = float(lipschitz.bound(layer))
    assert exact <= stated <= 1 + 1e-9
    assert exact > 0.8  # the bound is that of a slightly larger picture


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 30.0]))
def test_sorting_keeps_distances_from_growing(seed: int, scale: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    first, second = (scale * torch.randn(20, 12, generator=generator, dtype=torch.float64) for _ in range(2))
    for layer in (MaxMin(), GroupSort(2), GroupSort(3), GroupSort(12)):
        assert bool((stretch(layer, first, second) <= ROUND).all())


def test_the_gradient_of_sorted_pairs_is_that_of_maximum_and_minimum() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 5, 8, generator=generator, dtype=torch.float64).requires_grad_()
    slope = torch.randn(3, 5, 8, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        x[:, :2, 4:] = x[:, :2, :4]  # where two are equal, half and half
    first, second = x.chunk(2, dim=-1)
    plain = torch.cat([torch.maximum(first, second), torch.minimum(first, second)], dim=-1)
    assert torch.equal(MaxMin()(x), plain)
    assert torch.equal(MaxMin()(x.detach()), plain.detach())
    (wanted,) = torch.autograd.grad(plain, x, slope)
    torch.testing.assert_close(torch.autograd.grad(MaxMin()(x), x, slope)[0], wanted)
    apart = torch.randn(4, 6, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(MaxMin(), apart)
    assert torch.autograd.gradgradcheck(MaxMin(), apart)


def test_groups_of_neighbours_are_sorted_for_each_input() -> None:
    x = torch.randn(5, 7, 12, generator=torch.Generator().manual_seed(0))
    for group in (2, 3, 12):
        wanted = [part.sort().values for part in x.reshape(-1, group)]
        assert torch.equal(GroupSort(group)(x), torch.stack(wanted).reshape(x.shape))


def test_rounding_of_convolutions_is_not_claimed() -> None:
    network = nn.Sequential(Convolution(1, 2, 3, (4, 4)), nn.Flatten())
    with pytest.raises(NbrError, match="rounding of convolutions"):
        lipschitz.rounding(network, torch.ones(1, dtype=torch.float64))


def test_one_input_for_all_networks_or_one_each() -> None:
    network = lipschitz.dense(20, [16, 16], 3)
    points = torch.randn(4, 20, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(network(points), network(points.expand(3, -1, -1)))


def test_rounding_is_small_and_covers_what_happens() -> None:
    network = trained().double()
    points = torch.rand(300, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    allowed = lipschitz.rounding(network, length(points))
    assert allowed.shape == (3, 300)
    assert float(allowed.max()) < 1e-11
    # The same sums in another order differ by less than twice the allowance.
    order = torch.randperm(20, generator=torch.Generator().manual_seed(1))
    first = network[0]
    assert isinstance(first, Dense)
    before = network(points)[..., 0]
    with torch.no_grad():
        first.weight.copy_(first.weight[:, :, order].clone())
    assert bool(((network(points[:, order])[..., 0] - before).abs() <= 2 * allowed).all())


def test_unknown_layers_have_no_bound() -> None:
    with pytest.raises(NbrError, match="Tanh"):
        lipschitz.bound(nn.Sequential(Dense(3, 2), nn.Tanh()))
    with pytest.raises(NbrError, match="even"):
        lipschitz.dense(3, [5, 2])


@pytest.mark.parametrize("layer", [MaxMin(), GroupSort(2), GroupSort(3)])
def test_sorting_refuses_a_width_that_leaves_a_part_of_a_group(layer: nn.Module) -> None:
    with pytest.raises(NbrError, match="takes"):
        layer(torch.zeros(4, 7))


def test_a_convolution_refuses_pictures_of_another_size() -> None:
    with pytest.raises(NbrError, match="pictures"):
        Convolution(1, 2, 3, (4, 4))(torch.zeros(1, 1, 9, 9))


def changed(name: str, value: float | torch.Tensor) -> nn.Sequential:
    """Networks with one of their parts changed."""
    network = lipschitz.dense(5, [4, 4], 3, shared=1)
    layer = network[2]
    assert isinstance(layer, Dense)
    part = value if isinstance(value, torch.Tensor) else getattr(layer, name).detach().clone()
    if not isinstance(value, torch.Tensor):
        part.view(-1)[1] = value
    setattr(layer, name, nn.Parameter(part))
    return network


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (nn.Sequential(Dense(5, 3), MaxMin(), Dense(3, 1)), "groups of 2, and gets 3"),
        (nn.Sequential(Dense(5, 8), GroupSort(3), Dense(8, 1)), "groups of 3, and gets 8"),
        (nn.Sequential(Dense(5, 4), MaxMin(), Dense(6, 1)), "takes 1 x 6 numbers, and gets 1 x 4"),
        (nn.Sequential(Dense(5, 4, count=2), MaxMin(), Dense(4, 1, count=3)), "takes 3 x 4 numbers, and gets 2 x 4"),
        (nn.Sequential(), "no layers"),
        (nn.Sequential(nn.Flatten(0), Dense(5, 1)), "no Lipschitz bound"),
        (changed("weight", torch.nan), "layer 3 of a network: a weight is not a finite number"),
        (changed("bias", torch.inf), "layer 3 of a network: a bias is not a finite number"),
        (changed("bias", torch.zeros(3, 1, 1)), "do not fit together"),
        (changed("weight", torch.zeros(4, 4)), "do not fit together"),
    ],
)
def test_what_a_bound_does_not_cover_is_refused(network: nn.Sequential, words: str) -> None:
    for asked in (lipschitz.bound, lipschitz.finish, lipschitz.Fixed, lipschitz.Fixed.taking):
        with pytest.raises(NbrError, match=words):
            asked(network)


def test_a_score_is_one_number() -> None:
    with pytest.raises(NbrError, match="one output"):
        lipschitz.Fixed(nn.Sequential(Dense(5, 2)))


def test_numbers_whose_squares_are_lost_are_counted() -> None:
    """A layer too small to see before one that makes up for it."""
    network = nn.Sequential(Dense(3, 2), MaxMin(), Dense(2, 1)).double()
    with torch.no_grad():
        network[0].weight.mul_(1e-200)
        network[2].weight.mul_(1e200)
    points = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert float(lipschitz.rounding(network, length(points)).min()) > 1e-17
    assert 0.9 < float(lipschitz.bound(network)) < 1e60
