"""Trees side by side say what each says alone: totals to rounding, draws as often as all points tell."""

import math

import numpy as np
import pytest
import torch

from nbr import World, priors
from nbr.errors import NbrError
from nbr.priors import forest
from nbr.priors.forest import Forest
from nbr.priors.tree import Tree
from nbr.tables import Table
from small_table import TABLE, WORLD

MIXTURE = priors.Trees.average([priors.trees(TABLE, 4, seed=seed) for seed in (0, 1)])
ALLOWED = {"a": torch.tensor([False, True])}


@pytest.fixture(params=["side by side", "one by one"])
def mixture(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> priors.Trees:
    if request.param == "one by one":
        monkeypatch.setattr(forest, "ROOM", 0)
    found = priors.Trees.average([MIXTURE])
    assert (found._forest is None) == (request.param == "one by one")
    return found


def test_messages_are_those_of_each_tree() -> None:
    evidence = MIXTURE._within(ALLOWED)
    weights, total = Forest(MIXTURE.trees).gather(evidence[0])
    for number, tree in enumerate(MIXTURE.trees):
        alone, sum_ = tree.gather(evidence)
        torch.testing.assert_close(total[number], sum_[0])
        kept = alone[0] / alone[0].amax(dim=1, keepdim=True)  # each column's weights count up to a factor
        torch.testing.assert_close(weights[number] / weights[number].amax(dim=1, keepdim=True), kept)


def test_whole_rows_of_bits_are_scored_by_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    table = Table(World.bits(9), torch.from_numpy(random.integers(0, 2, (400, 9))).double())
    for mixture in (priors.trees(table, 5), priors.trees(table.part(torch.arange(20)), 2)):  # the last has roots alone
        states = table.codes.long()
        monkeypatch.setattr(forest, "PRODUCTS", 100)
        found = Forest(mixture.trees).log_complete(states)
        wanted = torch.stack([tree.log_complete(states) for tree in mixture.trees], dim=1)
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


def test_more_than_two_states_are_looked_up() -> None:
    assert Forest(MIXTURE.trees).log_complete(torch.zeros(1, len(WORLD), dtype=torch.long)) is None


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_many_columns_do_not_underflow(shape: str) -> None:
    columns, random, trees = 600, np.random.default_rng(0), []
    parent = np.maximum(np.arange(columns) - 1, 0) if shape == "chain" else np.zeros(columns, dtype=int)
    for _ in range(2):
        chance = torch.from_numpy(random.choice([1e-6, 0.3, 1 - 1e-6], (columns, 2)))
        table = torch.stack([chance, 1 - chance], dim=2)
        table[0, 1] = table[0, 0]
        trees.append(Tree(torch.arange(columns), torch.from_numpy(parent), table))
    states = torch.from_numpy(random.integers(0, 2, columns))
    _, total = Forest(trees).gather(torch.nn.functional.one_hot(states, 2).double())
    torch.testing.assert_close(total, torch.stack([tree.log_complete(states[None])[0] for tree in trees]))


def test_the_mass_of_a_condition(mixture: priors.Trees) -> None:
    known = torch.full((1, len(WORLD)), math.nan).double()
    known[0, WORLD.column("a")] = 1
    assert mixture.log_mass(ALLOWED) == pytest.approx(float(mixture.log_prob(known)))


def test_draws_are_as_often_as_they_are_likely(mixture: priors.Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "DRAWN", 999)  # some at a time
    points = mixture.sample_within(ALLOWED, 20_000, torch.Generator().manual_seed(0))
    assert bool((points[:, WORLD.column("a")] == 1).all())
    distinct, counts = torch.unique(points, dim=0, return_counts=True)
    wanted = (mixture.log_prob(distinct) - mixture.log_mass(ALLOWED)).exp()
    assert float(wanted.sum()) > 0.98
    error = (wanted * (1 - wanted) / 20_000).sqrt()
    assert bool(((counts / 20_000 - wanted).abs() <= 5 * error + 1e-3).all())


def test_nothing_is_drawn_where_nothing_can_be(mixture: priors.Trees) -> None:
    with pytest.raises(NbrError, match="no point"):
        mixture.sample_within({"a": torch.tensor([False, False])}, 5, torch.Generator())
