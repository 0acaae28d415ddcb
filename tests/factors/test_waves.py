"""Steps of one shape taken at once, in an order in which few wait for others: the same sums and the same gradients."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from nbr.factors import contraction, network
from nbr.factors.order import Order, find
from nbr.factors.waves import waves
from nbr.language import parse
from nbr.world import Real, World
from products import product


@pytest.mark.parametrize("small", [0, 1 << 16])
@pytest.mark.parametrize("seed", range(30))
def test_sums_and_gradients_of_a_batch_do_not_depend_on_the_order(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contraction, "SMALL", small)
    scopes, sizes, tables = product(seed, zeros=False)
    singles = range(len(scopes) - len(sizes), len(scopes), 2)
    generator = torch.Generator().manual_seed(seed)
    for place in singles:
        tables[place] = torch.rand(4, *tables[place].shape, generator=generator).double().requires_grad_()

    def summed(order: Order) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        logs = contraction.log_sums(order, tables)
        return logs.detach(), torch.autograd.grad(logs.sum(), [tables[place] for place in singles])

    order = find(scopes, sizes)
    logs, slopes = summed(order)
    again, others = summed(order.shallow)
    alone = torch.stack([contraction.log_sum(order, tables, row) for row in range(4)]).detach()
    assert torch.allclose(logs, alone, rtol=0, atol=1e-12)
    assert torch.allclose(again, alone, rtol=0, atol=1e-12)
    for slope, other in zip(slopes, others, strict=True):
        assert torch.allclose(slope, other, rtol=1e-10, atol=1e-12)


def test_one_entry_may_stand_for_all_conditions_of_a_batch() -> None:
    """The same sum where one of two tables of a shape has a row for each condition, and the other one for all."""
    order = find([(0, 1), (2, 3), (0,), (2,), (1,), (3,)], [2] * 4)
    generator = torch.Generator().manual_seed(0)
    shapes = [(2, 2), (2, 2), (4, 2), (1, 2), (2,), (2,)]
    tables = [torch.rand(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    found = contraction.log_sums(order, tables)
    tables[3] = tables[3].expand(4, 2)
    assert torch.allclose(found, contraction.log_sums(order, tables), rtol=0, atol=1e-12)


def test_a_chain_is_summed_in_few_steps() -> None:
    """Two hundred links, each with two tables of its own: as they come every link waits for the one before."""
    links = 200
    scopes = [(v, v + 1) for v in range(links)] + [(v,) for v in range(links + 1)]
    order = find(scopes, [2] * (links + 1))
    batched = (False,) * links + (True,) * (links + 1)
    assert len(waves(order, batched)) >= links
    assert len(waves(order.shallow, batched)) <= 60
    assert order.shallow.width <= 2**4


def test_gradients_are_taken_in_the_shallow_order_unless_it_costs_more(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"x{place}" for place in range(12)]
    said = parse(" + ".join(names) + " = 20")
    made = network.Network.of(World({name: Real(0, 9, step=1) for name in names}), None, [], [said])
    taken: list[Order] = []
    plain = contraction.log_sums

    def told(order: Order, tables: Sequence[torch.Tensor]) -> torch.Tensor:
        taken.append(order)
        return plain(order, tables)

    monkeypatch.setattr(contraction, "log_sums", told)
    weights = {name: torch.ones(2, 10, dtype=torch.float64, requires_grad=True) for name in names}
    logs = made.weighed(weights, [said, said])
    monkeypatch.setattr(network, "QUICK", 0)
    assert torch.allclose(made.weighed(weights, [said, said]), logs)
    assert taken == [made.compiled.order.shallow, made.compiled.order]
