"""Comparisons between numbers, against closed forms and against many draws."""

from __future__ import annotations

import math

import pytest
import torch

import nbr
from nbr.factors import Network, Unfit
from nbr.priors import Independent


def often(
    rules: list[nbr.Rule], question: str, given: str | None = None, **normal: tuple[float, float]
) -> nbr.Probability:
    world = nbr.World(a=nbr.Real(0, 10), b=nbr.Real(0, 10), c=nbr.Real(-5, 5), x=nbr.Bit())
    columns = [torch.tensor(normal.get(name, ()), dtype=torch.float64) for name in ("a", "b", "c")]
    model = nbr.Reasoner(world, rules, prior=Independent(world, [*columns, torch.tensor([0.7, 0.3])]))
    return model.probability(question, given)


def test_uniform_numbers_are_compared_by_areas() -> None:
    found = often([], "a < b", "b <= 4")
    assert (found.method, found.exact) == ("contracted", True)
    assert found.value == pytest.approx(0.2, abs=1e-8)  # 8 of 40
    assert often([], "2*a + b >= 12").value == pytest.approx(1 - 0.35, abs=1e-8)
    assert often([], "a < b", "a > b").value == 0.0
    assert often([], "a < b, a + b < 10").value == pytest.approx(0.25, abs=1e-8)
    assert often([], "a < b", "a + 3 > b, a < 5").value == pytest.approx((15 - 0) / (15 + 12.5), abs=1e-8)


def test_rules_that_compare_are_weighed() -> None:
    rules = [nbr.Clause("a < b", 0.9), nbr.Clause("x -> a < b", 0.5), nbr.Clause("a >= 5 | x", 0.2)]
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(400_000, 3, generator=generator, dtype=torch.float64) * 10
    x, less = points[:, 2] < 3, points[:, 0] < points[:, 1]
    weights = torch.where(less, 1.0, 0.1) * torch.where(~x | less, 1.0, 0.5)
    weights = weights * torch.where((points[:, 0] >= 5) | x, 1.0, 0.8)
    wanted = float((weights * x).sum() / weights.sum())
    assert often(rules, "x").value == pytest.approx(wanted, abs=0.004)
    low = points[:, 0] < 2
    wanted = float((weights * x * low).sum() / (weights * x).sum())
    assert often(rules, "a < 2", "x").value == pytest.approx(wanted, abs=0.006)


def test_normal_numbers_are_compared() -> None:
    """Far from their bounds the difference of two is normal."""
    found = often([], "a < b", a=(4.0, 0.5), b=(4.6, 0.4))
    wanted = 0.5 * math.erfc(-0.6 / math.hypot(0.5, 0.4) / math.sqrt(2))
    assert found.exact
    assert found.value == pytest.approx(wanted, abs=1e-9)
    narrow = often([], "a < b", a=(5.0, 1.0), b=(5.3, 0.001))
    assert narrow.value == pytest.approx(0.5 * math.erfc(-0.3 / math.hypot(1, 0.001) / math.sqrt(2)), abs=1e-6)


def test_whole_numbers_are_compared_value_by_value() -> None:
    world = nbr.World({f"n{i}": nbr.Real(0, 9, step=1) for i in range(12)})
    rules = [nbr.Clause(f"n{i} < n{i + 1} + 3", 1.0) for i in range(11)]
    found = nbr.Reasoner(world, rules).probability("n0 - n1 = 0")
    allowed = (torch.arange(10)[:, None] < torch.arange(10) + 3).double()
    rest = torch.linalg.matrix_power(allowed, 10).sum(dim=1)
    assert (found.method, found.exact) == ("contracted", True)
    assert found.value == pytest.approx(float(rest.sum() / (allowed @ rest).sum()), abs=1e-9)


def test_three_numbers_tied_together_are_left_to_others() -> None:
    world = nbr.World(a=nbr.Real(0, 1), b=nbr.Real(0, 1), c=nbr.Real(0, 1))
    rules = [nbr.Clause("a < b", 0.9).bind(world), nbr.Clause("b < c", 0.9).bind(world)]
    with pytest.raises(Unfit, match="more than one other"):
        Network.of(world, nbr.priors.uniform(world), [rules], [])
