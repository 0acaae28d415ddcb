"""One contract for all priors, against plain sums over all points of a small world."""

import math

import pytest
import torch

import nbr
from nbr import priors, registry
from nbr.priors import groups, growing
from nbr.progress import silent
from nbr.tables import Table
from small_table import POINTS, TABLE, WORLD, holed, rows

NONE = (None, None, 0, silent, None, math.inf)
GROUPS = [groups.learn(TABLE, each) for each in ([0, 2], [1, 3])]
PRIORS = {
    "one variable": growing._above(TABLE, GROUPS[:1], growing._trees(groups.grouped(TABLE, GROUPS[:1]), 2, *NONE)),
    "two of two": growing._above(TABLE, GROUPS, growing._trees(groups.grouped(TABLE, GROUPS), 1, *NONE)),
    "uniform": priors.uniform(WORLD),
    "marginals": priors.marginals(TABLE),
    "empirical": priors.Empirical(TABLE),
    "tree": priors.trees(TABLE, 1),
    "mixture": priors.trees(TABLE, 3),
    "mixture of rows with holes": priors.trees(Table(WORLD, holed(rows(), 0.3)), 2),
}


@pytest.fixture(params=PRIORS)
def prior(request: pytest.FixtureRequest) -> priors.Prior:
    return PRIORS[request.param]


def agreeing(row: torch.Tensor) -> torch.Tensor:
    return (row.isnan() | (row == POINTS)).all(dim=1)


def close(counts: torch.Tensor, chance: torch.Tensor) -> bool:
    """Whether counts come as often as they should: no chi-square beyond one in many thousands, nothing impossible."""
    expected = counts.sum() * chance
    possible = expected > 1e-9
    statistic = float(((counts - expected)[possible] ** 2 / expected[possible]).sum())
    freedom = int(possible.sum()) - 1
    return float(counts[~possible].sum()) == 0 and statistic < freedom + 4.5 * math.sqrt(2 * max(freedom, 1)) + 8


def number(points: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = (points[:, None] == POINTS).all(dim=2).double().argmax(dim=1)
    return found


def test_probabilities_sum_to_one(prior: priors.Prior) -> None:
    assert prior.log_prob(POINTS).exp().sum().item() == pytest.approx(1)


def test_holes_are_summed_over(prior: priors.Prior) -> None:
    scores = prior.log_prob(POINTS).exp()
    for row in holed(rows(30, seed=5), 0.5):
        assert float(prior.log_prob(row[None]).exp()) == pytest.approx(float(scores[agreeing(row)].sum()), abs=1e-12)
    assert prior.log_prob(torch.full((2, 4), math.nan, dtype=torch.float64)).tolist() == pytest.approx([0, 0])


def test_samples_come_as_often_as_they_should(prior: priors.Prior) -> None:
    drawn = prior.sample(20_000, torch.Generator().manual_seed(0))
    assert torch.equal(drawn, prior.sample(20_000, torch.Generator().manual_seed(0)))
    scores = prior.log_prob(POINTS).exp()
    counts = torch.bincount(number(drawn), minlength=len(POINTS)).double()
    assert close(counts, scores / scores.sum())
    assert not close(counts, torch.softmax(torch.arange(len(POINTS)) / 10, 0)), "the test must be able to fail"


@pytest.mark.parametrize("columns", [[1], [0, 2], [0, 1, 2, 3]])
def test_columns_drawn_anew_leave_the_prior_as_it_is(prior: priors.Prior, columns: list[int]) -> None:
    generator, chosen = torch.Generator().manual_seed(3), torch.tensor(columns)
    before = prior.sample(20_000, generator)
    after = prior.redraw(before, chosen, generator)
    others = [at for at in range(4) if at not in columns]
    assert torch.equal(before[:, others], after[:, others])
    assert bool((before != after).any(dim=0)[chosen].all())
    scores = prior.log_prob(POINTS).exp()
    assert close(torch.bincount(number(after), minlength=len(POINTS)).double(), scores / scores.sum())


@pytest.mark.parametrize("row", [[1, math.nan, math.nan, math.nan], [math.nan, 2, math.nan, 1], [math.nan] * 4])
def test_completions_come_as_often_as_they_should(prior: priors.Prior, row: list[float]) -> None:
    codes = torch.tensor([row, [0, 0, 0, 0]], dtype=torch.float64)
    drawn = prior.complete(codes, 10_000, torch.Generator().manual_seed(1))
    assert drawn.shape == (2, 10_000, 4)
    assert bool((drawn[1] == 0).all())
    chance = prior.log_prob(POINTS).exp() * agreeing(codes[0])
    assert close(torch.bincount(number(drawn[0]), minlength=len(POINTS)).double(), chance / chance.sum())


def test_draws_within_conditions_on_single_variables(prior: priors.Prior) -> None:
    allowed: dict[str, priors.Allowed] = {"b": torch.tensor([True, False, True]), "n": torch.tensor([0, 1, 0, 1])}
    inside = (POINTS[:, 1] != 1) & ((POINTS[:, 3] == 1) | (POINTS[:, 3] == 3))
    chance = prior.log_prob(POINTS).exp() * inside
    assert prior.log_mass(allowed) == pytest.approx(math.log(float(chance.sum())))
    drawn = prior.sample_within(allowed, 20_000, torch.Generator().manual_seed(2))
    assert close(torch.bincount(number(drawn), minlength=len(POINTS)).double(), chance / chance.sum())
    with pytest.raises(nbr.NbrError, match="nothing can be drawn"):
        prior.sample_within({"n": torch.zeros(4)}, 10, torch.Generator())


def test_saved_and_read_again(prior: priors.Prior) -> None:
    spec, tensors = prior.spec()
    again = registry.find("prior", spec["prior"]).from_spec(spec, registry.Parts(tensors, {"world": WORLD}))
    assert torch.equal(again.log_prob(POINTS), prior.log_prob(POINTS))
    assert torch.equal(again.sample(50, torch.Generator()), prior.sample(50, torch.Generator()))


def test_labels_nobody_saw_are_scored(prior: priors.Prior) -> None:
    """A label that the world does not have is scored as 1 in 1,000, and as a hole by all other columns."""
    if isinstance(prior, priors.Empirical):
        return  # knows its own rows and no others
    odd = torch.tensor([[1, -1, 1, math.nan], [1, math.nan, 1, math.nan]], dtype=torch.float64)
    one, other = prior.log_prob(odd).tolist()
    assert one == pytest.approx(other + math.log(1e-3))
    drawn = prior.complete(odd[:1], 5, torch.Generator())
    assert bool((drawn[:, :, 1] == -1).all()), "what was observed stays"


def test_what_a_torch_distribution_cannot_do() -> None:
    world = nbr.World(t=nbr.Real(-3, 3))
    drawn = priors.Drawn(world, torch.distributions.Independent(torch.distributions.Normal(torch.zeros(1), 1.0), 1))
    assert drawn.log_mass({}) is None
    with pytest.raises(nbr.NbrError, match="within a condition"):
        drawn.sample_within({}, 1, torch.Generator())
