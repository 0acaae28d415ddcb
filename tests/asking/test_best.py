"""The best points of prior times rules, by every way, against sorting all cells."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch

import nbr
import rule_bases
from command import run
from nbr import priors
from nbr.asking import maxima
from nbr.asking.likeliest import Weights, by_maxsat, by_tables
from nbr.calculus.point import keep_probability
from nbr.factors.value_codes import codes_of_values
from nbr.tables import Table
from nbr.ways import Limits, Unfit

GARDEN = Path(__file__).parents[2] / "examples" / "garden.toml"


def rated(seed: int) -> tuple[nbr.Reasoner, str]:
    """Bits, choices, a number with cuts, a count, statements of every kind, and base rates."""
    draw = random.Random(seed)
    world = rule_bases.world(draw, draw.randint(2, 4), draw.randint(0, 1), 0)
    world = world | nbr.World(t=nbr.Real(0, 10), n=nbr.Real(0, 3, step=1), unread=nbr.Bit())
    small = nbr.World({name: world.variables[name] for name in world.names if name not in ("t", "n", "unread")})
    said = [rule_bases.statement(draw, small) for _ in range(4)]
    said += [f"t>={draw.randint(2, 5)} -> {said[0]}", f"t=7 | n<{draw.randint(1, 3)}", f"({said[1]}) -> t<6"]
    rules = [nbr.Clause(each, draw.choice([0.0, 1.0, 0.5, draw.random(), draw.random()])) for each in said]
    generator = torch.Generator().manual_seed(seed)
    columns = [
        torch.zeros(0) if isinstance(each, nbr.Real) else torch.rand(each.size, generator=generator) + 0.01
        for each in world.variables.values()
    ]
    return nbr.Reasoner(world, rules, prior=priors.Independent(world, columns)), rule_bases.statement(draw, small, 1)


def sorted_weights(reasoner: nbr.Reasoner, given: str | None, counted: bool) -> list[float]:
    """P_0 P_keep of all cells that count, the largest first; without the prior P_keep alone."""
    world, condition = reasoner.world, None if given is None else nbr.parse(given)
    statements = [rule.at_least(1.0) for rule in reasoner.rules] + ([] if condition is None else [condition])
    parts = codes_of_values(world, statements, {"n": [0.0, 1.0, 2.0, 3.0]} if "n" in world.names else {})
    points = torch.cartesian_prod(*(parts[name].codes for name in world.names))
    weights = keep_probability(reasoner.grades(points), reasoner.beliefs)
    if counted:  # base rates are independent of each other
        masses = [
            torch.tensor([reasoner.prior.log_mass({name: each}) for each in parts[name].allowed]).double().exp()
            for name in world.names
        ]
        weights = weights * torch.cartesian_prod(*masses).prod(dim=1)
    if condition is not None:
        weights = weights[condition.holds(world, points)]
    return weights[weights > 0].sort(descending=True).values.tolist()


@pytest.mark.parametrize("way", [by_tables, by_maxsat])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_points_by_every_way(seed: int, counted: bool, way) -> None:
    reasoner, said = rated(seed)
    for given in (None, said):
        condition = None if given is None else nbr.parse(given)
        weights = Weights(reasoner.world, reasoner.prior if counted else None, [reasoner.rules], condition)
        wanted, found = sorted_weights(reasoner, given, counted), way(weights, 12, Limits.within(20.0))
        assert found.exact
        logs = torch.tensor([log for log, _ in found.cells]).exp().tolist()
        assert logs == pytest.approx(wanted[:12], rel=1e-5)
        assert len({tuple(cell.values()) for _, cell in found.cells}) == len(logs)
        if condition is not None:
            assert all(bool(condition.holds(reasoner.world, found.point(cell)[None])) for _, cell in found.cells)


@pytest.mark.parametrize("seed", range(6))
def test_best_points_have_their_probability(seed: int) -> None:
    reasoner, given = rated(seed)
    wanted = sorted_weights(reasoner, given, True)
    if not wanted:
        with pytest.raises(nbr.NbrError):
            reasoner.best(given)
        return
    found = reasoner.best(given, 5)
    each = [found, *found.others]
    assert found.exact
    assert [one.probability for one in each] == pytest.approx([w / sum(wanted) for w in wanted[:5]], rel=1e-6)
    assert len(found.points) == len(each) == min(5, len(wanted))
    for one in each:
        point = reasoner.world.point(one.point)[None]
        assert one.degree == pytest.approx(float(keep_probability(reasoner.grades(point), reasoner.beliefs)))
        assert bool(nbr.parse(given).holds(reasoner.world, point))
        assert ("t" in one.pieces) == (one.point["t"] not in ("7", "0"))


def test_a_prior_moves_the_best_point_and_rules_alone_do_not() -> None:
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit())
    rules = [nbr.Clause("a", 0.6), nbr.Clause("b", 0.3)]
    plain = nbr.Reasoner(world, rules)
    assert plain.best().point == plain.most_plausible().point == {"a": "1", "b": "1"}
    assert plain.best().probability is None
    rare = priors.Independent(world, [torch.tensor([0.9, 0.1]), torch.tensor([0.7, 1.0])])
    found = nbr.Reasoner(world, rules, prior=rare).best(count=9)
    assert found.points[0] == {"a": "0", "b": "1"}
    assert len(found.points) == 4
    assert sum(each.probability for each in (found, *found.others)) == pytest.approx(1.0)
    tied = priors.Independent(world, [torch.tensor([0.4, 1.0]), torch.tensor([0.7, 1.0])])
    assert nbr.Reasoner(world, [rules[1]], prior=tied).best("a").open == ()
    even = priors.Independent(world, [torch.tensor([0.4, 1.0]), torch.tensor([0.5, 1.0])])
    assert nbr.Reasoner(world, [nbr.Clause("~b", 0.5)], prior=even).best("a").open == ("b",)


def test_hidden_parts_of_a_prior_are_listed() -> None:
    world = nbr.World.bits(5)
    rows = (torch.rand(200, 5, generator=torch.Generator().manual_seed(0)) < 0.4).double()
    rows[:, 1] = rows[:, 0]
    reasoner = nbr.Reasoner(world, [nbr.Clause("x0 -> ~x1", 0.7)], prior=priors.trees(Table(world, rows), 3, seed=0))
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 5)
    likely = (reasoner.prior.log_prob(points).exp() * reasoner.keep(points)).sort(descending=True)
    found = reasoner.best(count=4)
    assert found.exact
    each = [reasoner.world.point(point) for point in found.points]
    assert torch.equal(torch.stack(each), points[likely.indices[:4]])
    assert found.probability == pytest.approx(float(likely.values[0] / likely.values.sum()))


def test_fuzzy_rules_and_conditions_are_listed() -> None:
    world = nbr.World.bits(3)
    soft = [nbr.Memory({"x0": 1}, 0.5, 0.5), nbr.Memory({"x1": 1, "x2": 0}, 0.5, 0.5)]
    reasoner = nbr.Reasoner(world, soft)
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 3)
    degrees = keep_probability(reasoner.grades(points), reasoner.beliefs).sort(descending=True).values
    found = reasoner.best(count=8)
    assert [each.degree for each in (found, *found.others)] == pytest.approx(degrees.tolist())
    prior = priors.Independent(world, [torch.tensor([0.2, 0.8])] * 3)
    dim = nbr.Reasoner(world, soft, prior=prior).best(lambda at: 1 - 0.9 * at[:, 0])
    grades = torch.cat([reasoner.grades(points), 1 - 0.9 * points[:, :1]], dim=1)
    weights = keep_probability(grades, torch.tensor([0.5, 0.5, 1.0]).double()) * prior.log_prob(points).exp()
    assert torch.equal(world.point(dim.point), points[weights.argmax()])


def test_where_no_way_fits_one_point_by_the_rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def unfit(*given: object) -> None:
        raise Unfit("no")

    for way in ("by_tables", "by_points", "by_maxsat"):
        monkeypatch.setattr(maxima, way, unfit)
    reasoner, _ = rated(1)
    found = reasoner.best(count=3)
    assert not found.exact
    assert found.probability is None
    assert found.others == ()


@pytest.mark.parametrize("count", [0, -1, 1.5, 10**9])
def test_wrong_counts(count) -> None:
    with pytest.raises(nbr.NbrError, match="the count of points must be a whole number"):
        nbr.Reasoner(nbr.World.bits(2)).best(count=count)


def test_command_line() -> None:
    told = json.loads(run("best", GARDEN, "--count", "3", "--json").stdout)
    assert told["point"] == told["points"][0]
    assert len(told["points"]) == len(told["degrees"]) == 3
    assert told["degrees"] == sorted(told["degrees"], reverse=True)
    assert "2 of 3" in run("best", GARDEN, "--count", "3").stdout
    assert run("best", GARDEN, "--count", "0").returncode == 2
