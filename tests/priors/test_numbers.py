"""Numbers as columns have them: densities that sum to one, samples with the quantiles of the data."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

import nbr
from nbr import priors
from nbr.priors import numbers
from nbr.priors.independent import product
from nbr.tables import Table

DRAWS = {
    "lognormal": lambda g, n: g.lognormal(0, 1.5, n),
    "zeros": lambda g, n: np.where(g.random(n) < 0.7, 0.0, g.lognormal(3, 1, n)),
    "t": lambda g, n: g.standard_t(2, n),
    "rounded": lambda g, n: np.round(g.normal(5, 1, n), 1),
    "counts": lambda g, n: g.poisson(2.5, n).astype(float),
    "few": lambda g, n: g.normal(0, 1, min(n, 25)),
    "constant but one": lambda g, n: np.r_[np.zeros(n - 1), 1.0],
}


def column(kind: str, count: int = 4000) -> tuple[torch.Tensor, nbr.Real]:
    values = DRAWS[kind](np.random.default_rng(0), count)
    return torch.from_numpy(values), nbr.Real(values.min(), values.max(), step=1 if kind == "counts" else 0)


@pytest.mark.parametrize("kind", DRAWS)
def test_a_density_sums_to_one(kind: str) -> None:
    """Trapezes over each cell, atoms as wide as the grain, and what lies far beyond."""
    values, variable = column(kind)
    known = numbers.learn(values, variable)
    total = 0.0
    for low, high, atom, _ in known.cells.tolist():
        x = torch.linspace(low, high, 201, dtype=torch.float64)[:-1] + (high - low) / 400
        part, score = known.find(x)
        width = (high - low) / 200
        if variable.step:
            inside = torch.arange(math.ceil(low), math.floor(high) + 1, dtype=torch.float64)
            part, score = known.find(inside)
            width = 1.0
        total += float((known.mass[part] * score.exp()).sum()) * width
        if not math.isnan(atom) and not variable.step:
            part, score = known.find(torch.tensor([atom], dtype=torch.float64))
            total += float(known.mass[part] * score.exp()) * known.grain
    span = variable.high - variable.low
    out = torch.logspace(-6, 6, 20_001, dtype=torch.float64) * span
    for sign, end in ((-1, float(known.cells[0, 0])), (1, float(known.cells[-1, 1]))):
        part, score = known.find(end + sign * out)
        tail = torch.trapezoid(known.mass[part] * score.exp(), out) / (variable.step or 1)
        total += float(tail)
    assert total == pytest.approx(1, abs=0.02)
    assert float(known.mass.sum()) == pytest.approx(1)


@pytest.mark.parametrize("model", ["marginals", "trees"])
@pytest.mark.parametrize("kind", ["lognormal", "zeros", "t", "rounded", "counts"])
def test_quantiles_of_samples(kind: str, model: str) -> None:
    """Within 5% of the range from the 5th to the 95th of a hundred, at every tenth and both of these."""
    values, variable = column(kind)
    table = Table(nbr.World(x=variable, y=nbr.Bit()), torch.stack([values, (values > values.median()).double()], dim=1))
    prior = priors.marginals(table) if model == "marginals" else priors.trees(table)
    drawn = prior.sample(20_000, torch.Generator().manual_seed(0))[:, 0]
    shares = torch.tensor([0.05, *np.arange(0.1, 0.95, 0.1), 0.95], dtype=torch.float64)
    wanted, found = values.quantile(shares), drawn.quantile(shares)
    assert float((wanted - found).abs().max()) <= 0.05 * float(wanted[-1] - wanted[0])
    if kind == "zeros":
        assert float((drawn == 0).double().mean()) == pytest.approx(0.7, abs=0.02)
    if kind in ("rounded", "counts"):
        assert bool((drawn.mul(10).round() == drawn.mul(10)).all() | (kind == "counts"))
        assert set(drawn.unique().tolist()) >= set(values.round().unique().tolist()[1:-1]) or kind == "rounded"


def test_draws_within_an_interval() -> None:
    """A narrow condition: all draws inside, columns that depend on it shifted as exactly as bins allow."""
    generator = np.random.default_rng(0)
    x = generator.normal(0, 1, 4000)
    y = x + generator.normal(0, 0.3, 4000)
    table = Table(nbr.World(x=nbr.Real(-6, 6), y=nbr.Real(-6, 6)), torch.from_numpy(np.stack([x, y], axis=1)))
    prior = priors.trees(table)
    drawn = prior.sample_within({"x": [(0.99, 1.01)]}, 5000, torch.Generator().manual_seed(0))
    assert bool(((drawn[:, 0] > 0.99) & (drawn[:, 0] < 1.01)).all())
    assert float(drawn[:, 1].mean()) == pytest.approx(1, abs=0.15)
    mass = prior.log_mass({"x": [(0.5, 1.5)]})
    assert math.exp(mass) == pytest.approx(float(((x > 0.5) & (x < 1.5)).mean()), abs=0.01)
    many = prior.sample(50_000, torch.Generator().manual_seed(1))
    inside = many[(many[:, 0] > 0.5) & (many[:, 0] < 1.5)]
    drawn = prior.sample_within({"x": [(0.5, 1.5)]}, 20_000, torch.Generator().manual_seed(2))
    assert float(drawn[:, 1].mean()) == pytest.approx(float(inside[:, 1].mean()), abs=0.02)


@pytest.mark.parametrize("pieces", [[(0.0, 0.0)], [(0.0, math.inf)], [(1.0, 4.0), (6.0, 6.0)]])
def test_points_and_open_intervals_of_counts_and_zeros(pieces: list[tuple[float, float]]) -> None:
    for kind in ("zeros", "counts"):
        values, variable = column(kind)
        prior = priors.marginals(Table(nbr.World(x=variable), values[:, None]))
        if kind == "zeros" and len(pieces) == 2:
            continue
        wanted = torch.stack([(values == a) if a == b else (values > a) & (values < b) for a, b in pieces]).any(0)
        assert math.exp(prior.log_mass({"x": pieces})) == pytest.approx(float(wanted.double().mean()), abs=0.01)
        drawn = prior.sample_within({"x": pieces}, 500, torch.Generator().manual_seed(0))[:, 0]
        assert bool(
            torch.stack([(drawn == a) if a == b else (drawn > a) & (drawn < b) for a, b in pieces]).any(0).all()
        )


@pytest.mark.parametrize("kind", DRAWS)
def test_pieces_that_share_nothing_add_up(kind: str) -> None:
    """Below, at and above a number; and at and between two that are recorded next to each other."""
    values, variable = column(kind)
    prior = priors.marginals(Table(nbr.World(x=variable), values[:, None]))
    distinct = values.unique()
    for at in (0.2, 0.5, 0.8):
        cut, after = distinct[int(at * (len(distinct) - 1)) :][:2].tolist()
        for cuts in ([cut], [cut, after], [cut, (cut + after) / 2, after]):
            ends = [-math.inf, *cuts, math.inf]
            pieces = [*pairwise(ends), *((each, each) for each in cuts)]
            total = sum(math.exp(prior.log_mass({"x": [piece]})) for piece in pieces)
            assert total == pytest.approx(1, abs=1e-4)
            assert math.exp(prior.log_mass({"x": pieces})) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("kind", DRAWS)
def test_numbers_beyond_the_range_are_scored(kind: str) -> None:
    values, variable = column(kind)
    world = nbr.World(x=variable)
    for prior in (priors.marginals(Table(world, values[:, None])), priors.uniform(world)):
        span = variable.high - variable.low
        odd = torch.tensor([variable.low - span, variable.high + 1e-3, variable.high + 1e9], dtype=torch.float64)
        scores = prior.log_prob(odd[:, None])
        assert bool(scores.isfinite().all())
        assert float(scores[2]) < float(scores[1])
        drawn = prior.sample(2000, torch.Generator().manual_seed(0))
        assert float(drawn.min()) >= variable.low
        assert float(drawn.max()) <= variable.high


def test_files_with_normal_numbers_still_load() -> None:
    """What earlier models say of a number: a mean and a standard deviation within bounds."""
    world = nbr.World(x=nbr.Real(0, 10))
    prior = priors.Independent(world, [torch.tensor([3.0, 2.0])])
    points = torch.linspace(0, 10, 10_001, dtype=torch.float64)[:, None]
    assert float(torch.trapezoid(prior.log_prob(points).exp(), points[:, 0])) == pytest.approx(1, abs=1e-6)
    mass = math.exp(prior.log_mass({"x": [(1.0, 2.0), (7.0, 9.0)]}))
    some = ((points > 1) & (points < 2) | (points > 7) & (points < 9))[:, 0]
    assert mass == pytest.approx(float(prior.log_prob(points[some]).exp().sum()) * 1e-3, abs=1e-3)
    drawn = prior.sample_within({"x": [(1.0, 2.0), (7.0, 9.0)]}, 4000, torch.Generator().manual_seed(0))[:, 0]
    assert float((drawn < 2).double().mean()) == pytest.approx(
        float(prior.log_prob(points[some & (points[:, 0] < 2)]).exp().sum()) * 1e-3 / mass, abs=0.03
    )


def test_two_numbers_multiplied() -> None:
    """The prior of two bodies of knowledge: the product of both densities, on the cells of both."""
    generator = np.random.default_rng(0)
    variable, world = nbr.Real(0, 10), nbr.World(x=nbr.Real(0, 10))
    one, other = (
        priors.marginals(Table(world, torch.from_numpy(values)[:, None]))
        for values in (generator.uniform(0, 8, 3000), generator.uniform(3, 10, 3000))
    )
    both = priors.Independent(world, [product(variable, one.columns[0], other.columns[0])])
    x = torch.linspace(0.005, 9.995, 1000, dtype=torch.float64)[:, None]
    wanted = (one.log_prob(x) + other.log_prob(x)).exp()
    found = both.log_prob(x).exp()
    assert float(found.sum()) * 0.01 == pytest.approx(1, abs=0.01)
    assert float((found - wanted / wanted.sum() / 0.01).abs().mean()) < 0.01
