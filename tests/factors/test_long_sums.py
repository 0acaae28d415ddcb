"""Equalities of whole numbers as chains of carries, against counting all points and against a closed form."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch

import nbr
from nbr.factors import Network, automata, spelling
from nbr.language.linear import Linear
from nbr.ways import Unfit


@pytest.mark.parametrize("seed", range(12))
def test_chains_count_the_points_of_an_equality(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "TABLE", 1)  # so that even short sums become chains
    draw = random.Random(seed)
    names = ["a", "b", "c", "d"]
    world = nbr.World({name: nbr.Real(draw.randint(-2, 0), draw.randint(1, 4), step=1) for name in names})
    weights = [draw.choice([1, -1, 2, 3, -6, 10]) for _ in names]
    number = draw.randint(-5, 12)
    said = Linear(
        tuple(zip(map(float, weights), names, strict=True)),
        ((float(draw.choice([2, -3])), nbr.parse("a + b >= 2")),),
        draw.choice(["=", "!="]),
        float(number),
    )
    values = [range(int(v.low), int(v.high) + 1) for v in world.variables.values() if isinstance(v, nbr.Real)]
    points = torch.tensor(list(itertools.product(*values)), dtype=torch.float64)
    wanted = int(said.holds(world, points).sum())
    found = Network.of(world, None, [], [said]).log_sums([said]).exp()
    assert float(found) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("digits", [3, 30])
def test_long_numbers_that_are_added_leave_carries_alone(digits: int) -> None:
    scales = [float(f"1e{place}") for place in range(digits)]
    names = [(letter, place) for letter in "ab" for place in range(digits)]
    world = nbr.World({f"{letter}{place}": nbr.Real(0, 9, step=1) for letter, place in names})
    total = random.Random(0).randrange(10**digits)
    shown = [int(digit) for digit in reversed(str(total).zfill(digits))]
    fixed = nbr.World({f"s{place}": nbr.Real(0, 9, step=1) for place in range(digits)})
    both = tuple((scales[place], f"{letter}{place}") for letter, place in names)
    said = Linear((*both, *((-scale, f"s{place}") for place, scale in enumerate(scales))), (), "=", 0.0)
    network = Network.of(world | fixed, None, [], [said])
    known = {f"s{place}": torch.eye(10).double()[[digit]] for place, digit in enumerate(shown)}
    found = network.weighed(known, [said])
    assert float(found) == pytest.approx(math.log(total + 1), rel=1e-12)  # (0, total) .. (total, 0)
    assert max(network.structure.sizes.values()) <= 21


def test_weights_are_differentiable_and_far_apart() -> None:
    world = nbr.World(a=nbr.Real(0, 9, step=1), b=nbr.Real(0, 9, step=1))
    said = nbr.parse("a + b = 9")
    logs = torch.stack([torch.linspace(0, -5, 10), torch.linspace(0, -2000, 10)]).double().requires_grad_()
    network = Network.of(world, None, [], [said])
    total = network.weighed({"a": logs.exp(), "b": torch.ones(2, 10).double()}, [said, None])
    wanted = [logs[0].logsumexp(0), logs[1].logsumexp(0) + math.log(10)]
    assert torch.allclose(total, torch.stack(wanted))
    total[0].backward()
    assert logs.grad is not None
    assert torch.allclose(logs.grad[0], logs[0].detach().softmax(0))


def test_large_weights_count_as_they_are_written() -> None:
    assert automata.equality([1e23, -1e23], [[0, 1], [0, 1]], 0) is not None
    found = automata.equality([3e30, 1e30], [[0, 1], [0, 1, 2, 3]], 3e30)
    assert found is not None
    assert [len(step) for step in found[1].steps] == [1, 3]
    assert automata.equality([0.5], [[0, 1]], 0) is None
    with pytest.raises(Unfit, match="totals"):
        automata.equality([3**place + 0.0 for place in range(40)], [[0, 1]] * 40, (3**40 - 1) // 4)
