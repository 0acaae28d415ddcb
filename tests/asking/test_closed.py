"""Closed variables against the least model of every world, and against figures known by hand."""

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import closed_oracle as oracle
import nbr
from closed_oracle import Truth
from nbr.asking import closed_best
from nbr.asking.explaining import minimal_sets
from nbr.density import sampling
from nbr.density.sampling import DrawnSample, Forward, ListedSamples, Sampler
from nbr.errors import NbrError
from nbr.language import parse
from nbr.priors import Independent
from nbr.rules import Clause
from nbr.ways import Limits

BIRDS = """
closed = ["penguin", "bird", "flies"]
[variables]
bird = "bit"
penguin = "bit"
flies = "bit"
[[rules]]
rule = "bird"
belief = 0.9
[[rules]]
rule = "bird -> penguin"
belief = 0.1
[[rules]]
rule = "bird -> flies"
belief = 0.8
unless = "penguin"
"""


@pytest.mark.parametrize("seed", range(40))
def test_every_way_that_fits_is_exact(seed: int) -> None:
    model, said = oracle.drawn(seed)
    draw = np.random.default_rng(seed + 7)
    question, condition = (
        ("" if draw.random() < 0.5 else "~") + str(each) for each in draw.choice(oracle.NAMES, 2, replace=False)
    )
    wanted = oracle.answer(model, said, question, condition)
    for by in ("auto", "counting", "least"):
        if wanted is None:
            with pytest.raises(NbrError, match="cannot"):
                model.ask(question, condition, engine=by)
            continue
        found = model.ask(question, condition, engine=by)
        assert found.exact
        assert (found.belief, found.plausibility, found.conflict) == pytest.approx(wanted[:3], abs=1e-9), by
    if wanted is not None:
        often = model.probability(question, condition)
        assert often.exact
        assert often.value == pytest.approx(wanted[3], abs=1e-9)


def kept(seed: int) -> tuple[nbr.Reasoner, dict[tuple[bool, ...], float]]:
    """A random model, and of each point the probability of the worlds that keep it."""
    model, said = oracle.drawn(seed)
    found = dict.fromkeys(itertools.product([False, True], repeat=len(oracle.NAMES)), 0.0)
    for _, chance, allowed in oracle.worlds(model, said):
        for point in allowed:
            found[tuple(point[name] for name in oracle.NAMES)] += chance
    return model, found


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_points_are_kept_as_often_as_worlds_have_them_as_their_least_model(seed: int) -> None:
    model, wanted = kept(seed)
    points = torch.tensor(list(wanted), dtype=torch.float64)
    assert model.keep(points).tolist() == pytest.approx(list(wanted.values()), abs=1e-12)
    best = model.best()
    assert best.exact
    assert best.degree == pytest.approx(max(wanted.values()), abs=1e-12)
    assert wanted[tuple(best.point[name] == "1" for name in oracle.NAMES)] == pytest.approx(best.degree, abs=1e-12)


def test_the_best_point_by_a_solver_is_that_of_a_list() -> None:
    solved = 0
    for seed in range(80):
        model = oracle.drawn(seed)[0]
        alone = nbr.Reasoner(
            model.world, [Clause(r.describe(), r.degree) for r in model.rules], closed=model.model.closed
        )
        if closed_best.unfit(alone.model) is None:
            point = closed_best.by_maxsat(alone.model, parse("a | ~c"), Limits.within(10.0))
            listed = alone.best("a | ~c")
            assert listed.exact
            assert point is not None
            assert float(alone.keep(point[None])) == pytest.approx(listed.degree, abs=1e-12)
            solved += 1
    assert solved >= 10


def test_the_best_point_is_solved_for_where_points_cannot_be_listed() -> None:
    count = 40
    names = [f"x{at}" for at in range(count)]
    rules = [nbr.Clause("x0", 0.9), *(nbr.Clause(f"{a} -> {b}", 0.8) for a, b in itertools.pairwise(names))]
    chain = nbr.Reasoner(nbr.World.bits(count), rules, closed=names)
    found = chain.best("x10")
    assert found.exact
    assert found.degree == pytest.approx(0.9 * 0.8**10 * 0.2)
    assert [int(value) for value in found.point.values()] == [1] * 11 + [0] * 29
    assert chain.best("~x0").degree == pytest.approx(0.1)


@pytest.mark.parametrize("way", [ListedSamples(), Forward()])
@pytest.mark.parametrize("seed", [0, 1, 4, 9])
def test_samples_are_as_frequent_as_points_are_kept(monkeypatch: pytest.MonkeyPatch, way: object, seed: int) -> None:
    model, wanted = kept(seed)
    monkeypatch.setattr(sampling, "SAMPLES", [way])
    found = model.sample(4000, seed=seed)
    rows = Counter(tuple(value == 1 for value in row) for row in found[list(oracle.NAMES)].astype(int).to_numpy())
    total = sum(wanted.values())
    off = sum(abs(rows[point] / 4000 - chance / total) for point, chance in wanted.items()) / 2
    assert off < 0.06
    given = model.sample(500, given="a | b", seed=seed)
    assert (given["a"].astype(int) | given["b"].astype(int)).all()


def test_samples_of_a_prior_that_weighs_closed_variables() -> None:
    rules = [nbr.Clause("a -> b", 0.5), nbr.Clause("c -> b", 0.4)]
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit())
    prior = Independent(world, [torch.tensor([1 - chance, chance]) for chance in (0.3, 0.8, 0.5)])
    model = nbr.Reasoner(world, rules, prior=prior, closed=["b"])
    wanted = model.probability("b").value
    assert wanted is not None
    drawn = Forward().solve(DrawnSample(Sampler(model.model, None), 20_000, torch.Generator().manual_seed(0)), Limits())
    assert float(drawn.points[:, 1].mean()) == pytest.approx(wanted, abs=0.015)


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_minimal_sets_suffice_whichever_other_rules_are_there(seed: int) -> None:
    model, said = oracle.drawn(seed)
    draw = np.random.default_rng(seed)
    question, condition = map(str, draw.choice(oracle.NAMES, 2, replace=False))
    if oracle.answer(model, said, question, condition) is None:
        return
    worlds = list(oracle.worlds(model, said))  # certain rules too may be out: all beliefs here are below 1
    usable = {present for present, chance, _ in worlds if chance > 0}

    def suffices(rules: frozenset[int], bad: Callable[[Truth], bool]) -> bool:
        every = (allowed for present, allowed in free.items() if all(present[rule] for rule in rules))
        return not any(point[condition] and bad(point) for allowed in every for point in allowed)

    def sets(bad: Callable[[Truth], bool]) -> set[frozenset[int]]:
        found: list[frozenset[int]] = []
        for size in range(len(model.rules) + 1):
            for some in map(frozenset, itertools.combinations(range(len(model.rules)), size)):
                if not any(known <= some for known in found) and suffices(some, bad):
                    found.append(some)
        return set(found)

    alone = nbr.Reasoner(model.world, [Clause(rule.describe(), 0.5) for rule in model.rules], closed=model.model.closed)
    free = {present: allowed for present, _, allowed in oracle.worlds(alone, said)}
    assert usable <= free.keys()
    told = minimal_sets(model.model, parse(question), parse(condition), Limits.within(20.0))
    conflicts = sets(lambda point: True)
    assert set(told.conflicts) == conflicts
    for found, bad in (
        (told.supports, lambda point: not point[question]),
        (told.against, lambda point: point[question]),
    ):
        wanted = {each for each in sets(bad) if not any(conflict <= each for conflict in conflicts)}
        assert set(found) == wanted
    assert told.supports_complete
    assert told.conflicts_complete


def birds(tmp_path: Path) -> nbr.Reasoner:
    (tmp_path / "birds.toml").write_text(BIRDS)
    return nbr.load(tmp_path / "birds.toml")


def test_what_nothing_makes_so_counts_as_not_so(tmp_path: Path) -> None:
    model = birds(tmp_path)
    found = model.ask("flies")
    assert found.belief == pytest.approx(0.9 * 0.9 * 0.8)
    assert found.plausibility == pytest.approx(found.belief)
    assert model.ask("flies", "penguin").plausibility == pytest.approx(0)
    assert model.probability("flies", "bird").value == pytest.approx(0.9 * 0.8)
    (row,) = model.ask_many([("flies", "bird")]).to_dict("records")
    assert (row["belief"], row["plausibility"]) == pytest.approx((0.72, 0.72))


def test_files(tmp_path: Path) -> None:
    model = birds(tmp_path)
    for name in ("again.toml", "again.nbr"):
        model.save(tmp_path / name)
        again = nbr.load(tmp_path / name)
        assert again.ask("flies").belief == pytest.approx(model.ask("flies").belief)
        assert str(again.rules[2]) == "bird -> flies unless penguin"
        assert again.model.closed == model.model.closed
    assert (model & model).ask("bird").belief == pytest.approx(0.99)


def test_a_path_through_cycles() -> None:
    """Of five places in a ring, and chords: only what can be reached from the first is true."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (2, 0), (3, 1)]
    world = nbr.World.bits(5)
    rules = [nbr.Clause("x0", 1.0), *(nbr.Clause(f"x{one} -> x{other}", 0.5) for one, other in edges)]
    model = nbr.Reasoner(world, rules, closed=world.names)
    assert model.ask("x4").belief == pytest.approx(0.5**4)
    assert model.ask("x4").plausibility == pytest.approx(0.5**4)
    apart = nbr.Reasoner(world, rules[1:], closed=world.names)
    assert apart.ask("x4").plausibility == 0


def test_what_was_observed_makes_nothing_so() -> None:
    rules = [nbr.Clause("x0", 0.3), nbr.Clause("x0 -> x1", 0.5)]
    model = nbr.Reasoner(nbr.World.bits(2), rules, closed=["x0", "x1"])
    assert model.ask("x0", "x1 @ 1").belief == model.ask("x0", "x1").belief == 1.0
    # Y is there with 0.8 and needs x1: 0.15 of the worlds have it, and all that have x0 weigh 0.3 x (0.5 + 0.5 x 0.2)
    assert model.ask("x0", "x1 @ 0.8").belief == pytest.approx(0.18 / (0.15 + 0.85 * 0.2))


def test_what_nothing_can_make_so_is_told() -> None:
    model = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", 0.5)], closed=["x0", "x1"])
    assert model.ask("x0").notes == ("nothing makes x0 so: it is closed, and no rule says it",)
    explained = model.explain("x1")
    assert explained.answer.plausibility == 0
    assert (explained.supports, explained.against) == ([], [[]])


def test_what_is_refused() -> None:
    world, loop = nbr.World.bits(3), [nbr.Clause("~x1 -> x0", 0.5), nbr.Clause("~x0 -> x1", 0.5)]
    with pytest.raises(NbrError, match="'x0' depends on itself through a negation, of 'x1'"):
        nbr.Reasoner(world, loop, closed=["x0", "x1"])
    assert nbr.Reasoner(world, loop, closed=["x0"]).ask("x0", "~x1").belief == pytest.approx(0.5 / 0.75)
    with pytest.raises(NbrError, match=r"rule 1: its exception 'x2' is not closed.*closed = \[\"x2\"\]"):
        nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.5, unless="x2")])
    with pytest.raises(NbrError, match="'grass' is not a bit"):
        nbr.Reasoner(nbr.World(grass=nbr.Choice("wet", "dry")), closed=["grass"])
    model = nbr.Reasoner(world, [nbr.Clause("x0", 0.5)], closed=["x0"])
    for by in ("lattice", "drawn", "frontier", "elimination", "boxes"):
        with pytest.raises(NbrError, match="variables are closed"):
            model.ask("x0", engine=by)
    with pytest.raises(NbrError, match="closed"):
        model.focal_sets()
    assert model.log_prob([[1, 0, 0]]).exp().tolist() == pytest.approx([0.125])
