"""Sums, gradients, best points and draws of random products of tables against all combinations written out."""

from __future__ import annotations

import itertools

import pytest
import torch

from nbr.factors import contraction
from nbr.factors.order import HOPELESS, find
from products import product


def dense(scopes: list[tuple[int, ...]], sizes: list[int], tables: list[torch.Tensor]) -> torch.Tensor:
    found = torch.zeros(sizes, dtype=torch.float64)
    for point in itertools.product(*map(range, sizes)):
        value = 1.0
        for scope, table in zip(scopes, tables, strict=True):
            value *= float(table[tuple(point[v] for v in scope)])
        found[point] = value
    return found


@pytest.mark.parametrize("seed", range(40))
def test_sums_and_the_best_point_are_those_of_the_whole_table(seed: int) -> None:
    scopes, sizes, tables = product(seed)
    order, whole = find(scopes, sizes), dense(scopes, sizes, tables)
    assert float(contraction.log_sums(order, tables).exp()) == pytest.approx(float(whole.sum()), rel=1e-12)
    if whole.max() > 0:
        value, point = contraction.best(order, [table.log() for table in tables])
        assert value == pytest.approx(float(whole.max().log()), abs=1e-12)
        assert float(whole[tuple(point[v] for v in range(len(sizes)))]) == pytest.approx(float(whole.max()), rel=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_a_batch_is_its_conditions_one_by_one_and_its_gradient_all_marginals(seed: int) -> None:
    scopes, sizes, tables = product(seed, zeros=False)
    order, generator = find(scopes, sizes), torch.Generator().manual_seed(seed)
    singles = range(len(scopes) - len(sizes), len(scopes))
    batch = list(tables)
    for place in singles:
        batch[place] = (torch.rand(5, *tables[place].shape, generator=generator).double() + 0.1).log().requires_grad_()
    logs = contraction.log_sums(order, [t.exp() if place in singles else t for place, t in enumerate(batch)])
    gradients = torch.autograd.grad(logs.sum(), [batch[place] for place in singles])
    for row in range(5):
        alone = [t[row].detach().exp() if place in singles else t for place, t in enumerate(batch)]
        whole = dense(scopes, sizes, alone)
        assert logs[row].item() == pytest.approx(float(whole.sum().log()), abs=1e-12)
        for variable, gradient in enumerate(gradients):
            others = [v for v in range(len(sizes)) if v != variable]
            wanted = whole.sum(dim=others) / whole.sum() if others else whole / whole.sum()
            assert float((gradient[row] - wanted).abs().max()) < 1e-12


def test_draws_are_as_frequent_as_the_product() -> None:
    scopes, sizes, tables = product(7)
    whole = dense(scopes, sizes, tables)
    whole /= whole.sum()
    drawn = contraction.draw(find(scopes, sizes), [t.log() for t in tables], 40_000, torch.Generator().manual_seed(0))
    found = torch.zeros(sizes, dtype=torch.float64)
    found.index_put_(tuple(drawn[v] for v in range(len(sizes))), torch.tensor(1 / 40_000).double(), accumulate=True)
    assert float((found - whole).abs().max()) < 4 * (0.25 / 40_000) ** 0.5
    assert bool((found[whole == 0] == 0).all())


def test_what_scaling_loses_is_summed_as_logs() -> None:
    """A hundred witnesses speak for one of two values, one rules it out: what is left is far below what was scaled."""
    against = torch.tensor([1.0, 1e-9], dtype=torch.float64)
    tables = [*[against] * 100, torch.tensor([0.0, 1.0], dtype=torch.float64)]
    order = find([(0,)] * 101, [2])
    wanted = 100 * float(against[1].log())
    assert float(contraction.log_sums(order, tables)) == pytest.approx(wanted, rel=1e-12)
    batch = [*tables[:-1], torch.tensor([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)]
    assert contraction.log_sums(order, batch).tolist() == pytest.approx([wanted, 0.0, -torch.inf])


def test_the_cost_is_known_and_does_not_see_the_batch() -> None:
    scopes = [(v, v + 1) for v in range(200)] + [(v,) for v in range(201)]
    order = find(scopes, [3] * 201)
    assert order.width <= 27
    assert order.cost < 10_000
    assert len(contraction.batches(order, 10**6)) > 1


def test_a_variable_that_one_table_alone_reads_does_not_end_the_order() -> None:
    """Each table of a chain has a variable of its own: an order by estimates that kept these would be hopeless."""
    scopes = [(place, place + 1, 100 + place) for place in range(60)]
    found = find(scopes, [3] * 200)
    assert len(found.steps) == len(scopes) - 1
    assert found.width <= 243
    assert found.cost < HOPELESS
