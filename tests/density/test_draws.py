"""Probabilities from draws: errors that hold, and none where they would not."""

from __future__ import annotations

import json
import time

import pytest
import torch

import nbr
from frequencies import nothing, oracle, rare_world, smooth, unit_rules
from nbr import clock
from nbr.app import often as often_on_screen
from nbr.density import estimate, many, weighted
from nbr.density import sums as often
from nbr.density.draws import Draws
from nbr.density.many import probabilities
from nbr.model import Model
from nbr.priors import Independent


def test_chains_take_over_where_few_draws_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "FEW", 1 << 40)
    monkeypatch.setattr(estimate, "CLOSE", 0.0)
    monkeypatch.setattr(weighted, "LISTED", 0)
    found = unit_rules(8, 0.97).probability("x0 & x1", "x2", budget=4)
    assert found.method == "chains"
    assert found.value == pytest.approx((1 / 1.03) ** 2, abs=2 * found.error)
    assert found.error < 0.05


def test_time_is_kept() -> None:
    model = unit_rules(24, 0.5)
    start = time.process_time()
    model.probability("x0", "x2", budget=0.5)
    assert time.process_time() - start < 2


def test_rare_questions_have_small_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the prior knows its own masses, only what the rules add is drawn."""
    world, columns = rare_world()
    model = nbr.Reasoner(world, [nbr.Fuzzy(smooth, 0.9)], prior=Independent(world, columns))
    wanted = oracle(model, "x0..x3=1", "~x5")
    monkeypatch.setattr(weighted, "LISTED", 0)
    monkeypatch.setattr(weighted, "HOLED", 0)
    monkeypatch.setattr(often, "contracted", nothing)
    found = model.probability("x0..x3=1", "~x5", budget=2)
    assert wanted is not None
    assert wanted < 2e-4
    assert found.error < 0.05 * wanted
    assert found.value == pytest.approx(wanted, abs=2 * found.error)


def quarrel(bits: int = 40) -> nbr.Reasoner:
    """Draws of the prior hardly ever see the points that count: all bits are rare, and rules want them all alike."""
    rules = [nbr.Clause(f"x{i} <-> x{(i + 7 * j) % bits}", 0.999) for j in (1, 2, 3) for i in range(bits)]
    world = nbr.World.bits(bits)
    return nbr.Reasoner(world, rules, prior=Independent(world, [torch.tensor([0.6, 0.4])] * bits))


def test_no_error_is_stated_that_would_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bits are 0, but for one in 10 million times: draws say what the few heaviest of them say."""
    for name in ("contracted", "counted"):
        monkeypatch.setattr(often, name, nothing)
    found = quarrel().probability("x0", budget=0.5)
    assert (found.value, found.error, found.exact, found.method) == (None, None, False, "not computed")
    assert "few draws carry the weight" in found.note
    assert "with more time it may be exact" in found.note
    assert str(found) == "x0: between 0 and 1, not computed"
    told = json.loads(json.dumps(found.as_json()))
    assert (told["value"], told["error"], told["exact"]) == (None, None, False)
    monkeypatch.setattr(many, "contracted", nothing)
    assert probabilities(quarrel().model, [("x0", None)], 0.5, 0) == [None]
    assert any("not computed" in line and "few draws" in line for line in often_on_screen.probability(found))


def test_a_counter_gets_the_time_that_draws_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given 40% of the time it would have been broken off; draws show at once that they are worth nothing."""
    until = []

    def late(density: Model, question: nbr.Expression, condition: object, deadline: float) -> object:
        until.append(deadline - start)
        return (0.25, 1.0) if deadline - start > 0.6 else None

    monkeypatch.setattr(often, "contracted", nothing)
    monkeypatch.setattr(often, "counted", late)
    start = time.monotonic()
    found = quarrel().probability("x0", budget=1.0)
    assert (found.method, found.value, found.exact) == ("counted", 0.25, True)
    assert until == pytest.approx([0.1, 0.8], abs=0.05)
    until.clear()
    start = time.monotonic()
    assert unit_clauses().probability("x0", budget=1.0).method == "drawn"  # draws do well: the rest is theirs
    assert until == pytest.approx([0.1, 0.5], abs=0.05)


def unit_clauses() -> nbr.Reasoner:
    return nbr.Reasoner(nbr.World.bits(40), [nbr.Clause(f"x{i}", 0.1) for i in range(40)])


@pytest.mark.parametrize(("shape", "trusted"), [(0.3, True), (0.6, True), (1.0, False), (2.0, False)])
def test_heavy_tails_are_not_trusted(shape: float, trusted: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    sums = estimate.Sums()
    for _ in range(8):  # log weights whose tail is that of a power
        drawn = torch.rand(1 << 13, generator=generator, dtype=torch.float64)
        sums.add(-shape * drawn.log() - 500, drawn < 0.5)
    assert sums.trusted == trusted


def test_equal_weights_are_trusted_and_few_are_not() -> None:
    sums = estimate.Sums()
    sums.add(torch.tensor([0.0] * 900 + [-torch.inf] * 100).double(), torch.ones(1000, dtype=torch.bool))
    assert sums.trusted
    few = estimate.Sums()
    few.add(torch.tensor([0.0] * 20 + [-torch.inf] * 980).double(), torch.ones(1000, dtype=torch.bool))
    assert not few.trusted


def test_the_first_draws_cost_little_however_many_rules_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a batch costs is known only after the first: with 20,000 rules it must not be the whole budget."""
    drawn: list[int] = []
    points = Draws.points

    def counting(self: Draws, count: int, generator: torch.Generator) -> torch.Tensor:
        drawn.append(count)
        return points(self, count, generator)

    monkeypatch.setattr(Draws, "points", counting)
    monkeypatch.setattr(often, "contracted", nothing)
    monkeypatch.setattr(often, "countable", nothing)
    monkeypatch.setattr(weighted, "LISTED", 0)
    for rules, first in ((60, estimate.FIRST // 2), (20_000, estimate.FEWEST // 2)):
        drawn.clear()
        world = nbr.World.bits(30)
        made = [nbr.Clause(f"x{place % 30} | x{(place + 7) % 30}", 0.1) for place in range(rules)]
        nbr.Reasoner(world, made, prior=nbr.priors.uniform(world)).probability("x0", budget=0.1)
        assert drawn[0] == first


def test_thousands_of_rules_are_graded_no_longer_than_there_is_time() -> None:
    world = nbr.World.bits(30)
    for rules, late in ((1000, False), (3000, True)):
        made = [nbr.Clause(f"x{place % 30} | x{(place + 7) % 30}", 0.1) for place in range(rules)]
        model, points = Model(world, made), torch.zeros(2, 30, dtype=torch.float64)
        with clock.until(clock.now() - 1.0):
            if late:
                with pytest.raises(clock.OutOfTime):
                    model.grades(points)
            else:
                assert model.grades(points).shape == (2, rules)


def test_what_was_drawn_before_time_was_up_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second batch is broken off: what the first one told is told."""
    whole, calls = Draws.log_weights, 0

    def once(self: Draws, points: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        if calls > most:
            raise clock.OutOfTime
        return whole(self, points)

    monkeypatch.setattr(Draws, "log_weights", once)
    monkeypatch.setattr(estimate, "CLOSE", 0.0)
    draws = Draws.of(unit_rules(24, 0.5).model, None)
    question, deadline = nbr.parse("x0"), clock.now() + 60
    for estimated, most in ((estimate.drawn, 1), (estimate.split, 2)):
        calls = 0
        found = estimated(draws, question, None, deadline, torch.Generator().manual_seed(0))
        assert found is not None
        assert found.value == pytest.approx(1 / 1.5, abs=2 * (found.error or 0.0))
        calls, most = 0, 0
        with pytest.raises(clock.OutOfTime):
            estimated(draws, question, None, deadline, torch.Generator().manual_seed(0))
