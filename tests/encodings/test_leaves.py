"""Boxes with few open bits, gone through in single precision: no point that counts is lost."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import nbr
from nbr.encodings.halfspaces import halfspaces
from nbr.encodings.leaves import OPEN, Leaves, Single, combinations
from nbr.language import parse

WORLD = nbr.World.bits(OPEN + 4)


def rule(seed: int, scale: float = 3.0) -> nbr.Neural:
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(OPEN + 3, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 2)).double()
    for parameter in network.parameters():
        parameter.data *= scale
    return nbr.Neural([f"x{i}" for i in range(OPEN + 4) if i != 2], network, 0.5, output=1).bind(WORLD)


def box(seed: int, bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    low = torch.randint(2, (len(WORLD),), generator=generator).double()
    high = low.clone()
    free = torch.randperm(len(WORLD), generator=generator)[:bits]
    low[free], high[free] = 0.0, 1.0
    return low, high


def listed(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    free = (low < high).nonzero()[:, 0]
    points = low.repeat(1 << len(free), 1)
    points[:, free] = combinations(len(free)).double()
    return points


@pytest.mark.parametrize("seed", range(6))
def test_the_points_that_may_count_are_those_above_the_level(seed: int) -> None:
    rules, statement = [rule(seed), rule(seed + 100)], parse(f"majority(x0..x{OPEN + 3})")
    low, high = box(seed, 8 + seed % 3)
    leaves = Leaves(WORLD, rules, halfspaces(statement, seed % 2 == 0, WORLD))
    assert bool(leaves.fit(low[None], high[None]).all())
    points = listed(low, high)
    with torch.no_grad():
        grades = torch.stack([each.grades(points) for each in rules]).amin(dim=0)
    inside = statement.holds(WORLD, points) == (seed % 2 == 0)
    for level in (0.0, float(grades.median()), float(grades.max()) - 1e-9, 1.0):
        found = {tuple(point) for point in leaves.points(low, high, level).tolist()}
        wanted = {tuple(point) for point in points[inside & (grades > level)].tolist()}
        near = {tuple(point) for point in points[inside & (grades > level * (1 - 1e-3))].tolist()}
        assert wanted <= found <= near


@pytest.mark.parametrize("scale", [0.5, 3.0, 30.0])
def test_rounding_is_at_most_the_slack(scale: float) -> None:
    for seed in range(5):
        low, high = box(seed, OPEN)
        asked = rule(seed, scale)
        single = Single.of(asked)
        assert single is not None
        free = (low < high).nonzero()[:, 0]
        right = asked.network(listed(low, high)[:, single.columns])[:, 1].detach()
        off = (single.logits(low, free, combinations(OPEN)).double() - right).abs().max()
        assert 0 < float(off) <= single.slack


def test_boxes_with_many_open_bits_or_other_variables_are_halved() -> None:
    leaves = Leaves(WORLD, [rule(0)], [])
    low, high = box(0, OPEN + 1)
    assert not bool(leaves.fit(low[None], high[None]).any())
    assert not bool(Leaves(WORLD, [nbr.Clause("x0", 0.5).bind(WORLD)], []).fit(*(end[None] for end in box(0, 3))).any())
    mixed = nbr.World(a=nbr.Bit(), t=nbr.Real(0, 1))
    network = nbr.Neural(["a"], nn.Linear(1, 1), 0.5).bind(mixed)
    ends = torch.tensor([[0.0, 0.0], [0.0, 0.5]]), torch.tensor([[1.0, 1.0], [1.0, 0.5]])
    assert Leaves(mixed, [network], []).fit(*ends).tolist() == [False, True]


def test_bounds_of_networks_on_many_bits_hold_all_points() -> None:
    model = nbr.Reasoner(WORLD, [nbr.Neural(rule(seed).inputs, rule(seed).network, 0.6, output=1) for seed in (1, 2)])
    question = f"majority(x0..x{OPEN + 3})"
    given = "x0, ~x3"
    right = model.ask(question, given, engine="lattice")
    found = model.ask(question, given, engine="boxes", tolerance=0.02)
    assert right.exact
    for name in ("belief", "plausibility", "conflict"):
        low, high = getattr(found.bounds, name)
        assert low - 1e-9 <= getattr(right, name) <= high + 1e-9
        assert high - low <= 0.02
