"""Likelihoods and samples against plain sums over all points."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from nbr import priors
from nbr.density import likelihood, sampling
from nbr.density.learned import Learned
from nbr.model import Model
from nbr.points import numbered as listing
from nbr.tables import Table, read

WORLD = nbr.World(a=nbr.Bit(), b=nbr.Choice("u", "v", "w"), c=nbr.Bit())
RULES = [nbr.Clause("a -> b=v", 0.7), nbr.Clause("c <-> a", 0.4), nbr.Memory({"b": "w", "c": 1}, 0.5, 0.3)]
TABLE = Table(WORLD, torch.tensor([[1, 1, 1], [0, 2, 0], [0, 0, 1.0]], dtype=torch.float64))


def every_prior() -> dict[str, priors.Prior]:
    return {
        "uniform": priors.uniform(WORLD),
        "marginals": priors.marginals(TABLE),
        "empirical": priors.Empirical(TABLE),
        "learned": Learned(Model(WORLD, [nbr.Clause("b=u", 0.5)])),
    }


PRIORS = every_prior()


def all_points() -> list[tuple[int, int, int]]:
    return list(itertools.product(range(2), range(3), range(2)))


@pytest.mark.parametrize("name", PRIORS)
def test_prior_contract(name: str) -> None:
    """Probabilities sum to 1, and samples come as often as they should (a chi-square test that can fail)."""
    prior = PRIORS[name]
    points = torch.tensor(all_points(), dtype=torch.float64)
    scores = prior.log_prob(points)
    assert scores is not None
    assert scores.exp().sum().item() == pytest.approx(1)
    drawn = prior.sample(20_000, torch.Generator().manual_seed(0))
    again = prior.sample(20_000, torch.Generator().manual_seed(0))
    assert torch.equal(drawn, again)
    numbers = (drawn @ torch.tensor([6.0, 2.0, 1.0], dtype=torch.float64)).long()
    counts = torch.bincount(numbers, minlength=12).double()
    possible = scores.exp() > 0
    assert counts[~possible].sum() == 0
    expected = 20_000 * scores.exp()[possible]
    assert float(((counts[possible] - expected) ** 2 / expected).sum()) < 35  # 11 degrees of freedom, 1 in 5,000


@pytest.mark.parametrize("name", PRIORS)
def test_log_prob_equals_plain_sums(name: str) -> None:
    reasoner = nbr.Reasoner(WORLD, RULES, prior=PRIORS[name])
    points = torch.tensor(all_points(), dtype=torch.float64)
    weights = PRIORS[name].log_prob(points).exp() * reasoner.keep(points)
    share = dict(zip(all_points(), (weights / weights.sum()).tolist(), strict=True))
    holes = torch.tensor([[1, 1, 1], [math.nan, 1, 0], [0, math.nan, math.nan], [math.nan] * 3], dtype=torch.float64)
    expected = []
    for row in holes.tolist():
        agree = [
            p
            for p in all_points()
            if all(math.isnan(cell) or cell == value for cell, value in zip(row, p, strict=True))
        ]
        expected.append(sum(share[p] for p in agree))
    scored = likelihood.score(reasoner.model, Table(WORLD, holes))
    assert scored.exact
    np.testing.assert_allclose(scored.log_prob.exp().numpy(), expected, atol=1e-12)


def test_completions_fill_every_hole_in_every_way() -> None:
    listed = listing.numbered_points(WORLD)
    assert listed is not None
    row, point = listed.completions(torch.tensor([[math.nan, 1, math.nan], [0, 2, 1]], dtype=torch.float64))
    assert row.tolist() == [0, 0, 0, 0, 1]
    assert sorted(map(tuple, listed.points[point[:4]].tolist())) == [(0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1)]
    assert listed.points[point[4]].tolist() == [0, 2, 1]


def test_samples_agree_with_probabilities() -> None:
    reasoner = nbr.Reasoner(WORLD, RULES, prior=PRIORS["marginals"])
    drawn = reasoner.sample(40_000, seed=1)
    assert list(drawn.columns) == ["a", "b", "c"]
    assert drawn.attrs["method"] == "listed"
    counts = drawn.value_counts()
    for labels, count in counts.items():
        frame = pd.DataFrame([labels], columns=["a", "b", "c"])
        share = math.exp(reasoner.log_prob(frame).item())
        assert count == pytest.approx(40_000 * share, abs=5 * math.sqrt(40_000 * share))
    conditional = reasoner.sample(500, given="b=w & a", seed=2)
    assert set(conditional["b"]) == {"w"}
    assert set(conditional["a"]) == {1}
    assert reasoner.sample(5, seed=3).equals(reasoner.sample(5, seed=3))
    with pytest.raises(nbr.NbrError, match="nothing can be drawn"):
        reasoner.sample(5, given="a & ~a")


def kept_and_chains(method: str, monkeypatch: pytest.MonkeyPatch) -> nbr.Reasoner:
    monkeypatch.setattr(sampling, "numbered_points", lambda *_: None)
    if method == "chains":
        monkeypatch.setattr(sampling, "RARE", 1.0)
        monkeypatch.setattr(sampling, "TRIED", sampling.BATCH)
        monkeypatch.setattr(sampling, "VALUES", 0)  # no tables
    return nbr.Reasoner(WORLD, RULES, prior=PRIORS["marginals"])


@pytest.mark.parametrize("method", ["kept", "chains"])
def test_other_ways_to_sample_agree(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = nbr.Reasoner(WORLD, RULES, prior=PRIORS["marginals"])
    points = torch.tensor(all_points(), dtype=torch.float64)
    weights = PRIORS["marginals"].log_prob(points).exp() * exact.keep(points)
    share = weights / weights.sum()
    reasoner = kept_and_chains(method, monkeypatch)
    drawn = sampling.draw(reasoner.model, 40_000, None, torch.Generator().manual_seed(0))
    assert drawn.method == method
    assert drawn.acceptance == pytest.approx(float(weights.sum()), abs=0.02)
    numbers = (drawn.points @ torch.tensor([6.0, 2.0, 1.0], dtype=torch.float64)).long()
    counts = torch.bincount(numbers, minlength=12) / 40_000
    assert float((counts - share).abs().max()) < 0.015


def test_continuous_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crisp rule on a real: the density is known by hand, the estimate must cover it."""
    world = nbr.World(t=nbr.Real(0, 10))
    reasoner = nbr.Reasoner(world, [nbr.Clause("t<2", 0.5)])
    drawn = reasoner.sample(20_000, seed=0)
    assert drawn.attrs["method"] == "kept"
    assert drawn.attrs["acceptance"] == pytest.approx(0.2 + 0.8 * 0.5, abs=0.02)
    assert (drawn["t"] < 2).mean() == pytest.approx(0.2 / 0.6, abs=0.02)
    rows = read(pd.DataFrame({"t": [1.0, 5.0]}), world)
    expected = [math.log(0.1 / 0.6), math.log(0.05 / 0.6)]
    counted = likelihood.score(reasoner.model, rows)
    assert counted.exact
    np.testing.assert_allclose(counted.log_prob.numpy(), expected, atol=1e-9)
    monkeypatch.setattr(likelihood, "counted", lambda *_: None)
    scored = likelihood.score(reasoner.model, rows)
    assert not scored.exact
    np.testing.assert_allclose(scored.log_prob.numpy(), expected, atol=4 * scored.error + 1e-9)


def test_clauses_on_many_columns_are_scored_exactly() -> None:
    """Columns that no rule reads count one half each; the others are listed in a world of their own."""
    texts = [("x0 -> x1", 0.9), ("x1 & x2 -> x3", 0.6)]
    wide, narrow = (nbr.Reasoner(nbr.World.bits(n), [nbr.Clause(*each) for each in texts]) for n in (40, 4))
    rows = np.random.default_rng(0).integers(0, 2, (20, 40)).astype(float)
    scored = likelihood.score(wide.model, read(rows, wide.world))
    assert scored.exact
    expected = narrow.log_prob(rows[:, :4]) - 36 * math.log(2)
    torch.testing.assert_close(scored.log_prob, expected, atol=1e-9, rtol=0)


def test_estimated_likelihood_with_holes(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = nbr.Reasoner(WORLD, RULES, prior=PRIORS["marginals"])
    holes = Table(WORLD, torch.tensor([[math.nan, 1, 0], [1, math.nan, math.nan]], dtype=torch.float64))
    exact = likelihood.score(reasoner.model, holes)
    monkeypatch.setattr(likelihood, "numbered_points", lambda world: None)
    estimate = likelihood.score(reasoner.model, holes)
    assert exact.exact
    assert not estimate.exact
    assert estimate.mean == pytest.approx(exact.mean, abs=4 * estimate.error)
    assert estimate.error < 0.05


def test_any_torch_distribution_is_a_prior() -> None:
    world = nbr.World(s=nbr.Real(-3, 3), t=nbr.Real(-3, 3))
    normal = torch.distributions.MultivariateNormal(torch.zeros(2), 0.25 * torch.eye(2))
    reasoner = nbr.Reasoner(world, [nbr.Clause("s>0", 1.0)], prior=priors.Drawn(world, normal))
    drawn = reasoner.sample(5000, seed=0)
    assert (drawn["s"] > 0).all()
    assert drawn["t"].std() == pytest.approx(0.5, abs=0.03)
    with pytest.raises(nbr.NbrError, match="2 variables"):
        priors.Drawn(world, torch.distributions.Normal(torch.zeros(3), 1))


def test_priors_are_saved(tmp_path) -> None:
    for name, prior in PRIORS.items():
        before = nbr.Reasoner(WORLD, RULES, prior=prior)
        before.save(tmp_path / f"{name}.nbr")
        after = nbr.load(tmp_path / f"{name}.nbr")
        points = torch.tensor(all_points(), dtype=torch.float64)
        torch.testing.assert_close(after.prior.log_prob(points), prior.log_prob(points))


def test_pair_marginals_of_samples_agree_with_the_model() -> None:
    """A larger world: every pair of bits as often as the model says, within five standard errors."""
    from nbr.learning.bank import Bank

    world = nbr.World.bits(10)
    model = nbr.Reasoner(world, Bank(world, [world.names], 8, width=16, seed=3).export())
    listed = listing.numbered_points(world)
    weights = likelihood.log_weights(model.model, listed)
    chance = torch.softmax(weights, 0)
    expected = (listed.points * chance[:, None]).T @ listed.points
    drawn = torch.from_numpy(model.sample(50_000, seed=0).to_numpy().copy()).double()
    found = drawn.T @ drawn / len(drawn)
    error = (expected * (1 - expected) / len(drawn)).sqrt()
    assert float(((found - expected).abs() / error).max()) < 5
    shifted = expected + 6 * error
    assert float(((found - shifted).abs() / error).max()) > 5, "the test must be able to fail"


def test_chunks_of_rows_are_filled_by_draws_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are alike, in a world too large to list: chunks that share a seed would share their errors."""
    monkeypatch.setattr(likelihood, "ROWS", 3)
    world = nbr.World.bits(40)
    model = Model(world, [nbr.Clause(f"x{i} -> x{i + 1}", 0.7) for i in range(39)])
    codes = torch.full((9, 40), math.nan, dtype=torch.float64)
    codes[:, 0] = 1
    found = likelihood.score(model, Table(world, codes), seed=3, jobs=1)
    assert not found.exact
    chunks = found.log_prob.view(3, 3)
    assert len(torch.unique(chunks, dim=0)) == 3
    again = likelihood.score(model, Table(world, codes), seed=3, jobs=1)
    assert torch.equal(found.log_prob, again.log_prob)
