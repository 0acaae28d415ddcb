"""What training lowers, against what it stands for; and the least committed of equally likely models."""

from dataclasses import replace

import pytest
import torch

import nbr
from nbr import priors, tables
from nbr.learning import objectives
from nbr.learning.bank import Bank
from nbr.learning.least_committed import least_committed
from nbr.learning.maker import TrainedBank
from nbr.learning.training import DRAWN, EXACT, BankTraining

WORLD = nbr.World.bits(9)


def rows(count: int = 300) -> tables.Table:
    """Bits that repeat the first, most of the time: few of the 512 points are ever seen."""
    generator = torch.Generator().manual_seed(0)
    first = torch.randint(2, (count, 1), generator=generator)
    flips = torch.rand(count, 9, generator=generator) < 0.05
    return tables.Table(WORLD, (first ^ flips.long()).double())


def listed(bank: Bank) -> objectives.ListedObjective:
    goal = objectives.objective(bank, priors.uniform(WORLD), {"train": rows()}, seed=0)
    assert isinstance(goal, objectives.ListedObjective)
    return goal


@pytest.mark.parametrize("start", [0, 7])
def test_points_that_no_row_shows_are_drawn_without_bias(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over many steps the loss and its gradient are those of all points, whatever the draws were weighed by."""
    bank = Bank(WORLD, [WORLD.names], rules=2, width=8, seed=1)
    whole = listed(bank)
    assert not len(whole.others)
    loss = whole.loss(bank, 0)
    loss.backward()
    exact, slope = loss.item(), bank.doubt.grad.clone()
    assert exact == pytest.approx(-whole.mean(bank, "train"), abs=1e-5)
    monkeypatch.setattr(objectives, "FEW", 64)
    drawn = listed(bank)
    assert len(drawn.others) > 300
    if start:  # weighed by another bank
        drawn.loss(Bank(WORLD, [WORLD.names], rules=2, width=8, seed=5), 0)
    bank.zero_grad()
    losses = []
    for step in range(1, 24):
        loss = drawn.loss(bank, step + 25 * start)
        loss.backward()
        losses.append(loss.item())
    assert sum(losses) / 23 == pytest.approx(exact, abs=0.02)
    assert min(losses) < exact < max(losses)
    torch.testing.assert_close(bank.doubt.grad / 23, slope, atol=0.01, rtol=0.1)


def test_points_are_weighed_by_the_bank_from_the_first_step_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """And only every so many steps, since that takes a look at all of them."""
    monkeypatch.setattr(objectives, "FEW", 64)
    goal = listed(bank := Bank(WORLD, [WORLD.names], rules=2, width=8, seed=1))
    even = goal.chance.clone()
    goal.loss(bank, 0)
    first = goal.chance.clone()
    assert not torch.equal(first, even)
    goal.loss(Bank(WORLD, [WORLD.names], rules=2, width=8, seed=5), 1)
    assert torch.equal(goal.chance, first)


def test_a_stopped_objective_goes_on_with_the_same_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objectives, "FEW", 64)
    bank = Bank(WORLD, [WORLD.names], rules=2, width=8, seed=1)
    first, second = listed(bank), listed(bank)
    first.loss(bank, 0)
    second.load_state_dict(first.state_dict())
    assert first.loss(bank, 1).item() == second.loss(bank, 1).item()


def committed(belief: float, violated: float) -> tuple[Bank, objectives.ListedObjective]:
    """One rule: the first bit is 1, fully where it is, and to a degree where it is not; rows that it explains best."""
    world = nbr.World.bits(3)
    share = torch.tensor([1 - belief + belief * violated, 1.0])
    counts = (1000 * share / share.sum()).round().long()
    first = torch.cat([torch.zeros(int(counts[0])), torch.ones(int(counts[1]))])
    others = torch.arange(len(first))[:, None] // torch.tensor([1, 2]) % 2
    table = tables.Table(world, torch.cat([first[:, None], others], dim=1).double())
    bank = Bank(world, [world.names], rules=1, width=4, seed=0)
    for name, value in bank.named_parameters():
        torch.nn.init.zeros_(value)
        if name in ("first", "second", "last"):
            value.data[0, 0, 0] = 1.0
    low = torch.logit(torch.tensor(violated))
    bank.last.data[0, 0, 0] = 8.0 - low
    bank.last_bias.data[0, 0, 0] = low
    bank.doubt.data[0] = torch.logit(torch.tensor(belief))
    goal = objectives.objective(bank, priors.uniform(world), {"train": table}, seed=0)
    assert isinstance(goal, objectives.ListedObjective)
    return bank, goal


def test_a_rule_is_believed_no_more_than_its_rows_call_for() -> None:
    """Belief 0.95 and a grade of 0.2 where violated say the same as a crisp rule of belief 0.76."""
    bank, goal = committed(0.95, 0.2)
    found = least_committed(bank, goal, EXACT)
    assert found.beliefs[0].item() == pytest.approx(0.76, abs=0.01)
    grades = found(goal.encoded)
    assert grades.amin().item() < 0.02
    assert grades.amax().item() > 0.98
    assert goal.mean(found, "train") == pytest.approx(goal.mean(bank, "train"), abs=1e-3)
    assert bank.beliefs[0].item() == pytest.approx(0.95)


def test_a_rule_of_many_degrees_stays_as_it_is() -> None:
    """Five levels of grade are not yes or no: what makes them crisp loses likelihood, and is not kept."""
    world = nbr.World(level=nbr.Choice("a", "b", "c", "d", "e"))
    bank = Bank(world, [world.names], rules=1, width=8, seed=0)
    for value in bank.parameters():
        torch.nn.init.zeros_(value)
    bank.first.data[0, :5, :5] = torch.eye(5)  # a column a label, from -1 to 1
    bank.second.data[0, :5, :5] = torch.eye(5)
    bank.last.data[0, :5, 0] = torch.tensor([-4.0, -2.5, -1.5, -0.5, 4.0])
    bank.doubt.data[:] = 6.0
    share = torch.sigmoid(bank.last.data[0, :5, 0])
    counts = (2000 * share / share.sum()).round().long()
    table = tables.Table(world, torch.arange(5).repeat_interleave(counts).double()[:, None])
    goal = objectives.objective(bank, priors.uniform(world), {"train": table}, seed=0)
    assert isinstance(goal, objectives.ListedObjective)
    assert least_committed(bank, goal, EXACT) is bank


def test_rules_keep_as_many_points_of_the_prior_as_samples_can_afford(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits that are all alike keep one point of 256; what keeping fewer than a share would gain does not count."""
    monkeypatch.setattr(objectives, "LISTED", 0)
    data = rows(600)
    shares = []
    for least in (0.0, 0.3):
        bank = Bank(WORLD, [WORLD.names], rules=2, width=16, seed=1)
        goal = objectives.objective(bank, priors.uniform(WORLD), {"train": data}, seed=0, least=least)
        BankTraining(bank, goal, replace(DRAWN, steps=150)).run()
        shares.append(TrainedBank(bank, goal, DRAWN, 150, {}, goal.prior).kept)
    assert shares[0] < 0.1
    assert 0.25 < shares[1] < 0.35
