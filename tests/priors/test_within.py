"""Samples under conditions that hardly any point of the prior meets."""

import math

import numpy as np
import pytest
import torch

import nbr
from nbr import priors
from nbr.density import sampling
from nbr.density.conditions import inside
from nbr.language import parse
from nbr.tables import Table
from small_table import TABLE, WORLD


def test_what_a_condition_allows_single_variables() -> None:
    world = nbr.World(a=nbr.Bit(), c=nbr.Choice("u", "v", "w"), r=nbr.Real(0, 10))
    found = inside(world, parse("a & c in {u, w} & ~(r>=3 & r<4) & r!=7 & (a | r>9) & c!=w")).allowed
    assert found["a"].tolist() == [False, True]
    assert found["c"].tolist() == [True, False, False]
    assert found["r"] == [(-math.inf, 3.0), (4.0, 7.0), (7.0, math.inf), (4.0, 4.0)]


def test_a_narrow_condition_on_a_number() -> None:
    """One point in a thousand of the prior: what depends on it is as exact as anywhere, whatever the seed."""
    generator = np.random.default_rng(0)
    x = generator.normal(50, 10, 5000)
    flag = generator.random(5000) < 1 / (1 + np.exp(-(x - 50) / 5))
    codes = torch.from_numpy(np.stack([x, flag], axis=1))
    world = nbr.World(x=nbr.Real(0, 100), flag=nbr.Bit())
    prior = priors.trees(Table(world, codes))
    model = nbr.Reasoner(world, [nbr.Clause("flag", 0.5)], prior=prior)
    shares = [model.sample(4000, given="x>=47.99, x<=48.01", seed=seed)["flag"].mean() for seed in range(3)]
    inside = prior.complete(torch.tensor([[48.0, math.nan]]).double(), 40_000, torch.Generator())[0, :, 1].mean()
    wanted = float(inside / (inside + 0.5 * (1 - inside)))
    assert shares == pytest.approx([wanted] * 3, abs=3 * math.sqrt(0.25 / 4000))
    drawn = model.sample(10, given="x>=47.99, x<=48.01", seed=0)
    assert drawn["x"].between(47.99, 48.01).all()
    assert drawn.attrs["acceptance"] < 0.01


@pytest.mark.parametrize("prior", [priors.marginals(TABLE), priors.trees(TABLE, 2)], ids=["independent", "trees"])
@pytest.mark.parametrize("method", ["kept", "chains"])
def test_all_ways_to_sample_agree(prior: priors.Prior, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = [nbr.Clause("a -> b=v", 0.7), nbr.Clause("c <-> a", 0.4)]
    model, given = nbr.Reasoner(WORLD, rules, prior=prior), "n!=0 & (a | c)"
    exact = model.sample(20_000, given=given, seed=0)
    assert exact.attrs["method"] == "listed"
    monkeypatch.setattr(sampling, "numbered_points", lambda *_: None)
    if method == "chains":
        monkeypatch.setattr(sampling, "RARE", 1.0)
        monkeypatch.setattr(sampling, "TRIED", sampling.BATCH)
        monkeypatch.setattr(sampling, "VALUES", 0)  # no tables
    other = model.sample(8000, given=given, seed=1)
    assert other.attrs["method"] == method
    assert other.attrs["acceptance"] == pytest.approx(exact.attrs["acceptance"], abs=0.01)
    gap = exact.value_counts(normalize=True).sub(other.value_counts(normalize=True), fill_value=0).abs().max()
    assert gap < 0.02
