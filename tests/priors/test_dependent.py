"""Columns that are one variable: found where they are, not where chance made them, and modelled as one."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from nbr import priors, tables
from nbr.priors.dependent import dependent, told
from nbr.tables import Table

RANDOM = np.random.default_rng(0)


def dummies(labels: np.ndarray, values: np.ndarray) -> torch.Tensor:
    """A bit for each value of each column of labels."""
    return torch.from_numpy((labels[:, :, None] == values).reshape(len(labels), -1).astype(float))


@pytest.mark.parametrize("values", [[0, 1, 2, 3], [1, 2, 3]], ids=["whole", "one left out"])
def test_dummies_are_found_in_any_order(values: list[int]) -> None:
    order = RANDOM.permutation(20 * len(values))
    table = tables.read(dummies(RANDOM.integers(0, 4, (1500, 20)), np.array(values))[:, order])
    found = {frozenset(order[list(group.columns)].tolist()) for group in dependent(table)}
    assert found == {frozenset(range(at, at + len(values))) for at in range(0, 20 * len(values), len(values))}


def test_what_is_told() -> None:
    frame = pd.DataFrame({"a": RANDOM.integers(0, 2, 500), "month": RANDOM.choice(list("abcdefghijkl"), 500)})
    frame["copy"], frame["not_a"] = frame.a, 1 - frame.a
    frame["season"] = frame.month.map(lambda month: "wxyz"[(ord(month) - 97) // 3])
    size = RANDOM.normal(size=500)
    for at, least in enumerate((-0.7, 0.0, 0.8)):
        frame[f"size{at}"] = (size > least).astype(int)
    frame["other"] = RANDOM.integers(0, 2, 500)
    data = tables.read(frame)
    assert {told(group, data.world.names) for group in dependent(data)} == {
        "month decides season",
        "a decides copy, not_a",
        "one ordered variable: size0, size1, size2, each 1 only where the one before it is",
    }
    pair = tables.read(frame[["a", "not_a", "other"]])
    assert [told(group, pair.world.names) for group in dependent(pair)] == ["not_a is not a"]


def test_chance_is_not_taken_for_it() -> None:
    """Independent columns: in at most one table of twenty anything is found."""
    found = sum(
        bool(dependent(tables.read(torch.from_numpy((RANDOM.random((60, 40)) < 0.3).astype(float))))) for _ in range(60)
    )
    assert found <= 6


def test_a_table_of_dummies_is_as_likely_as_the_table_of_labels() -> None:
    """And so are rows with holes, and rows that break the pattern are possible."""
    labels = RANDOM.integers(0, 4, (1500, 6))
    labels[:, 1::2] = np.where(RANDOM.random((1500, 3)) < 0.7, labels[:, ::2], labels[:, 1::2])
    coded = dummies(labels, np.arange(4))
    world, codes = nbr.World({f"c{at}": nbr.Choice(*"abcd") for at in range(6)}), torch.tensor(labels).double()
    before, after = priors.trees(Table(world, codes), 2), priors.trees(tables.read(coded), 2)
    assert isinstance(after, priors.Grouped)
    assert str(after) == "a mixture of 2 trees of columns, where 24 columns are 6 variables"
    holes = [codes.clone(), coded.clone()]
    holes[0][:, 2:], holes[1][:, 8:] = math.nan, math.nan
    for plain, bits in ((codes, coded), holes):
        assert float((after.log_prob(bits) - before.log_prob(plain)).mean()) == pytest.approx(0, abs=0.01)
    broken = coded[:1].clone()
    broken[0, :4] = 1
    assert -25 < float(after.log_prob(broken) - after.log_prob(coded[:1])) < -5


def test_it_is_saved_and_asked_by_its_columns(tmp_path: Path) -> None:
    labels = RANDOM.integers(0, 3, (900, 6))
    labels[:, 1] = np.where(RANDOM.random(900) < 0.8, labels[:, 0], labels[:, 1])
    world = nbr.World.bits(18)
    prior = priors.trees(Table(world, dummies(labels, np.arange(3))))
    model = nbr.Reasoner(world, prior=prior)
    model.save(tmp_path / "m.nbr")
    again = nbr.load(tmp_path / "m.nbr")
    share = float((labels[labels[:, 0] == 2, 1] == 2).mean())
    for asked in (model, again):
        assert asked.probability("x5", given="x2").value == pytest.approx(share, abs=0.02)
        assert asked.probability("x2 & x1").value < 1e-3
        assert asked.probability("x3 | x4 | x5", given="~x0").value == pytest.approx(1, abs=1e-3)
    rows = again.sample(2000, given="x5", seed=0)
    assert (rows[["x3", "x4", "x5"]].sum(axis=1) == 1).mean() > 0.99
    assert rows["x2"].mean() == pytest.approx(float((labels[labels[:, 1] == 2, 0] == 2).mean()), abs=0.05)
