"""Layers that look at neighbouring pixels: what they compute, and that their bound is exactly that of the whole map."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor, nn

from nbr import NbrError, lipschitz
from nbr.lipschitz.layers import Dense, MaxMin
from nbr.lipschitz.neighbours import SHIFTS, Local
from nbr.lipschitz.networks import length

PLANS = [
    {"size": (6, 5), "channels": 3, "outputs": 4},
    {"size": (6, 5), "channels": 5, "outputs": 5, "shifted": True},
    {"size": (6, 4), "channels": 7, "outputs": 3, "shifted": True},
    {"size": (6, 4), "channels": 2, "outputs": 8, "block": 2},
    {"size": (7, 5), "channels": 2, "outputs": 6, "block": 3},
    {"size": (5, 3), "channels": 6, "outputs": 40, "block": 2, "shifted": True},
    {"size": (1, 1), "channels": 6, "outputs": 4, "shifted": True},
]


def layer(plan: dict, scale: float = 1.0) -> Local:
    """A layer of random weights, not orthogonal ones, so that its norm is no round number."""
    found = Local(**plan).double()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for part in (found.mix.weight, found.mix.bias):
            part.copy_(scale * torch.randn(part.shape, generator=generator))
    return found


def unrolled(network: nn.Module, inputs: int) -> Tensor:
    """The matrix of an affine map of so many numbers."""
    with torch.no_grad():
        points = torch.cat([torch.zeros(1, inputs), torch.eye(inputs)]).double()
        told = network(points).flatten(1)
    return (told[1:] - told[0]).T


def by_hand(found: Local, pictures: Tensor) -> Tensor:
    """The same map, a place and a channel at a time."""
    count, (height, width), side = len(pictures), found.size, found.block
    down, right = found.after
    part = torch.arange(found.channels).tensor_split(len(SHIFTS))
    told = torch.zeros(count, down * right, found.outputs).double()
    for row, column in product(range(down), range(right)):
        read = torch.zeros(count, side, side, found.channels).double()
        for i, j, (number, channels) in product(range(side), range(side), enumerate(part)):
            dy, dx = SHIFTS[number] if found.shifted else (0, 0)
            y, x = side * row + i, side * column + j
            if y < height and x < width and 0 <= y + dy < height and 0 <= x + dx < width:
                read[:, i, j, channels] = pictures[:, y + dy, x + dx][:, channels]
        told[:, row * right + column] = read.flatten(1) @ found.mix.weight[0].T + found.mix.bias[0]
    return told.detach()


@pytest.mark.parametrize("plan", PLANS)
def test_every_place_is_shifted_put_together_and_mixed(plan: dict) -> None:
    found = layer(plan)
    pictures = torch.randn(3, *found.size, found.channels, generator=torch.Generator().manual_seed(1)).double()
    with torch.no_grad():
        torch.testing.assert_close(found(pictures), by_hand(found, pictures))
        torch.testing.assert_close(found(pictures.flatten(1)), found(pictures))


@pytest.mark.parametrize("plan", PLANS)
def test_the_bound_is_the_norm_of_the_whole_map(plan: dict) -> None:
    found = layer(plan)
    exact = float(torch.linalg.matrix_norm(unrolled(found, found.size[0] * found.size[1] * found.channels), ord=2))
    stated = float(lipschitz.bound(found))
    assert exact <= stated
    if not found.shifted and found.after[0] * found.block == found.size[0]:  # nothing drops over an edge
        assert stated <= exact * (1 + 1e-10)
    elif min(found.size) > 4:
        assert stated <= 1.1 * exact


def test_the_largest_stretch_by_power_iteration_is_the_bound() -> None:
    """A map of 3,072 numbers, by products with it and its transpose."""
    found = Local((32, 32), 3, 32, block=2).double()
    inner = Local((16, 16), 32, 32, shifted=True).double()
    with torch.no_grad():
        inner.mix.weight.mul_(1.5)
    for one, inputs in ((found, 3072), (inner, 8192)):
        direction = torch.randn(1, inputs, generator=torch.Generator().manual_seed(0)).double()
        for _ in range(150):
            direction = (direction / direction.norm()).requires_grad_()
            pushed = one(direction) - one(torch.zeros_like(direction))
            (direction,) = torch.autograd.grad(pushed.square().sum() / 2, direction)
        reached, stated = float(direction.norm().sqrt()), float(lipschitz.bound(one))
        assert 0.98 * stated < reached <= stated


def test_blocks_and_first_layers_keep_all_lengths() -> None:
    """More channels than numbers in a block: nothing is lost."""
    found = Local((6, 6), 3, 12, block=2).double()
    pictures = torch.randn(20, 108, generator=torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        torch.testing.assert_close(found(pictures).flatten(1).norm(dim=1), pictures.norm(dim=1), rtol=1e-6, atol=0)


def halves(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Noisy pictures of 12 x 10, brighter on one side, and which: 1 on the left, -1 on the right."""
    generator = torch.Generator().manual_seed(seed)
    truth = 2.0 * torch.randint(2, (count,), generator=generator) - 1
    side = torch.ones(10)
    side[5:] = -1
    noise = torch.rand(count, 12, 10, 3, generator=generator) - 0.5
    return (noise + 0.2 * truth[:, None, None, None] * side[:, None]).flatten(1), truth


def trained(steps: int = 60) -> nn.Sequential:
    """Two networks after some steps towards telling on which side a picture is brighter."""
    network = lipschitz.local((12, 10, 3), 16, 8, 2, seed=1)
    optimiser = lipschitz.Stiefel(network, lr=0.05)
    points, truth = halves(200, 0)
    for _ in range(steps):
        optimiser.zero_grad()
        nn.functional.softplus(1 - network(points)[..., 0] * truth).mean().backward()
        optimiser.step()
    lipschitz.finish(network)
    return network


def test_training_learns_and_finished_networks_are_bounded_by_one() -> None:
    network = trained()
    assert bool((lipschitz.bound(network) <= 1 + 1e-5).all())
    points, truth = halves(300, 5)
    with torch.no_grad():
        right = (network(points)[..., 0] * truth > 0).double().mean(dim=1)
    assert bool((right > 0.9).all())


def test_attacks_come_close_to_the_bound_and_do_not_pass_it() -> None:
    network = trained().double()
    most = lipschitz.bound(network)
    first = torch.rand(40, 360, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    for number in range(2):
        for far in (1e-4, 0.1, 1.0):
            x = first.clone()
            for _ in range(10):  # the steepest way, again and again
                x = x.requires_grad_()
                (slope,) = torch.autograd.grad(network(x)[number].sum(), x)
                x = first + far * slope / slope.norm(dim=1, keepdim=True)
            moved = (network(x) - network(first))[number, :, 0].abs().detach() / (x - first).norm(dim=1)
            assert bool((moved <= most[number] * (1 + 1e-9)).all())
            assert far > 1e-3 or float(moved.max()) > 0.8


def test_rounding_covers_the_same_sums_in_another_order() -> None:
    network = trained().double()
    points = torch.rand(100, 12, 10, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    allowed = lipschitz.rounding(network, length(points.flatten(1)))
    assert allowed.shape == (2, 100)
    assert 0 < float(allowed.max()) < 1e-10
    first = network[0]
    assert isinstance(first, Local)
    with torch.no_grad():
        before = network(points.flatten(1))[..., 0]
        order = torch.tensor([2, 0, 1])  # colours
        weight = first.mix.weight
        weight.copy_(weight.view(*weight.shape[:2], -1, 3)[..., order].flatten(2).clone())
        assert bool(((network(points[..., order].flatten(1))[..., 0] - before).abs() <= 2 * allowed).all())


def test_rounding_counts_the_bias_at_every_place() -> None:
    """A bias at 100 places is ten times as long as at one."""
    one, many = (Local((side, side), 2, 2).double() for side in (1, 10))
    with torch.no_grad():
        for found in (one, many):
            found.mix.weight.zero_()
            found.mix.bias.fill_(1.0)
    nothing = torch.zeros(1, dtype=torch.float64)
    ratio = float(lipschitz.rounding(many, nothing) / lipschitz.rounding(one, nothing))
    assert ratio == pytest.approx(10)


@pytest.mark.parametrize("shape", [(28, 28), (32, 32, 3), (40, 40, 3), (64, 64, 3), (9, 50, 3), (8, 8, 3)])
def test_networks_of_pictures_of_any_shape(shape: tuple[int, ...]) -> None:
    inputs = int(torch.tensor(shape).prod())
    network = lipschitz.local(shape, 32, 8, count=3)
    assert network(torch.rand(2, inputs)).shape == (3, 2, 1)
    assert lipschitz.Fixed(network).inputs == inputs
    places = [layer.places for layer in network if isinstance(layer, Local)]
    assert max(places) <= 256
    assert places[-1] <= 16


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (nn.Sequential(Local((4, 4), 3, 4), MaxMin(), Dense(4, 1)), "layer 3 .* made flat"),
        (nn.Sequential(Local((4, 4), 3, 3), MaxMin(), nn.Flatten(), Dense(48, 1)), "groups of 2, and gets 3"),
        (nn.Sequential(Local((4, 4), 3, 4), MaxMin(), Local((4, 4), 3, 4), nn.Flatten(), Dense(64, 1)), "layer 3"),
        (nn.Sequential(Local((4, 4), 3, 4), nn.Flatten(), Dense(63, 1)), "takes 1 x 63 numbers, and gets 1 x 64"),
        (nn.Sequential(Dense(9, 48, 2), Local((4, 4), 3, 4), nn.Flatten(), Dense(64, 1)), "gets 2 x 48"),
        (nn.Sequential(Local.of(Dense(8, 4), (4, 4), 3, 1, False), nn.Flatten(), Dense(64, 1)), "takes 1 x 8 numbers"),
        (nn.Sequential(Local.of(Dense(3, 4, 2), (4, 4), 3, 1, False), nn.Flatten(), Dense(64, 1)), "one matrix"),
    ],
)
def test_what_a_bound_does_not_cover_is_refused(network: nn.Sequential, words: str) -> None:
    for asked in (lipschitz.bound, lipschitz.finish, lipschitz.Fixed, lipschitz.Fixed.taking):
        with pytest.raises(NbrError, match=words):
            asked(network)


def test_impossible_sides_are_refused() -> None:
    with pytest.raises(NbrError, match="at least 1"):
        Local((4, 0), 3, 4)
    with pytest.raises(NbrError, match="even"):
        lipschitz.local((8, 8), 15, 4, 1)
