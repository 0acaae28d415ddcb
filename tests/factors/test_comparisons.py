"""Comparisons between numbers, against closed forms and against many draws."""

from __future__ import annotations

import math

import pytest
import torch

import nbr
from nbr.factors import Network
from nbr.priors import Independent
from nbr.ways import Unfit


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


def numbers(count: int, *rules: nbr.Rule, **normal: tuple[float, float]) -> nbr.Reasoner:
    world = nbr.World({f"v{at}": nbr.Real(0, 1) for at in range(count)})
    columns = [torch.tensor(normal.get(name, ()), dtype=torch.float64) for name in world.names]
    return nbr.Reasoner(world, rules, prior=Independent(world, columns))


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_numbers_in_a_row_are_in_each_order_alike(count: int) -> None:
    model = numbers(count)
    rising = " & ".join(f"v{at} < v{at + 1}" for at in range(count - 1))
    found = model.probability(rising)
    assert (found.method, found.exact) == ("contracted", True)
    assert found.value == pytest.approx(1 / math.factorial(count), abs=1e-12)
    last = model.probability("v1 < v2", "v0 < v1")  # the middle one of three is the largest in one of three orders
    assert last.value == pytest.approx(1 / 3, abs=1e-12)


def test_a_number_compared_with_several_others() -> None:
    found = numbers(4).probability("v0 < v1, v0 < v2, v0 < v3")
    assert found.exact
    assert found.value == pytest.approx(1 / 4, abs=1e-12)
    inside = numbers(3).probability("v0 < v1 & v1 < v2", "v1 >= 0.5, v2 < 0.75")
    area = (0.75**3 - 0.5**3) / 6 - (0.75 - 0.5) / 8  # the integral of v1 from 1/2 to v2, over v2 from 1/2 to 3/4
    assert inside.value == pytest.approx(area / (0.5 * 0.75), abs=1e-9)


def test_marginals_where_a_number_is_compared_with_two_others() -> None:
    world = nbr.World(a=nbr.Real(0, 1), b=nbr.Real(0, 1), c=nbr.Real(0, 1), x=nbr.Bit())
    model = nbr.Reasoner(world, [nbr.Clause("a < b & b < c -> x", 0.9)], prior=nbr.priors.uniform(world))
    table = model.marginals("a < b")
    rising = 1 / 3  # of the orders with a below b
    assert table[table["variable"] == "x"]["probability"].iloc[0] == pytest.approx(
        (1 - 0.9 * rising) / (2 - 0.9 * rising)
    )


def test_trees_of_comparisons_against_many_draws() -> None:
    """Several lines between two numbers, slopes, cuts, rules that believe them to a degree; and normal numbers."""
    rules = [
        nbr.Clause("2*v0 < v1 + 0.3", 0.9),
        nbr.Clause("v0 + v2 > 0.7 -> v0 < v3", 0.6),
        nbr.Clause("v3 < v4", 0.8),
    ]
    model = numbers(5, *rules, v3=(0.6, 0.2), v1=(0.3, 0.3))
    points = model.prior.sample(1_000_000, torch.Generator().manual_seed(0))
    weights = torch.ones(len(points), dtype=torch.float64)
    for rule in model.rules:
        weights = weights * torch.where(rule.grades(points) == 1, 1.0, 1 - rule.degree)
    for question, given in [
        ("v0 > v3 - 0.5", "v2 >= 0.25"),
        ("v4 < 0.5 | v0 < v1", "v3 >= 0.5, v0 < 0.5"),
        ("v3 + v4 < 1", "v0 + v1 >= 1, v0 > v1 - 0.25"),
    ]:
        inside, asked = (nbr.parse(words).holds(model.world, points) for words in (given, question))
        wanted = float((weights * inside * asked).sum() / (weights * inside).sum())
        found = model.probability(question, given)
        assert (found.method, found.exact) == ("contracted", True)
        assert found.value == pytest.approx(wanted, abs=0.003)


def test_numbers_compared_in_a_circle_are_left_to_others() -> None:
    model = numbers(3, *(nbr.Clause(words, 0.9) for words in ("v0 < v1", "v1 < v2", "v0 < v2")))
    with pytest.raises(Unfit, match="in a circle"):
        Network.of(model.world, model.prior, [model.rules], [])


def test_a_long_chain_of_comparisons_is_refused_before_it_is_computed() -> None:
    model = numbers(40, *(nbr.Clause(f"v{at} < v{at + 1}", 0.9) for at in range(39)))
    with pytest.raises(Unfit, match="too many numbers"):
        Network.of(model.world, model.prior, [model.rules], [])
