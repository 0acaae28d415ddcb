"""The best point where rules share sources, against all points gone through."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import closed_oracle
import nbr
import selectors_oracle as oracle
from nbr.asking import closed_best, shared_best
from nbr.asking.maxima import MAXIMA, WantedPoints
from nbr.ways import Limits

POINTS = torch.cartesian_prod(*[torch.arange(2).double()] * 3, torch.arange(3).double())


@pytest.mark.parametrize("seed", range(30))
def test_no_point_is_better(seed: int) -> None:
    whole, draw, prior = oracle.drawn(seed, most=9), np.random.default_rng(seed), torch.ones(len(POINTS)).double()
    model, count = whole.model, int(draw.integers(1, 5))
    if seed % 2:
        shares = [torch.from_numpy(draw.dirichlet(np.ones(each.size))) for each in whole.world.variables.values()]
        independent = nbr.priors.Independent(whole.world, shares)
        model, prior = (
            nbr.Reasoner(whole.world, whole.rules, prior=independent).model,
            independent.log_prob(POINTS).exp(),
        )
    given = nbr.parse(oracle.statement(draw)) if seed % 3 else None
    inside = given.holds(model.world, POINTS) if given is not None else torch.ones(len(POINTS), dtype=torch.bool)
    present, chance = oracle.worlds(model.rules)
    kept = chance @ oracle.memberships(model.grades(POINTS).numpy(), present) * prior.numpy() * inside.numpy()
    wanted = [value for value in sorted(kept, reverse=True)[:count] if value > 1e-12]
    assert shared_best.unfit(model) is None
    found = shared_best.by_maxsat(model, given, count, Limits.within(20.0))
    assert found.exact
    told = [(log, found.point(cell)) for log, cell in found.cells if np.exp(log) > 1e-12]
    assert [np.exp(log) for log, _ in told] == pytest.approx(wanted, rel=1e-8)
    assert [kept[int((point == POINTS).all(dim=1).nonzero())] for _, point in told] == pytest.approx(wanted, rel=1e-8)


def test_a_source_that_is_doubted_is_given_up_at_once() -> None:
    """Five rules of .9 each against one of .99: breaking them all costs no more than the source's word."""
    world = nbr.World.bits(1)
    for reliability, said in ((0.9, 0.0), (0.999, 1.0)):
        source = nbr.Source("talker", reliability)
        rules = [nbr.Clause(f"x0 | count(x0)>={each}", 0.9, source=source) for each in (1, 2, 3, 4, 5)]
        model = nbr.Reasoner(world, [*rules, nbr.Clause("~x0", 0.99)])
        found = shared_best.by_maxsat(model.model, None, 1, Limits.within(10.0))
        assert (found.point(found.cells[0][1]).tolist(), found.exact) == ([said], True)


def test_a_large_base_is_settled() -> None:
    draw = np.random.default_rng(3)
    sources = [nbr.Source(f"s{at}", 0.6 + 0.03 * at, ("distinct", "nested")[at % 2]) for at in range(8)]
    rules = {}
    while len(rules) < 90:
        one, two, three = draw.choice(60, 3, replace=False)
        text = (
            f"x{one} & x{two} -> {draw.choice(['', '~'])}x{three}"
            if draw.random() < 0.6
            else f"{draw.choice(['', '~'])}x{one}"
        )
        rules.setdefault(text, nbr.Clause(text, round(draw.uniform(0.3, 0.95), 2), source=sources[len(rules) % 8]))
    model = nbr.Reasoner(nbr.World.bits(60), list(rules.values()))
    found = model.best(given="x1", count=3)
    assert found.exact
    assert found.degree >= found.others[0].degree >= found.others[1].degree
    assert len({str(each) for each in found.points}) == 3
    tried = MAXIMA[-1].solve(WantedPoints(model.model, nbr.parse("x1"), 1), Limits.within(10.0))
    assert tried is not None
    assert tried.point is not None
    assert found.degree >= float(model.keep(tried.point[None])[0]) - 1e-12


@pytest.mark.parametrize("seed", range(24))
def test_beside_closed_variables_a_good_point_is_found_that_does_not_pass_for_the_best(seed: int) -> None:
    model, said = closed_oracle.drawn(seed)
    kept: dict[tuple[bool, ...], float] = {}
    for _, chance, allowed in closed_oracle.worlds(model, said):
        for point in allowed:
            key = tuple(point[name] for name in closed_oracle.NAMES)
            kept[key] = kept.get(key, 0.0) + chance
    given = ("a", "~b", None)[seed % 3]
    inside = [value for key, value in kept.items() if given is None or key["ab".index(given[-1])] == (given[0] != "~")]
    condition = None if given is None else nbr.parse(given)
    found = closed_best.by_climbing(model.model, condition, Limits.within(20.0))
    if max(inside, default=0.0) < 1e-9:
        assert found is None
        return
    assert found is not None
    reached = kept[tuple(bool(value) for value in found.tolist())]
    assert 0.5 * max(inside) <= reached <= max(inside) + 1e-12
    tried = MAXIMA[-1].solve(WantedPoints(model.model, condition, 1), Limits.within(20.0))
    assert tried is not None
    assert not tried.exact


def test_sources_beside_closed_variables_in_a_large_world() -> None:
    world = nbr.World({**{f"x{at}": nbr.Bit() for at in range(40)}, "t": nbr.Real(0, 1)})
    rules = [nbr.Clause("x0 & x1 -> x2", 0.5), nbr.Clause("x2 -> ~x3", 1.0, source=nbr.Source("s", 0.5))]
    found = nbr.Reasoner(world, rules, closed=["x2"]).best(given="x2")
    assert found.point["x0"] == found.point["x1"] == "1"
    assert not found.exact
