"""Comparisons between numbers: every region is found, and answers are those of a fine list of points."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import nbr
import oracle
from nbr.encodings import regions
from nbr.language import parse
from nbr.language.intervals import holds_within

WORLD = nbr.World(a=nbr.Bit(), c=nbr.Choice("x", "y", "z"), k=nbr.Real(0, 3, 1), s=nbr.Real(0, 4), t=nbr.Real(-2, 2))
STEPS = [
    torch.arange(2.0),
    torch.arange(3.0),
    torch.arange(4.0),
    torch.arange(0, 4.01, 0.25),
    torch.arange(-2, 2.01, 0.25),
]
POINTS = torch.cartesian_prod(*[step.double() for step in STEPS])
# All lines go through many of the points listed, and no region lies between them.
STATEMENTS = [
    "s >= t",
    "s > 2*t + 1",
    "s + t = 1",
    "k - 1 <= s",
    "s - k != 0",
    "count(a, c=x) + t >= 1",
    "2*count(a, k>=2) < s",
    "a -> t<0",
    "c=x <-> s>=1",
    "t/2 >= 0.5 | a",
    "k >= 2",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_truth_within_boxes(text: str) -> None:
    statement, generator = parse(text), torch.Generator().manual_seed(0)
    first, second = (POINTS[torch.randint(len(POINTS), (300,), generator=generator)] for _ in range(2))
    low, high = first.minimum(second), first.maximum(second)
    surely, possibly = holds_within(statement, WORLD, low, high)
    for one, other, sure, may in zip(low, high, surely.tolist(), possibly.tolist(), strict=True):
        inside = POINTS[((one <= POINTS) & (other >= POINTS)).all(dim=1)]
        holds = statement.holds(WORLD, inside)
        assert not sure or bool(holds.all())
        assert may or not bool(holds.any())
    surely, possibly = holds_within(statement, WORLD, POINTS, POINTS)
    assert torch.equal(surely, possibly)
    assert torch.equal(surely, statement.holds(WORLD, POINTS))


def test_every_region_is_found_once() -> None:
    statements = [parse(text) for text in STATEMENTS[:7]]
    (group,) = regions.tied(WORLD, statements)
    assert group.complete
    found = torch.stack([statement.holds(group.world, group.points) for statement in statements], dim=1)
    listed = torch.stack([statement.holds(WORLD, POINTS) for statement in statements], dim=1)
    assert {*map(tuple, listed.tolist())} <= {*map(tuple, found.tolist())}
    assert len(found.unique(dim=0)) == len(found)


def test_threads_look_for_regions_at_once() -> None:
    """A context of the solver that threads share ends the process."""
    said = [[parse(text) for text in STATEMENTS[first : first + 5]] for first in range(6)]
    alone = [regions._solved(WORLD, each, 20.0) for each in map(tuple, said)]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda each: regions._solved(WORLD, tuple(each), 20.0), 4 * said))
    assert [len(each.points) for each in together] == 4 * [len(each.points) for each in alone]


def test_what_is_far_too_much_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of which each value is told apart have at least as many regions as there are combinations."""
    world = nbr.World({f"d{place}": nbr.Real(0, 9, 1) for place in range(8)})
    said = [parse("d0 + d1 + d2 + d3 + d4 + d5 = 10*d6 + d7")]
    said += [parse(f"{name}!={value}") for name in world.names for value in range(10)]
    assert regions._at_least(world, said) > regions.MOST
    assert regions._at_least(WORLD, [parse(text) for text in STATEMENTS]) <= 3 * 2 * 2
    monkeypatch.setattr(regions, "_solved", lambda *_: pytest.fail("the solver was asked"))
    (group,) = regions.tied(world, said)
    assert not group.complete


def drawn_model(seed: int) -> tuple[nbr.Reasoner, str, str | None]:
    draw = random.Random(seed)
    rules = [nbr.Clause(text, draw.choice([0.4, 0.7, 0.9])) for text in draw.sample(STATEMENTS, draw.randint(2, 5))]
    question = draw.choice([*STATEMENTS, "a", "t>=1", "c=y"])
    return nbr.Reasoner(WORLD, rules), question, draw.choice([None, "a", "s>=t", "s=2", "t - s >= -3, c!=z"])


@pytest.mark.parametrize("block", range(3))
def test_answers_are_those_of_the_definitions(block: int) -> None:
    for seed in range(6 * block, 6 * block + 6):
        model, question, given = drawn_model(seed)
        points = POINTS if given is None else POINTS[parse(given).holds(WORLD, POINTS)]
        grades = model.grades(points).numpy()
        right = oracle.answer(grades, model.beliefs.numpy(), parse(question).holds(WORLD, points).double().numpy())
        for engine in ("auto", "counting", "lattice"):
            found = model.ask(question, given, engine=engine)
            assert found.exact
            assert (found.belief, found.plausibility, found.conflict) == pytest.approx(right, abs=1e-9), (seed, engine)


def test_points_that_a_solver_gives_show_what_is_said() -> None:
    model = nbr.Reasoner(
        WORLD, [nbr.Clause("s >= 2*t + 1", 0.9), nbr.Clause("t > 0", 0.8), nbr.Clause("a <-> s>=2", 0.9)]
    )
    found = model.explain("a")
    for point, holds in ((found.witness, True), (found.counter, False)):
        assert point is not None
        codes = torch.tensor([[WORLD.code(name, point.values[name]) for name in WORLD.names]], dtype=torch.float64)
        assert bool(parse("a").holds(WORLD, codes)[0]) == holds
    assert [2] not in found.supports


def test_without_the_solver_bounds_hold_and_a_line_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nbr.Reasoner(
        WORLD, [nbr.Clause("s >= 2*t + 1", 0.9), nbr.Clause("t > 1", 0.8), nbr.Clause("a <-> s>=2", 0.9)]
    )
    right = model.ask("a", "t>=0")
    monkeypatch.setattr(regions, "available", lambda: False)
    monkeypatch.setattr(regions, "_KNOWN", {})
    found = model.ask("a", "t>=0")
    assert not found.exact
    assert found.notes == (regions.SOLVER,)
    for name in ("belief", "plausibility", "conflict"):
        low, high = getattr(found.bounds, name)
        assert low - 1e-9 <= getattr(right, name) <= high + 1e-9


def test_what_was_not_found_in_time_is_looked_for_when_there_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_KNOWN", {})
    statements = [parse(text) for text in STATEMENTS[:7]]
    (short,) = regions.tied(WORLD, statements, seconds=0.0)
    (same,) = regions.tied(WORLD, statements)
    assert not short.complete
    assert same is short
    assert regions.tied(WORLD, statements, seconds=3.0)[0].complete


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("s >= 3*u", "'u' is not a number and not a variable"),
        ("s + c > 1", "'c' is a choice"),
        ("s = t", "write s - t=0"),
        ("s*t > 1", "only a number can multiply, as in 3\\*rent, at character 3"),
        ("s + > 1", "cannot read '>' at character 5"),
        ("s + t", "a comparison is missing after"),
        ("s t >= 1", "cannot read 't' at character 3"),
        ("s 3 >= 1", "an operator is missing before 3 at character 3"),
        ("s/0 > t", "division by 0 at character 3"),
        ("s - s >= 1", "contains no variable"),
        ("x1..x3 + s > 1", "a range cannot be added"),
        ("majority(a) + s > 1", "only count"),
    ],
)
def test_wrong_sentences(text: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        parse(text).check(WORLD)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2*s >= 3", "s>=1.5"),
        ("-1*s < 3", "s>-3"),
        ("s >= t, s<=3", "s>=t & s<=3"),
        ("count(a, c=x) >= count(c=y, c=z)", "count(a, c=x, ~c=y, ~c=z)>=2"),
        ("0 <= s - t < 2", "t<=s & s<t + 2"),
        ("s -1 > t", "s>t + 1"),
        ("s - 2*t + 1 >= count(a)", "s + 1>=2*t + count(a)"),
    ],
)
def test_sentences_in_few_words(text: str, same: str) -> None:
    assert str(parse(text)) == same
    assert torch.equal(parse(text).holds(WORLD, POINTS), parse(same).holds(WORLD, POINTS))
