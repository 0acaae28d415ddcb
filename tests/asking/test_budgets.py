"""Budgets hold where a question is far too large for them, and what is answered then claims nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

import nbr
from nbr import clock
from nbr.asking import by_points
from nbr.calculus import Problem, solve
from nbr.calculus.resolution import eliminated
from nbr.encodings.listing import AFTER, Listing
from nbr.model import Model
from nbr.ways import Limits


class Ticking:
    """A clock that goes on by some seconds each time that somebody looks at it."""

    def __init__(self, step: float) -> None:
        self.seconds, self.step = 1000.0, step

    def __call__(self) -> float:
        self.seconds += self.step
        return self.seconds


@pytest.fixture
def chain() -> nbr.Reasoner:
    rules = [nbr.Clause(f"x{i} -> x{i + 1}", 0.9) for i in range(300)]
    return nbr.Reasoner(nbr.World.bits(301), [*rules, nbr.Clause("x0", 0.8)])


def test_a_question_that_is_late_says_so_at_once(chain: nbr.Reasoner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even taking the rules apart takes longer than the budget: nothing is known, and nothing claimed."""
    ticking = Ticking(0.01)
    monkeypatch.setattr(clock, "now", ticking)
    began = ticking.seconds
    answer = chain.ask("x300", budget=1.0)
    assert ticking.seconds - began < 2
    assert not answer.exact
    assert answer.bounds.belief == answer.bounds.plausibility == answer.bounds.conflict == (0.0, 1.0)


def test_the_same_question_in_time(chain: nbr.Reasoner) -> None:
    answer = chain.ask("x300")
    assert answer.exact
    assert answer.belief == pytest.approx(0.8 * 0.9**300)


def test_a_ranking_is_late_for_all_values_together(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = [f"l{i}" for i in range(40)]
    world = nbr.World({"label": nbr.Choice(*labels), **{f"x{i}": nbr.Bit() for i in range(40)}})
    rules = [nbr.Clause(f"x{i} -> label={label}", 0.9) for i, label in enumerate(labels)]
    ticking = Ticking(0.01)
    monkeypatch.setattr(clock, "now", ticking)
    began = ticking.seconds
    ranking = nbr.Reasoner(world, rules).rank("label", budget=2.0)
    assert ticking.seconds - began < 2 * 1.2 + 1 + 3 * 0.01 * len(labels)  # a late value still looks three times
    assert len(ranking.values) == len(labels)
    assert all(each.answer.bounds.plausibility[1] == 1 for each in ranking.values if not each.answer.exact)


def test_a_check_that_is_late_is_not_complete(chain: nbr.Reasoner, monkeypatch: pytest.MonkeyPatch) -> None:
    ticking = Ticking(0.01)
    monkeypatch.setattr(clock, "now", ticking)
    began = ticking.seconds
    assert not chain.check(budget=1.0).complete
    assert ticking.seconds - began < 2.2


def test_clauses_are_taken_in_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some clauses alone would allow more: where time is up, there is no answer."""
    clauses = [(-1, 2), (-2, 3), (-3, 4), (-4,)]
    assert eliminated(clauses, {1}, math.inf) == [(-1,)]
    monkeypatch.setattr(clock, "now", Ticking(1.0))
    with pytest.raises(clock.OutOfTime), clock.until(1003.0):
        eliminated(clauses, {1}, math.inf)


def test_listing_leaves_time_for_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of points is gone through again: a budget of a second is not for two million numbers more."""
    monkeypatch.setattr(clock, "now", lambda: 1000.0)
    world = nbr.World({f"r{i}": nbr.Real(0, 1) for i in range(3)})
    rules = [nbr.Fuzzy(lambda points: points.mean(dim=1), 0.7), nbr.Fuzzy(lambda points: 1 - points[:, 0], 0.6)]
    model = Model(world, [rule.bind(world) for rule in rules])
    listing = Listing.of(model, nbr.parse("r0 > 0.5"), None, grid=64)
    with torch.no_grad():
        rows = listing.rows(Limits(1000.0 + 0.1))
    held = rows.witnesses.numel() + rows.covers.numel()
    assert held < 0.1 / AFTER + (1 << 20)
    assert rows.seen < listing.count
    assert not rows.complete


def test_a_late_question_takes_the_exact_way_where_drawing_would_take_longer() -> None:
    grades = torch.rand(400_000, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    problem = Problem((grades[:1000], grades[1000:]), ((0,), (1,), (0, 1)), torch.full((3,), 0.7, dtype=torch.float64))
    assert solve(problem, "auto", Limits(deadline=0.0)).exact


def test_the_earlier_deadline_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 5.0)
    with clock.until(6.0):
        with clock.until(7.0):
            clock.check()
        with clock.until(4.0), pytest.raises(clock.OutOfTime):
            clock.check()
        clock.check()
    with clock.until(4.0), clock.until(6.0), pytest.raises(clock.OutOfTime):
        clock.check()
    clock.check()


def test_a_fuzzy_question_that_runs_out_of_time_for_pairs_still_bounds_the_truth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the pairs not looked at may reach is covered; an upper bound from the others alone would be too low."""
    world = nbr.World.bits(3)
    for seed in range(10):
        draw = torch.Generator().manual_seed(seed)
        table, member = torch.rand(8, 3, generator=draw, dtype=torch.float64), torch.rand(8, generator=draw).double()
        rules = [nbr.Fuzzy(at(table[:, column]), 0.7) for column in range(3)]
        model = Model(world, rules)
        asked = nbr.Fuzzy(at(member)).bind(world)
        rows = Listing.of(model, asked, None).rows(Limits())
        true = by_points.from_rows(rows, model, asked, None, "lattice", Limits())
        with monkeypatch.context() as patch:
            ticking = Ticking(1.0)
            patch.setattr(clock, "now", ticking)
            for left in (0.0, 4.0, 6.0, 8.0, 12.0):  # looks at the clock before time is up
                late = Limits(ticking.seconds + left)
                found = by_points.from_rows(rows, model, asked, None, "lattice", late)
                for name in ("plausibility", "doubt", "whole"):
                    low, high = getattr(found, name)
                    assert low - 1e-12 <= getattr(true, name)[0] <= high + 1e-12, (seed, left, name)
                assert left > 0 or found.width > 0


def at(values: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """A grade for each point of three bits."""
    return lambda points: values[(points @ torch.tensor([4.0, 2.0, 1.0], dtype=torch.float64)).long()]
