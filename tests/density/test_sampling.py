"""Points under a condition, and chains that know whether they have met."""

from __future__ import annotations

import pytest
import torch

import nbr
from nbr import priors
from nbr.density import sampling
from nbr.density.chains import Watch
from nbr.density.sampling import draw
from nbr.priors import Independent
from small_table import TABLE, WORLD


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_the_prior_is_drawn_inside_a_narrow_condition() -> None:
    """A slice of a five-hundredth: no chains from a handful of points; frequencies as by integration."""
    world = nbr.World(x=nbr.Real(0, 100), u=nbr.Real(0, 1))
    near = nbr.Fuzzy(lambda points: torch.sigmoid(20 * (points[:, 1] - points[:, 0] / 100)), 1.0)
    model = nbr.Reasoner(world, [near])
    grid = torch.linspace(0, 1, 20001, dtype=torch.float64)
    kept = torch.sigmoid(20 * (grid - 0.48))
    share = float(kept[grid >= 0.7].sum() / kept.sum())
    for seed in range(3):
        drawn = model.sample(4000, given="x>=47.9, x<=48.1", seed=seed)
        assert drawn.attrs["method"] == "kept"
        assert drawn["x"].between(47.9, 48.1).all()
        assert (drawn["u"] >= 0.7).mean() == pytest.approx(share, abs=4 * (share * (1 - share) / 4000) ** 0.5)


def chained(
    model: nbr.Reasoner, given: str | None, monkeypatch: pytest.MonkeyPatch, count: int
) -> sampling.DrawnPoints:
    monkeypatch.setattr(sampling, "numbered_points", lambda *_: None)
    monkeypatch.setattr(sampling, "RARE", 1.0)
    monkeypatch.setattr(sampling, "TRIED", sampling.BATCH)
    monkeypatch.setattr(sampling, "VALUES", 0)  # no tables
    condition = None if given is None else nbr.parse(given)
    return draw(model.model, count, condition, generator())


@pytest.mark.parametrize("given", [None, "x1 | x2", "x0, x1 <-> x3"])
def test_chains_agree_with_the_list_of_points(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    world = nbr.World.bits(4)
    rules = [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x2 <-> x3", 0.8), nbr.Clause("~x1 | ~x2", 0.7)]
    model = nbr.Reasoner(world, rules, prior=Independent(world, [torch.tensor([0.8, 0.2])] * 4))
    wanted = [model.probability(f"x{i}", given).value for i in range(4)]
    drawn = chained(model, given, monkeypatch, 1024)
    assert drawn.method == "chains"
    assert drawn.points.mean(dim=0).tolist() == pytest.approx(wanted, abs=0.05)


def test_chains_of_a_prior_of_trees_agree_with_the_list_of_points(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = [nbr.Clause("a -> b=u", 0.9), nbr.Clause('c | n="0"', 0.8)]
    model = nbr.Reasoner(WORLD, rules, prior=priors.trees(TABLE, 3))
    questions = ["a", "b=u", "b=w", "c", 'n="0"']
    wanted = [model.probability(question).value for question in questions]
    drawn = chained(model, None, monkeypatch, 1024)
    assert drawn.method == "chains"
    found = [float(nbr.parse(question).holds(WORLD, drawn.points).double().mean()) for question in questions]
    assert found == pytest.approx(wanted, abs=0.05)


def test_chains_that_cannot_meet_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen bits that must be alike: no move of one or two leads from all 0 to all 1."""
    world = nbr.World.bits(16)
    model = nbr.Reasoner(world, [nbr.Clause("all(x0..x15) | ~any(x0..x15)", 1.0)])
    monkeypatch.setattr(sampling, "SWEEPS", 16)
    monkeypatch.setattr(sampling, "LONGEST", 16)
    drawn = chained(model, None, monkeypatch, 10)
    assert drawn.method.startswith("chains that have not converged (R-hat ")


def test_r_hat() -> None:
    draws = torch.randn(50, 200, 1, generator=generator(), dtype=torch.float64)
    mixed, apart = Watch(200), Watch(200)
    for numbers in draws:
        mixed.see(numbers)
        apart.see(numbers + torch.linspace(-3, 3, 200, dtype=torch.float64)[:, None])
    assert mixed.r_hat == pytest.approx(1.01, abs=0.01)
    assert apart.r_hat == pytest.approx(2.0, abs=0.05)  # sqrt of 1 + 3, the variance of the shifts
