"""Learning keeps its time, tells what won over what, and keeps no rules that samples cannot afford."""

import math

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from nbr import clock, priors, tables
from nbr.errors import NbrError
from nbr.learning import budget, fitting, objectives, worth
from nbr.learning.bank import Bank
from nbr.tables import large
from small_table import holed, implication, parity


def wide(rows: int = 400) -> pd.DataFrame:
    """Columns too many to list, two of which go together."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, 2, (rows, 18)), columns=[f"x{at}" for at in range(18)])
    frame["x1"] = np.where(random.random(rows) < 0.9, frame.x0, 1 - frame.x0)
    return frame


class Ticking:
    """A clock that goes on by a tenth of a second whenever it is looked at."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.looks / 10


@pytest.mark.parametrize("frame", [implication(300), wide()], ids=["listed", "wide"])
def test_nothing_new_is_begun_when_it_is_late(frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking = Ticking()
    monkeypatch.setattr(clock, "now", ticking)
    found = fitting.fit_report(frame, budget=3.0)
    assert ticking.looks < 150  # a look after every step, round and stage
    assert found.steps < 60
    assert found.reasoner.log_prob(frame).isfinite().all()


def test_what_a_budget_may_be() -> None:
    small, large_ = tables.read(implication(50)), tables.read(wide(10_001))
    assert [budget.seconds("auto", each) for each in (small, large_)] == [60.0, 240.0]
    assert budget.seconds(None, small) == math.inf
    assert budget.Budget().part(0.5) == budget.Budget()
    for wrong in (0, -1.0, "soon", True):
        with pytest.raises(NbrError, match="the budget must be a number of seconds above 0, 'auto', or None"):
            nbr.fit(implication(50), budget=wrong)


def test_what_won_is_told_by_paired_differences() -> None:
    frame = wide()
    found = fitting.fit_report(frame, steps=50)
    assert "over independent columns" in found.won
    gain, error = (float(word) for word in found.won.split(" over independent columns")[0].split(" +- "))
    assert 0.1 < gain < 0.6  # two columns share 0.37 nats
    assert 0.01 < error < 0.15
    assert "40 held-out rows" in found.won


def test_columns_that_have_nothing_to_do_with_each_other_stay_by_themselves() -> None:
    frame = pd.DataFrame(np.random.default_rng(1).integers(0, 2, (60, 18)), columns=[f"x{at}" for at in range(18)])
    found = fitting.fit_report(frame, budget=20.0, steps=50)
    assert "every column by itself" in found.prior
    assert not found.reasoner.rules
    assert found.rows == len(frame)
    learned = found.reasoner.prior
    assert isinstance(learned, priors.Trees)
    assert learned.alone


def test_too_few_rows_get_no_networks_on_top_of_trees() -> None:
    """Sixteen rows to choose by would take what chance makes of a network for a gain."""
    random = np.random.default_rng(2)
    age = random.normal(50, 10, 48)
    frame = pd.DataFrame({"age": age, "dose": age / 10 + random.normal(0, 1, 48), "sex": random.integers(0, 2, 48)})
    found = fitting.fit_report(frame)
    assert not found.reasoner.rules
    assert found.steps == 0
    assert found.rows == 48
    assert "+0.000 +- 0.000 by rules" in found.won


def test_rules_that_samples_cannot_afford_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five parities of 15 bits, which trees cannot say, are a gain that keeps one point of many."""
    codes = torch.cat([parity(1500, 0), parity(1500, 1)[:, :3]], dim=1)
    data = tables.Table(nbr.World.bits(18), codes)
    prior = priors.trees(data, 1)
    monkeypatch.setattr(worth, "KEPT", 9.0)
    found = fitting.fit_report(data, 1, prior=prior, steps=150)
    assert not found.reasoner.rules
    assert "sampling would cost far more than they gain" in found.kept
    monkeypatch.setattr(worth, "KEPT", 0.1)
    assert fitting.fit_report(data, 1, prior=prior, steps=150).reasoner.rules


def test_large_tables_are_thinned_however_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "ROWS", 100)
    monkeypatch.setattr(large, "SAMPLE", 150)
    alike = large.learnable(implication(400))
    assert len(alike) <= 8 < alike.rows == 400
    numbers = pd.DataFrame({"x": np.random.default_rng(0).normal(size=400), "y": range(400)})
    some = large.learnable(numbers, seed=1)
    assert len(some) == some.rows == 150
    assert "150 of 400 rows, drawn at random" in some.notes
    assert not torch.equal(some.codes, large.learnable(numbers, seed=2).codes)


def test_rules_learn_from_as_many_rows_as_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    data = tables.read(wide(300))
    prior, bank = priors.trees(data, 1), Bank(data.world, [data.world.names], rules=1, width=4, seed=0)
    monkeypatch.setattr(objectives, "CELLS", 18 * 100)
    for share, rows in ((0.0, 100), (0.2, 100 // objectives.FILLS)):
        some = tables.Table(data.world, holed(data.codes, share))
        assert len(objectives.objective(bank, prior, {"train": some}, 0).codes["train"]) == rows


def test_nothing_falls_short_of_one_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mixture that was cut short, here one of columns torn apart, is not delivered where one tree says more."""
    source = np.random.default_rng(0)
    first = source.integers(0, 4, 600)
    columns = [first, *((first + (source.random(600) < 0.1)) % 4 for _ in range(7))]
    table = pd.DataFrame({f"c{at}": [f"w{value}" for value in column] for at, column in enumerate(columns)})
    whole = tables.read(table)
    apart = torch.stack([whole.codes[source.permutation(600), at] for at in range(8)], dim=1)
    torn = priors.trees(tables.Table(whole.world, apart), 1, together=False)
    monkeypatch.setattr(fitting, "choose", lambda *_: (torn, "torn"))
    report = fitting.fit_report(table, steps=1, seed=0, progress=False)
    assert report.prior == fitting.SIMPLER
    assert report.rules == 0 or not report.reasoner.rules
    assert report.held_out is not None
    assert report.held_out.log_likelihood > float(torn.log_prob(whole.codes).mean()) + 1
