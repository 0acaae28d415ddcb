"""Trees and mixtures of them: the best tree, rounds that gain, and figures of published data by brute force."""

import itertools
import math

import numpy as np
import pytest
import torch

import nbr
from nbr import priors
from nbr.priors.em import TreeLearner, columns
from nbr.priors.growing import auto
from nbr.priors.tree import Tree, information, spanning
from nbr.tables import Table
from small_table import TABLE, WORLD, holed, rows


def learner_of(codes: torch.Tensor) -> TreeLearner:
    table = Table(WORLD, codes)
    return TreeLearner(table, columns(table, 4))


def trees_of(count: int):
    """All labelled trees, as sets of edges (Prüfer)."""
    for code in itertools.product(range(count), repeat=count - 2):
        degree = [1 + code.count(node) for node in range(count)]
        edges = []
        for node in code:
            leaf = next(i for i in range(count) if degree[i] == 1)
            edges.append((leaf, node))
            degree[leaf] -= 1
            degree[node] -= 1
        edges.append(tuple(i for i in range(count) if degree[i] == 1))
        yield edges


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_is_the_best_of_all(seed: int) -> None:
    gain = np.random.default_rng(seed).random((6, 6)) + 0.1
    gain = gain + gain.T
    order, parent = spanning(gain)
    best = max(sum(gain[a, b] for a, b in edges) for edges in trees_of(6))
    assert sum(gain[i, p] for i, p in enumerate(parent) if i != p) == pytest.approx(best)
    place = {int(column): position for position, column in enumerate(order)}
    assert all(place[int(p)] < place[i] for i, p in enumerate(parent) if i != p)


@pytest.mark.parametrize("shape", ["chain", "star", "bush"])
def test_many_columns_do_not_underflow(shape: str) -> None:
    """A thousand columns, each of whose states may have a chance of 1e-6: what messages add up is what is looked up."""
    columns, random = 1000, np.random.default_rng(0)
    parent = {"chain": np.maximum(np.arange(columns) - 1, 0), "star": np.zeros(columns, dtype=int)}.get(shape)
    if parent is None:
        parent = np.array([0, *(random.integers(max(0, at - 9), at) for at in range(1, columns))])
    chance = torch.from_numpy(random.choice([1e-6, 0.3, 1 - 1e-6], (columns, 2)))
    tree = Tree(torch.arange(columns), torch.from_numpy(parent), torch.stack([chance, 1 - chance], dim=2))
    tree.table[0, 1] = tree.table[0, 0]
    states = torch.from_numpy(random.integers(0, 2, (20, columns)))
    weights, total = tree.gather(torch.nn.functional.one_hot(states, 2).double())
    torch.testing.assert_close(total, tree.log_complete(states))
    assert bool(weights.isfinite().all())
    assert bool((weights.amax(dim=2) > 0).all())
    drawn = tree.redraw(states, torch.tensor([0]), torch.Generator().manual_seed(0))
    either = torch.stack([tree.log_complete(torch.cat([0 * drawn[:, :1] + on, drawn[:, 1:]], dim=1)) for on in (0, 1)])
    clear = (either[0] - either[1]).abs() > 40
    assert shape != "star" or int(clear.sum()) > 15
    assert torch.equal(drawn[clear, 0], either.argmax(dim=0)[clear])


def test_information_against_its_definition() -> None:
    learner = learner_of(holed(rows(), 0.2))
    gain = information(learner._pairs(learner.rows.weights), learner.member, learner.sizes)
    codes = holed(rows(), 0.2).numpy()
    for i, j in itertools.combinations(range(4), 2):
        both = codes[~np.isnan(codes[:, [i, j]]).any(axis=1)][:, [i, j]]
        told = 0.0
        for a, b in itertools.product(np.unique(both[:, 0]), np.unique(both[:, 1])):
            joint = ((both[:, 0] == a) & (both[:, 1] == b)).mean()
            if joint:
                told += joint * math.log(joint / ((both[:, 0] == a).mean() * (both[:, 1] == b).mean()))
        cost = math.log(len(both)) * (learner.sizes[i] - 1) * (learner.sizes[j] - 1) / 2 / len(both)
        assert gain[i, j] == pytest.approx(told - cost, abs=1e-6)


def test_only_columns_seen_together_depend_on_each_other() -> None:
    codes = rows(800)
    codes[:400, 0] = math.nan
    codes[400:, 2] = math.nan
    codes[400:420, 2] = 1.0  # 20 rows are too few
    found = priors.trees(Table(WORLD, codes), 1)
    edges = {frozenset((i, int(p))) for i, p in enumerate(found.trees[0].parent.tolist()) if i != p}
    assert frozenset((0, 2)) not in edges
    assert frozenset((0, 1)) in edges


@pytest.mark.parametrize("share", [0.0, 0.4])
@pytest.mark.parametrize("components", [1, 3])
def test_every_round_gains(share: float, components: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without smoothing and with the tree settled, a round never loses likelihood."""
    monkeypatch.setattr("nbr.priors.em.SMOOTHING", 1e-9)
    monkeypatch.setattr("nbr.priors.em.MIXED", 1e-9)
    learner = learner_of(holed(rows(), share))
    monkeypatch.setattr("nbr.priors.em.information", lambda *_: np.eye(4, k=1) + np.eye(4, k=-1))
    model, scores = learner.fitted(learner.start(components, 0)), []
    for _ in range(12):
        model, score = learner.improve(model)
        scores.append(score)
    gains = np.diff(scores)
    assert (gains > -1e-7).all()
    if components > 1 or share:
        assert gains.sum() > 1e-4


def test_holes_are_learned_from() -> None:
    """Half of the cells erased: far better than columns on their own, near to what all cells give."""
    fresh = Table(WORLD, rows(4000, seed=9))
    full = priors.trees(Table(WORLD, rows(2000)), 1).log_prob(fresh.codes).mean()
    half = priors.trees(Table(WORLD, holed(rows(2000), 0.5)), 1).log_prob(fresh.codes).mean()
    alone = priors.marginals(TABLE).log_prob(fresh.codes).mean()
    assert half > full - 0.03
    assert half > alone + 0.3


def test_what_auto_chooses() -> None:
    small, why = auto(TABLE)
    assert isinstance(small, priors.Independent)
    assert "48 points" in why
    world = nbr.World.bits(24)
    codes = (torch.rand(600, 24, generator=torch.Generator().manual_seed(0)) < 0.5).double()
    codes[:, 1::2] = codes[:, ::2]
    large, why = auto(Table(world, codes))
    assert isinstance(large, priors.Grouped)
    assert "24 columns are 12 variables" in why
    assert "too many points to list" in why
    assert large.log_prob(codes).mean() > 12 * math.log(0.5) - 0.5


def test_trees_learned_anew_are_as_many_and_as_good_as_from_the_start() -> None:
    """From a part to all rows: near what all rows give at once, and better than the part."""
    every, part, fresh = Table(WORLD, rows(2000)), Table(WORLD, rows(2000)[:100]), rows(4000, seed=9)
    few = priors.trees(part, 2)
    found = priors.relearned(few, every)
    assert len(found.trees) == 2
    scores = [float(each.log_prob(fresh).mean()) for each in (few, found, priors.trees(every, 2))]
    assert scores[1] > scores[0] + 0.01
    assert scores[1] == pytest.approx(scores[2], abs=0.01)


def test_the_number_of_trees_is_chosen_on_held_out_rows() -> None:
    """Two kinds of rows, columns independent in each: two trees are enough, one is not."""
    generator = torch.Generator().manual_seed(0)
    kind = torch.rand(3000, 1, generator=generator) < 0.5
    chance = torch.where(kind, 0.9, 0.1).expand(-1, 10)
    table = Table(nbr.World.bits(10), torch.bernoulli(chance, generator=generator).double())
    found = priors.trees(table)
    assert 2 <= len(found.trees) <= 4
    best = torch.stack([table.codes @ torch.tensor([[math.log(p / (1 - p))]] * 10).double() for p in (0.9, 0.1)])
    exact = (best[..., 0] + 10 * torch.tensor([[math.log(0.1)], [math.log(0.9)]])).logsumexp(0) + math.log(0.5)
    assert float(found.log_prob(table.codes).mean()) == pytest.approx(float(exact.mean()), abs=0.02)
