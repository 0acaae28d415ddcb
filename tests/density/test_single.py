"""P(Q | C) against sums over all points, by every way of finding it."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

import pytest
import torch

import nbr
import rule_bases
from frequencies import independent, mixed, nothing, oracle, rare_world, smooth
from nbr.calculus import ganak
from nbr.density import sums as often
from nbr.density import weighted
from nbr.density.conditions import inside, pieces, spots
from nbr.density.counted import counted
from nbr.density.learned import Learned
from nbr.priors import Drawn, Empirical, Independent, Prior
from nbr.priors.columns import meets
from nbr.tables import Table


@pytest.mark.parametrize("seed", range(25))
def test_listed_and_counted_are_exact(seed: int) -> None:
    reasoner, question, given = mixed(seed)
    for condition in (None, given):
        wanted = oracle(reasoner, question, condition)
        if wanted is None:
            with pytest.raises(nbr.NbrError, match="probability 0|no point"):
                reasoner.probability(question, condition)
            continue
        found = reasoner.probability(question, condition)
        assert (found.method, found.exact, found.error) == ("listed", True, 0.0)
        assert found.value == pytest.approx(wanted, abs=1e-12)
        told = None if condition is None else nbr.parse(condition)
        sums = counted(reasoner.model, nbr.parse(question), told, time.monotonic() + 30)
        assert sums is not None
        assert sums[0] / sums[1] == pytest.approx(wanted, abs=1e-9)


def test_levels_of_grade_are_counted() -> None:
    """A fuzzy rule that is a statement at each level, beside crisp ones."""

    class Half(nbr.Rule):
        def __init__(self, statement: str, belief: float) -> None:
            super().__init__(belief)
            self.body = nbr.parse(statement)

        @property
        def inputs(self) -> tuple[str, ...]:
            return tuple(sorted(self.body.names()))

        def levels(self) -> list[float]:
            return [0.25, 1.0]

        def at_least(self, level: float) -> nbr.Expression:
            return nbr.parse("true") if level <= 0.25 else self.body

        def grades(self, points: torch.Tensor) -> torch.Tensor:
            return self.body.holds(self.world, points).to(points.dtype).clamp(min=0.25)

        def describe(self) -> str:
            return str(self.body)

    reasoner = nbr.Reasoner(nbr.World.bits(3), [Half("x0 -> x1", 0.9), nbr.Clause("x1 -> x2", 0.7), Half("x0", 0.6)])
    sums = counted(reasoner.model, nbr.parse("x2"), nbr.parse("x0"), time.monotonic() + 30)
    assert sums is not None
    assert sums[0] / sums[1] == pytest.approx(oracle(reasoner, "x2", "x0"), abs=1e-12)


@pytest.mark.skipif(not ganak.available(), reason="the counter is not installed")
def test_large_worlds_are_contracted_or_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Markov chain of 60 bits and a number, beside the product of its transition matrices."""
    bits = 60
    rules = [nbr.Clause(f"x{i} <-> x{i + 1}", 0.9) for i in range(bits - 1)]
    world = nbr.World({**nbr.World.bits(bits).variables, "t": nbr.Real(0, 10)})
    columns = [torch.tensor([0.8, 0.2]), *[torch.ones(2)] * (bits - 1), torch.zeros(0)]
    reasoner = nbr.Reasoner(world, [*rules, nbr.Clause("t>=7.5 -> x59", 0.5)], prior=Independent(world, columns))
    step = torch.tensor([[1.0, 0.1], [0.1, 1.0]], dtype=torch.float64)
    last = torch.tensor([0.8, 0.2], dtype=torch.float64)
    for _ in range(bits - 1):
        last = last @ step
    last = last * torch.tensor([0.75 + 0.25 * 0.5, 1.0], dtype=torch.float64)
    for method in ("contracted", "counted"):
        found = reasoner.probability("x59")
        assert (found.method, found.exact) == (method, True)
        assert found.value == pytest.approx(float(last[1] / last.sum()), abs=1e-9)
        monkeypatch.setattr(often, "contracted", nothing)
    assert reasoner.probability("t>=7.5", "x59").value == pytest.approx(0.25, abs=1e-6)
    assert reasoner.probability("t>=7.5", "~x59").value == pytest.approx(0.125 / 0.875, abs=1e-6)


def drawn(reasoner: nbr.Reasoner, questions: list[tuple[str, str | None]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws hold the exact value within twice their error, and within the error nearly always."""
    exact = [oracle(reasoner, *each) for each in questions]
    monkeypatch.setattr(weighted, "LISTED", 0)
    monkeypatch.setattr(weighted, "HOLED", 0)
    monkeypatch.setattr(often, "contracted", nothing)
    inside = 0
    for (question, given), wanted in zip(questions, exact, strict=True):
        found = reasoner.probability(question, given, budget=0.6)
        assert (found.method, found.exact) == ("drawn", False)
        assert found.value == pytest.approx(wanted, abs=2 * found.error)
        assert found.error < 0.03
        inside += wanted == pytest.approx(found.value, abs=found.error)
    assert inside >= 0.8 * len(questions)


RARE = [
    ("x5", "x0..x3=1"),  # 1e-4 of the prior
    ("x4 | x6", "x0, x1, x2, x3"),
    ("x5", "count(x0..x9)>=7"),  # not said of single variables
    ("count(x0..x9)>=8", "majority(x0..x9) & x11=0"),
    ("x7 <-> x8", "x0 <-> x1, x2 & x3 | x4 & x5 & x6"),
    ("c=red", "c in {red, blue}, x0..x2=1, ~x5"),
    ("c=red", None),
]


def test_draws_under_rare_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    world, columns = rare_world()
    rules = [nbr.Fuzzy(smooth, 0.9), nbr.Clause("x0 & x1 -> x5", 0.8), nbr.Clause("x3 -> c=red", 0.95)]
    drawn(nbr.Reasoner(world, rules, prior=Independent(world, columns)), RARE, monkeypatch)


def test_draws_from_other_priors(monkeypatch: pytest.MonkeyPatch) -> None:
    world, columns = rare_world()
    common = Independent(world, columns)
    first = nbr.Reasoner(world, [nbr.Fuzzy(smooth, 0.9), nbr.Clause("x0 -> x5", 0.8)], prior=common)
    learned = nbr.Reasoner(world, [nbr.Clause("x0 -> x5", 0.6)], prior=Learned(first.model))
    drawn(learned, RARE[:3], monkeypatch)
    bits = nbr.World.bits(4)
    coins = torch.distributions.Independent(torch.distributions.Bernoulli(torch.tensor([0.3, 0.6, 0.5, 0.2])), 1)
    only_drawn: Prior = Drawn(bits, coins)
    monkeypatch.undo()
    drawn(
        nbr.Reasoner(bits, [nbr.Fuzzy(smooth, 0.9)], prior=only_drawn), [("x0", "x1"), ("x2 | x3", None)], monkeypatch
    )


def test_an_empirical_prior_is_summed_over_its_rows() -> None:
    world = nbr.World(t=nbr.Real(0, 10), x=nbr.Bit())
    table = Table(world, torch.tensor([[1.0, 0], [4, 1], [4, 1], [9, 1]], dtype=torch.float64))
    reasoner = nbr.Reasoner(world, [nbr.Clause("t>=3", 0.5)], prior=Empirical(table))
    found = reasoner.probability("x", "t<=5")
    assert found.exact
    assert found.value == pytest.approx(2 / 2.5)


def test_numbers_are_drawn_inside_a_condition() -> None:
    """A slice of a thousandth of a number's range, where rejection would keep 1 in 1,000."""
    world = nbr.World(t=nbr.Real(0, 100), u=nbr.Real(0, 1))
    rule = nbr.Fuzzy(lambda points: points[:, 0], 1.0, inputs="u")  # P_keep = u, whatever t is
    reasoner = nbr.Reasoner(world, [rule])
    found = reasoner.probability("u>=0.5", "t>=47.95, t<=48.05", budget=2)
    assert found.value == pytest.approx(0.75, abs=2 * found.error)
    assert found.error < 0.004


def test_conditions_are_never_not_a_number() -> None:
    world = nbr.World.bits(3)
    certain = Independent(world, [torch.tensor([1.0, 0.0]), torch.ones(2), torch.ones(2)])
    hard = nbr.Reasoner(world, [nbr.Clause("x1 -> x2", 1.0)], prior=certain)
    for given in ("x0", "x1 & ~x2", "false", "x1 & ~x1"):
        with pytest.raises(nbr.NbrError, match="probability 0"):
            hard.probability("x2", given)
    with pytest.raises(nbr.NbrError, match="no point"):
        nbr.Reasoner(world, [nbr.Clause("x1", 1.0), nbr.Clause("~x1", 1.0)]).probability("x2")
    assert hard.probability("x2", "x1").value == 1.0


def test_conditions_that_draws_cannot_meet() -> None:
    world = nbr.World(t=nbr.Real(0, 1), x=nbr.Bit())
    never = nbr.Reasoner(
        world,
        [nbr.Fuzzy(lambda points: points[:, 0] * 0, 1.0, inputs="t")],
        prior=Independent(world, [torch.zeros(0), torch.tensor([1.0, 0.0])]),
    )
    found = never.probability("x=0", budget=0.1)
    assert found.value is None
    assert re.search("none of .* draws agrees with the rules", found.note)
    with pytest.raises(nbr.NbrError, match="condition has probability 0"):
        never.probability("x=0", "x", budget=0.1)
    found = never.probability("t>=0.5", "x & t<=0.3 | x & t>0.9 & t<0.2", budget=0.1)
    assert found.value is None
    assert re.search("none of .* draws meets the condition and the rules", found.note)


def test_bad_questions() -> None:
    reasoner = nbr.Reasoner(nbr.World.bits(2))
    with pytest.raises(nbr.NbrError, match="question: unknown variable 'x7'"):
        reasoner.probability("x7")
    with pytest.raises(nbr.NbrError, match="condition: a statement is missing"):
        reasoner.probability("x0", "")
    with pytest.raises(nbr.NbrError, match="a statement in the query language, not a function"):
        reasoner.probability(smooth)  # type: ignore[arg-type]
    with pytest.raises(nbr.NbrError, match="budget"):
        reasoner.probability("x0", budget=0)
    with pytest.raises(nbr.NbrError, match="seed"):
        reasoner.probability("x0", seed=-1)


@pytest.mark.parametrize("seed", range(30))
def test_conditions_are_taken_apart(seed: int) -> None:
    """A point meets a condition exactly if its single variables are allowed and the rest holds."""
    draw = random.Random(seed)
    world = rule_bases.world(draw, 2, 1, 2)
    condition = nbr.parse(", ".join(f"({rule_bases.statement(draw, world, 1)})" for _ in range(3)))
    taken = inside(world, condition)
    generator = torch.Generator().manual_seed(seed)
    points = nbr.priors.uniform(world).sample(4000, generator)
    for column, name in enumerate(world.names):  # at the cuts themselves too
        values = spots(world, name, [condition])
        points[:, column] = torch.where(
            torch.rand(4000, generator=generator) < 0.5,
            values[torch.randint(len(values), (4000,), generator=generator)],
            points[:, column],
        )
    meet = torch.ones(4000, dtype=torch.bool) if taken.rest is None else taken.rest.holds(world, points)
    for name, values in taken.allowed.items():
        meet = meet & meets(points[:, world.column(name)], values)
    assert torch.equal(meet, condition.holds(world, points))


def test_pieces_of_a_number() -> None:
    values = torch.tensor([0.0, 1, 2, 3, 4])
    assert pieces(values, torch.tensor([True] * 5)) == [(-torch.inf, torch.inf)]
    assert pieces(values, torch.tensor([False, True, True, True, False])) == [(0.0, 4.0)]
    assert pieces(values, torch.tensor([True, False, True, False, True])) == [(0, 0), (2, 2), (4, 4)]
    assert pieces(values, torch.tensor([True, True, False, True, True])) == [(-torch.inf, 2), (2, torch.inf)]


def test_saved_with_its_views(tmp_path: Path) -> None:
    world = nbr.World.bits(3)
    model = nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.9)], prior=independent(random.Random(0), world))
    seen = nbr.Reasoner(world, model.rules, prior=model.prior, views=[["x1", "x0"], ["x2", "x1"], ["x1"]])
    seen.save(tmp_path / "m.nbr")
    again = nbr.load(tmp_path / "m.nbr")
    assert isinstance(again, nbr.Reasoner)
    assert again.views == seen.views == (("x0", "x1"), ("x1", "x2"))
    assert again.probability("x2", "x0") == seen.probability("x2", "x0")
    assert json.dumps(seen.probability("x2", "x0").as_json())
    assert (seen & seen).views == (("x0", "x1"), ("x1", "x2"))
    assert (seen & model).views is None
    with pytest.raises(nbr.NbrError, match="unknown variable 'x9'"):
        nbr.Reasoner(world, views=[["x9"]])
    with pytest.raises(nbr.NbrError, match="list of lists"):
        nbr.Reasoner(world, views=["x0"])
