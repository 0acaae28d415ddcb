"""Numbers that go together as normal curves do: tables and gains against closed forms, and what few rows buy."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

import nbr
from nbr import priors
from nbr.priors.curves import Scores, told
from nbr.priors.em import TreeLearner, columns
from nbr.tables import Table

WORLD = nbr.World(label=nbr.Choice("u", "v", "w"), x=nbr.Real(-5, 5), y=nbr.Real(-5, 5))


def rows(count: int, seed: int = 0) -> torch.Tensor:
    """y is 0.9 x and noise, both normal; x is 1.5 larger for each next label."""
    random = np.random.default_rng(seed)
    label = random.integers(3, size=count)
    x = random.normal(1.5 * (label - 1), 1.0) / math.sqrt(2.5)
    y = 0.9 * x + math.sqrt(1 - 0.81) * random.normal(size=count)
    return torch.from_numpy(np.stack([label, x, y], axis=1)).clamp(max=4.99, min=-4.99)


def learner_of(codes: torch.Tensor, states: int = 8) -> TreeLearner:
    table = Table(WORLD, codes)
    return TreeLearner(table, columns(table, states))


def middles(learner: TreeLearner, codes: torch.Tensor) -> np.ndarray:
    """The score of each cell, column by column."""
    states = [column.locate(codes[:, at])[0].numpy() for at, column in enumerate(learner.columns)]
    return np.stack([learner.scores.middle[at][each] for at, each in enumerate(states)])


def test_a_number_given_a_number_lies_about_the_line_of_least_squares() -> None:
    codes = rows(500)
    learner = learner_of(codes)
    parent = np.array([0, 1, 1])
    counts = learner._padded(learner._pairs(learner.rows.weights), parent)
    own = learner._spread(learner.whole)
    found = learner.scores.expected(counts, parent, own)[2]
    _, x, y = middles(learner, codes)
    line = stats.linregress(x, y)
    off = (y - line.intercept - line.slope * x).std()
    for state, middle in enumerate(np.unique(x)):
        edges = learner.scores.ends[2]
        wanted = np.diff(stats.norm(line.intercept + line.slope * middle, off).cdf(edges))
        np.testing.assert_allclose(found[state], wanted, atol=1e-6)


def test_a_number_given_a_label_and_the_label_given_it_are_one_joint_table() -> None:
    learner = learner_of(rows(500))
    pairs, own = learner._pairs(learner.rows.weights), learner._spread(learner.whole)
    down, up = np.array([0, 0, 2]), np.array([1, 1, 2])
    number = learner.scores.expected(learner._padded(pairs, down), down, own)[1]  # (labels, states)
    label = learner.scores.expected(learner._padded(pairs, up), up, own)[0]  # (states, labels)
    joint = own[0][:3, None] * number[:3]
    np.testing.assert_allclose(label[:, :3].T, joint / joint.sum(axis=0), atol=1e-9)
    means = number[:3] @ learner.scores.middle[1]
    assert (np.diff(means) > 0.5).all()


@pytest.mark.parametrize("kept", [1.0, 0.7])
def test_what_a_curve_tells_against_regression_and_analysis_of_variance(kept: float) -> None:
    codes = rows(400)
    codes[torch.rand(codes.shape, generator=torch.Generator().manual_seed(1)) > kept] = torch.nan
    learner = learner_of(codes)
    gain = told(learner._pairs(learner.rows.weights), learner.member, learner.sizes, learner.scores, learner.flat)
    both = codes[~codes[:, 1:].isnan().any(dim=1)]
    _, x, y = middles(learner, both)
    line = -0.5 * math.log(1 - np.corrcoef(x, y)[0, 1] ** 2) - math.log(len(both)) / 2 / len(both)
    assert gain[1, 2] == pytest.approx(line, abs=1e-6)
    assert gain[2, 1] == gain[1, 2]
    both = codes[~codes[:, :2].isnan().any(dim=1)]
    _, x, _ = middles(learner, both)
    groups = [x[(both[:, 0] == label).numpy()] for label in range(3)]
    within = sum(len(group) * group.var() for group in groups) / len(x)
    label = 0.5 * math.log(x.var() / within) - 2 * math.log(len(x)) / 2 / len(x)
    assert gain[0, 1] == pytest.approx(label, abs=1e-6)


def test_tables_are_distributions_with_ties_and_padding() -> None:
    codes = rows(300)
    codes[codes[:, 1] < 0, 1] = 0.0  # half of a column is one value
    learner = learner_of(codes, 16)
    found = learner.fitted(learner.start(2, 0))
    for tree in found.trees:
        np.testing.assert_allclose(tree.table.sum(dim=2).numpy(), 1.0, atol=1e-9)
        assert not bool(tree.table[torch.from_numpy(~learner.valid)[:, None, :].expand_as(tree.table)].any())


def test_few_rows_are_enough_for_a_straight_line(monkeypatch: pytest.MonkeyPatch) -> None:
    train, fresh = Table(WORLD, rows(150)), rows(3000, seed=9)
    found = float(priors.trees(train, 1).log_prob(fresh).mean())
    monkeypatch.setattr("nbr.priors.em.CURVES", 0.0)
    counted = float(priors.trees(train, 1).log_prob(fresh).mean())
    assert found > counted + 0.1


def test_no_scores_without_numbers() -> None:
    world = nbr.World.bits(3)
    table = Table(world, torch.zeros(10, 3).double())
    assert not Scores.of(columns(table, 4), 2).ordered.any()
