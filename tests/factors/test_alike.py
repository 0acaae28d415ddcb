"""Conditions that say the same of some variables share the work: against one condition at a time."""

from __future__ import annotations

import pytest
import torch

from nbr.factors import alike, contraction
from nbr.factors.order import find
from products import product


@pytest.mark.parametrize("room", [1, 1 << 25])
@pytest.mark.parametrize("seed", range(30))
def test_many_conditions_are_each_as_if_alone(seed: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "ROOM", room)
    scopes, sizes, tables = product(seed, zeros=seed % 2 == 0)
    order, generator = find(scopes, sizes), torch.Generator().manual_seed(seed)
    count = 17
    batch = list(tables)
    for place in range(len(scopes) - len(sizes), len(scopes), 2):  # of some variables nobody says anything
        rows = (torch.rand(3, *tables[place].shape, generator=generator) < 0.6).double()
        batch[place] = rows[torch.randint(3, (count,), generator=generator)]
    found = alike.log_sums(order, batch, count)
    wanted = torch.stack([contraction.log_sum(order, batch, row) for row in range(count)])
    assert torch.equal(found == -torch.inf, wanted == -torch.inf)
    possible = wanted > -torch.inf
    assert torch.allclose(found[possible], wanted[possible], rtol=0, atol=1e-12)


def test_what_plain_numbers_would_lose_is_added_as_logs() -> None:
    tiny = torch.tensor([[1e-200, 1.0], [1e-200, 0.0], [0.0, 0.0]], dtype=torch.float64)
    order = find([(0,), (0,), (1,)], [2, 2])
    found = alike.log_sums(order, [tiny, torch.tensor([1e-200, 1e-200]).double(), torch.ones(2).double()], 3)
    wanted = (torch.tensor([1e-200, 1e-400, 0.0]).double() * 2).log()
    assert found[0].item() == pytest.approx(wanted[0].item())
    assert found[1].item() == pytest.approx(
        torch.tensor(1e-200).double().log().item() * 2 + torch.tensor(2.0).log().item()
    )
    assert found[2].item() == -torch.inf


def test_rows_that_only_look_alike_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are told apart by a sum; where two different ones have the same, they are compared one by one."""
    table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).double()
    monkeypatch.setattr(torch, "linspace", lambda *_, **__: torch.ones(2).double())
    found = alike._rows(table)
    assert found[0] == found[2] != found[1]
