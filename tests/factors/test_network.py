"""Models as products of tables, against sums over all their points."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import comb

import pytest
import torch

import nbr
import rule_bases
from nbr import priors
from nbr.density.likelihood import log_weights
from nbr.factors import Network, automata, spelling, structures
from nbr.factors.kept import Compilations
from nbr.points.numbered import numbered_points
from nbr.priors import Empirical, Independent, Prior, Trees
from nbr.tables import Table
from nbr.ways import Unfit


def rows(world: nbr.World, draw: random.Random, count: int = 300) -> Table:
    """Rows in which every column leans on the one before it."""
    generator = torch.Generator().manual_seed(draw.randrange(1000))
    points = priors.uniform(world).sample(count, generator)
    for column in range(1, len(world)):
        sizes = [len(numbered_points(nbr.World({name: world.variables[name]})).points) for name in world.names]
        follows = torch.rand(count, generator=generator) < 0.6
        points[follows, column] = points[follows, column - 1].remainder(sizes[column])
    return Table(world, world.snap(points))


def independent(world: nbr.World, draw: random.Random) -> Prior:
    generator = torch.Generator().manual_seed(draw.randrange(1000))
    kinds = world.variables.values()
    return Independent(
        world, [torch.zeros(0) if isinstance(v, nbr.Real) else torch.rand(v.size, generator=generator) for v in kinds]
    )


def tree(world: nbr.World, draw: random.Random) -> Prior:
    return priors.trees(rows(world, draw), 1, seed=0)


def mixture(world: nbr.World, draw: random.Random) -> Prior:
    return priors.trees(rows(world, draw), 3, seed=0)


def empirical(world: nbr.World, draw: random.Random) -> Prior:
    return Empirical(rows(world, draw, 40))


KINDS = [independent, tree, mixture, empirical]


def model(seed: int, kind: Callable[[nbr.World, random.Random], Prior]) -> tuple[nbr.Reasoner, str, str]:
    draw = random.Random(seed)
    world = rule_bases.world(draw, draw.randint(3, 5), draw.randint(0, 2))
    if seed % 2 and kind is independent:  # other kinds keep something for numbers beyond the range
        world = world | nbr.World(n=nbr.Real(0, 6, step=1))
    beliefs = [draw.choice([0.0, 1.0, 0.5, 0.9, 0.2]) for _ in range(5)]
    said = [nbr.Clause(rule_bases.statement(draw, world), belief) for belief in beliefs]
    if seed % 3 == 0:
        said.append(nbr.Memory({"x0": 1, "x1": 0}, 0.5, 0.7))
    return (
        nbr.Reasoner(world, said, prior=kind(world, draw)),
        rule_bases.statement(draw, world),
        rule_bases.statement(draw, world, 1),
    )


def network(reasoner: nbr.Reasoner, *said: str) -> Network:
    return Network.of(reasoner.world, reasoner.prior, [reasoner.rules], [nbr.parse(each) for each in said])


def weights(reasoner: nbr.Reasoner) -> tuple[torch.Tensor, torch.Tensor]:
    """All points and P_0 P_keep of each."""
    listed = numbered_points(reasoner.world)
    assert listed is not None
    logs = log_weights(reasoner.model, listed)
    assert logs is not None
    return listed.points, logs.exp()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_sums_marginals_and_best_points_are_those_of_all_points(
    seed: int, kind: Callable[[nbr.World, random.Random], Prior], monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed >= 6:
        monkeypatch.setattr(spelling, "TABLE", 4)  # nearly all are chains
        structures._structures.things.clear()
    reasoner, question, given = model(seed, kind)
    points, mass = weights(reasoner)
    found, conditions = network(reasoner, question, given), [None, nbr.parse(question), nbr.parse(given)]
    sums, marginals = found.log_sums(conditions), found.marginals(conditions)
    structures._structures.things.clear()
    for row, condition in enumerate(conditions):
        within = mass if condition is None else mass * condition.holds(reasoner.world, points)
        assert float(sums[row].exp()) == pytest.approx(float(within.sum()), rel=1e-8, abs=1e-12)
        if not within.sum() > 0:
            continue
        for name in reasoner.world.names:
            codes = points[:, reasoner.world.column(name)]
            for place, allowed in enumerate(found.values[name].allowed):
                share = float(within[priors.columns.meets(codes, allowed)].sum() / within.sum())
                assert float(marginals[name][row, place]) == pytest.approx(share, abs=1e-9)
        if not isinstance(reasoner.prior, Trees | Empirical) and "n" not in reasoner.world.names:
            value, point = found.best(condition)
            codes = torch.tensor([[found.values[name].codes[point[name]] for name in reasoner.world.names]])
            assert value == pytest.approx(float(within.max().log()), abs=1e-8)
            at = (points == codes).all(dim=1)
            assert float(within[at].log()) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("kind", [independent, tree])
@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_the_best_points_are_those_of_sorting_all(
    seed: int, kind: Callable[[nbr.World, random.Random], Prior], monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed >= 12:
        monkeypatch.setattr(spelling, "TABLE", 4)  # nearly all are chains
        structures._structures.things.clear()
    reasoner, _, given = model(seed, kind)
    points, mass = weights(reasoner)
    found = network(reasoner, given)
    for condition in (None, nbr.parse(given)):
        within = mass if condition is None else mass * condition.holds(reasoner.world, points)
        wanted = within[within > 0].sort(descending=True).values[:25].log()
        several = found.several(25, condition)
        assert [value for value, _ in several] == pytest.approx(wanted.tolist(), abs=1e-8)
        codes = [[found.values[name].codes[point[name]] for name in reasoner.world.names] for _, point in several]
        assert len({tuple(map(float, each)) for each in codes}) == len(codes)
        for (value, _), each in zip(several, codes, strict=True):
            at = (points == torch.tensor(each)).all(dim=1)
            assert float(within[at].log()) == pytest.approx(value, abs=1e-8)
    structures._structures.things.clear()


def test_without_a_prior_every_value_counts_one() -> None:
    world = nbr.World(a=nbr.Bit(), t=nbr.Real(0, 10))
    rules = [nbr.Clause("a -> t>=7", 0.5).bind(world), nbr.Clause("t!=7", 0.25).bind(world)]
    found = Network.of(world, None, [rules], []).several(10)
    assert [value for value, _ in found] == pytest.approx(
        torch.tensor([1, 1, 1, 0.75, 0.75, 0.5]).double().log().tolist(), abs=1e-9
    )


def test_draws_are_as_frequent_as_the_model_has_them() -> None:
    reasoner, _, _ = model(2, mixture)
    points, mass = weights(reasoner)
    given = nbr.parse("x0 | x1")
    mass = mass * given.holds(reasoner.world, points)
    found = network(reasoner, "x0 | x1")
    drawn = found.draw(30_000, given, torch.Generator().manual_seed(1))
    codes = torch.stack([found.values[name].codes[drawn[name]] for name in reasoner.world.names], dim=1)
    listed = numbered_points(reasoner.world)
    assert listed is not None
    often = torch.bincount(listed.number(codes), minlength=len(points)) / 30_000
    assert float((often - mass / mass.sum()).abs().max()) < 4 * (0.25 / 30_000) ** 0.5
    assert not bool(often[mass == 0].any())


def test_gradients_by_beliefs_are_those_of_finite_differences() -> None:
    said = ["x0 -> x1", "x1 | x2", "count(x0..x3)>=2", "x3 <-> x0", "x2"]
    beliefs = [0.9, 0.3, 0.6, 0.5, 0.2]

    def log_sum(numbers: list[float], learned: bool) -> tuple[torch.Tensor, list[torch.Tensor]]:
        each = [torch.tensor(number, dtype=torch.float64, requires_grad=learned) for number in numbers]
        rules = [nbr.Clause(text, belief) for text, belief in zip(said, each, strict=True)]
        reasoner = nbr.Reasoner(nbr.World.bits(4), rules)
        return network(reasoner, "x0 | x3").log_sums([nbr.parse("x0 | x3")])[0], each

    total, each = log_sum(beliefs, True)
    for place, gradient in enumerate(torch.autograd.grad(total, each)):
        ends = [log_sum([*beliefs[:place], beliefs[place] + d, *beliefs[place + 1 :]], False)[0] for d in (1e-6, -1e-6)]
        assert float(gradient) == pytest.approx(float(ends[0] - ends[1]) / 2e-6, abs=1e-6)


def test_long_statements_are_chains() -> None:
    """How many of 30 bits hold, and a clause of 30 literals, against the binomial."""
    world = nbr.World.bits(30)
    rules = [nbr.Clause("count(x0..x29)>=20", 0.9), nbr.Clause(" | ".join(f"x{i}" for i in range(30)), 0.5)]
    reasoner = nbr.Reasoner(world, rules)
    kept = [0.05] + [0.1] * 19 + [1.0] * 11
    assert network(nbr.Reasoner(world, rules[1:])).compiled.order.width <= 8
    found = network(reasoner, "majority(x0..x29)")
    sums = found.log_sums([None, nbr.parse("majority(x0..x29)"), nbr.parse("x3, ~x7")]).exp()
    wanted = [comb(30, k) * kept[k] / 2**30 for k in range(31)]
    assert float(sums[0]) == pytest.approx(sum(wanted), rel=1e-12)
    assert float(sums[1]) == pytest.approx(sum(wanted[16:]), rel=1e-12)
    assert float(sums[2]) == pytest.approx(sum(comb(28, k) * kept[k + 1] / 2**30 for k in range(29)), rel=1e-12)


def test_the_search_for_an_order_happens_once_for_a_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    searches = []
    monkeypatch.setattr(structures, "find", lambda *parts: searches.append(1) or FIND(*parts))
    for belief in (0.3, 0.8, 0.0):
        network(nbr.Reasoner(nbr.World.bits(6), [nbr.Clause(f"x{i} -> x{i + 1}", belief) for i in range(5)]))
    assert len(searches) == 1


FIND = structures.find


def test_what_is_kept_is_bounded_in_bytes() -> None:
    kept = Compilations[bytes](1000, len)
    for number in range(100):
        kept.once(number, lambda: bytes(90))
    assert kept.held <= 1000
    assert list(kept.things) == list(range(89, 100))


def test_what_does_not_fit_is_said() -> None:
    world = nbr.World.bits(40)
    draw = random.Random(0)
    wide = [nbr.Clause(rule_bases.clause(draw, 40, 3), 0.5) for _ in range(300)]
    with pytest.raises(Unfit, match="entries|products"):
        network(nbr.Reasoner(world, wide))
    fuzzy = [nbr.Memory({"x0": 1}, 0.5, 0.7), nbr.Memory({"x1": 1}, 0.5, 0.7)]
    with pytest.raises(Unfit, match="several fuzzy"):
        network(nbr.Reasoner(world, fuzzy))
    several = " + ".join(f"{3**i}*x{i}" for i in range(40)) + " >= 3"
    assert automata.STATES < 2**40
    with pytest.raises(Unfit, match="totals"):
        network(nbr.Reasoner(world, [nbr.Clause(several, 0.5)]))
