"""Walks along a line of variables: exact against the definitions, and honest where states are too many."""

from __future__ import annotations

import random

import pytest
import torch

import nbr
import oracle
from nbr.asking.by_statements import Counting
from nbr.calculus import Estimate, frontier
from nbr.encodings.path import Path
from nbr.language import parse
from nbr.points.cell_grid import world_cells
from nbr.ways import Limits


def small(seed: int) -> tuple[nbr.Reasoner, str, str | None]:
    """Bits, a choice and a number, and rules that read neighbours."""
    draw = random.Random(seed)
    said = [f"x{place}" for place in range(4)] + ["c=red", "c in {red, blue}", "t>=2", "t<1"]

    def literal() -> str:
        return ("~" if draw.random() < 0.5 else "") + f"({draw.choice(said)})"

    def statement() -> str:
        return f" {draw.choice('|&')} ".join(literal() for _ in range(draw.choice([1, 2, 2, 3])))

    world = nbr.World(
        x0=nbr.Bit(), c=nbr.Choice("red", "green", "blue"), x1=nbr.Bit(), t=nbr.Real(0, 3), x2=nbr.Bit(), x3=nbr.Bit()
    )
    rules = [nbr.Clause(statement(), draw.choice([0.2, 0.5, 0.9, 1.0, 0.0])) for _ in range(7)]
    return nbr.Reasoner(world, rules), statement(), draw.choice([None, "x0", "c=red | x3"])


def test_an_exact_walk_has_the_expectations_of_the_definitions() -> None:
    compared = 0
    for seed in range(80):
        model, question, given = small(seed)
        condition = None if given is None else parse(given)
        path = Path.of(model.model, parse(question), condition)
        assert path is not None
        found = path.exact(Limits.within(10))
        assert found is not None
        points = torch.cat([chunk for chunk, _ in world_cells(model.world, {"t": {1.0, 2.0}}, (), 1).chunks()])
        points = points if condition is None else points[condition.holds(model.world, points)]
        holds = parse(question).holds(model.world, points)
        grades, beliefs = model.grades(points).numpy(), model.beliefs.numpy()
        right = [
            oracle.expectation(grades[some], beliefs) for some in (holds.numpy(), ~holds.numpy(), holds.numpy() | True)
        ]
        assert [found.bounds(union)[0] for union in range(3)] == pytest.approx(right, abs=1e-12), seed
        compared += 0 < right[2] < 1
    assert compared > 20


def along(seed: int, bits: int = 40, rules: int = 80) -> Path:
    draw = random.Random(seed)
    model = nbr.Reasoner(
        nbr.World.bits(bits), [nbr.Clause(_window(draw, bits), draw.uniform(0.3, 0.9)) for _ in range(rules)]
    )
    path = Path.of(model.model, parse("x20"), parse("x3, ~x30"))
    assert path is not None
    return path


def _window(draw: random.Random, bits: int) -> str:
    start = draw.randrange(bits - 5)
    names = draw.sample(range(start, start + 6), draw.choice([1, 2, 3]))
    return " | ".join(("~" if draw.random() < 0.5 else "") + f"x{name}" for name in names)


@pytest.fixture
def few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "TRIAL", 24)
    monkeypatch.setattr(frontier, "MOST", 24)


@pytest.mark.usefixtures("few_states")
def test_bounds_hold_and_intervals_mostly() -> None:
    held = claimed = 0
    for seed in range(16):
        path = along(seed)
        right = path.exact(Limits.within(30))
        assert right is not None
        found = path.bounded(Limits.within(30, seed=seed))
        sure: Estimate = found.sure if isinstance(found, frontier.WalkedEstimate) else found
        for union in range(3):
            low, high = sure.bounds(union)
            assert low <= right.bounds(union)[0] * (1 + 1e-9), (seed, union)
            assert high >= right.bounds(union)[0] * (1 - 1e-9), (seed, union)
        assert sure.width > 0
        if not isinstance(found, frontier.WalkedEstimate):
            continue
        for union in range(2):
            low, high = found.ratio(union, 2)
            value = right.ratio(union, 2)[0]
            claimed += 1
            held += low <= value <= high
    assert claimed > 16
    assert held >= 0.88 * claimed


def test_too_many_states_are_no_exact_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "STATES", 10)
    assert along(0).exact(Limits.within(30)) is None


def test_thinning_changes_no_mean() -> None:
    """Of weights 0.4, 0.3, 0.2 and 0.1 two are kept; each has its weight in the mean."""
    import numpy as np

    states = np.arange(1, 5, dtype=np.uint64).reshape(4, 1, 1).repeat(2, axis=1)
    weights, total = np.array([0.4, 0.3, 0.2, 0.1]), np.zeros(4)
    for seed in range(4000):
        left, heavy = frontier._thinned(np.random.default_rng(seed), 2)(states, weights)
        assert len(left) == 2
        total[left[:, 0, 0].astype(int) - 1] += heavy
    assert total / 4000 == pytest.approx(weights, abs=0.02)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([nbr.Memory({"x0": 1}, 0.5, 0.5)], "a fuzzy rule"),
        ([nbr.Clause("count(x0..x19)>=9", 0.5)], "a frontier of 2^20 points"),
    ],
)
def test_what_does_not_lie_along_a_line(rules: list[nbr.Rule], why: str) -> None:
    model = nbr.Reasoner(nbr.World.bits(20), rules)
    assert Path.of(model.model, parse("x0"), None) is None, why


def test_it_can_be_asked_for_by_name() -> None:
    model = nbr.Reasoner(nbr.World.bits(3), [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x1 -> x2", 0.8)])
    answer = model.ask("x2", given="x0", engine="frontier")
    assert (answer.engine, answer.exact) == ("frontier", True)
    assert answer.belief == pytest.approx(0.72, abs=1e-12)
    with pytest.raises(nbr.NbrError, match="the condition contradicts rule 1"):
        nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0", 1.0)]).ask("x1", given="~x0", engine="frontier")
    fuzzy = nbr.Reasoner(nbr.World.bits(2), [nbr.Memory({"x0": 1}, 0.5, 0.5)])
    with pytest.raises(nbr.NbrError, match="'frontier' does not fit: .*line of variables"):
        fuzzy.ask("x1", engine="frontier")


def test_a_counter_that_does_not_finish_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 bits and 300 implications between neighbours: where a counter gives up, a walk is exact."""
    monkeypatch.setattr(Counting, "solve", lambda *_: None)
    draw = random.Random(0)
    rules = []
    for _ in range(300):
        start = draw.randrange(193)
        one, other = (
            ("~" if draw.random() < 0.5 else "") + f"x{place}" for place in draw.sample(range(start, start + 8), 2)
        )
        rules.append(nbr.Clause(f"{one} -> {other}", round(draw.uniform(0.3, 0.95), 2)))
    answer = nbr.Reasoner(nbr.World.bits(200), rules).ask("x100", given="x20, ~x150", budget=20)
    assert answer.exact
    assert "frontier" in answer.engine
