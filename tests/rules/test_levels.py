"""Statements with words, level by level: where a grade reaches a level, and answers counted from such levels."""

from __future__ import annotations

import random

import pytest
import torch

import nbr
import selectors_oracle as oracle
from nbr.rules.levels import reached
from nbr.rules.wording import worded

# Corners such that lines cross at multiples of 1/120, so that the largest grades are at points of a list.
WORDS = {
    "hot": {"t": [1, 3]},
    "cold": {"t": [2, 0]},
    "mild": {"t": [0, 1, 2, 4]},
    "bad": {"t": [4, 0], "g": {"x": 1, "y": 0.3}},
}
VARIABLES = {"t": nbr.Real(0, 4), "g": nbr.Choice("x", "y"), "a": nbr.Bit(), "b": nbr.Bit()}
WORLD = nbr.World(VARIABLES).with_words(WORDS)
PLACES = torch.arange(481).double() / 120
POINTS = torch.cartesian_prod(PLACES, *[torch.arange(2).double()] * 3)


def statement(draw: random.Random, depth: int = 2) -> str:
    """A random statement with words, among others counts; numbers are only compared so that both ends are included."""
    kind = draw.choice(["atom", "not", "and", "or", "implies", "iff", "count"]) if depth else "atom"
    one, two = (statement(draw, depth - 1) for _ in range(2)) if depth else ("", "")
    count = f"count({one}, {two}, a){draw.choice(['>=', '>', '<', '<=', '=', '!='])}{draw.randint(0, 3)}"
    return {
        "atom": draw.choice([*WORDS, *WORDS, "a", "b", "g=x"]),
        "not": f"~({one})",
        "and": f"({one}) & ({two})",
        "or": f"({one}) | ({two})",
        "implies": f"({one}) -> ({two})",
        "iff": f"({one}) <-> ({two})",
        "count": count,
    }[kind]


@pytest.mark.parametrize("step", [0.0, 0.25])
def test_a_level_is_reached_where_the_grade_is_as_high(step: float) -> None:
    draw = random.Random(5)
    world = nbr.World({**VARIABLES, "t": nbr.Real(0, 4, step=step)}).with_words(WORDS)
    points = POINTS if not step else POINTS[(POINTS[:, 0] / step) % 1 == 0]
    for _ in range(150):
        said = nbr.parse(statement(draw))
        rule = worded(said, world)
        if rule is None:
            continue
        grades, level = rule.grades(points), draw.choice([draw.random(), 0.5, 0.25, 1.0])
        clear = (grades - level).abs() > 1e-9
        for above, wanted in ((False, grades >= level - 1e-9), (True, grades > level + 1e-9)):
            found = reached(said, world.words, world, level, above).holds(world, points)
            assert bool((found == wanted)[clear].all()), (said, level, above)


@pytest.mark.parametrize("seed", range(25))
def test_numbers_without_a_step_are_counted_exactly(seed: int) -> None:
    draw = random.Random(seed)
    said = list(dict.fromkeys(statement(draw) for _ in range(5)))
    rules = [nbr.Clause(each, draw.uniform(0.2, 0.9), source=draw.choice([None, *oracle.SOURCES])) for each in said]
    model = nbr.Reasoner(WORLD, rules)
    question, given = draw.choice(["a", "t>=2", "b & t<=3"]), draw.choice(["g=x", "t>=1", "a | b"])
    member, inside = (nbr.parse(each).holds(WORLD, POINTS).double().numpy() for each in (question, given))
    wanted = oracle.answer(model, POINTS, member, inside)
    found = model.ask(question, given, engine="counting", tolerance=0.0)
    assert found.exact
    # Sets without their end, as t<2 in what speaks against t>=2, come as close as one likes: a step of the list apart.
    near = 1e-9 if question == "a" else 1 / 120
    assert (found.belief, found.plausibility, found.conflict) == pytest.approx(wanted[:3], abs=near)


@pytest.mark.parametrize("seed", range(12))
def test_words_beside_closed_variables(seed: int) -> None:
    """Beside the same numbers with a step, for which every world and every point is gone through."""
    draw = random.Random(seed)
    rules = [nbr.Clause(each, draw.uniform(0.2, 0.9)) for each in ("a -> b", "b -> c")]
    rules += [
        nbr.Clause(f"({statement(draw, 1)}) | {draw.choice(['~b', 'c'])}", draw.uniform(0.2, 0.9)) for _ in range(2)
    ]
    smooth, stepped = (
        nbr.Reasoner(nbr.World({**VARIABLES, "c": nbr.Bit(), "t": number}).with_words(WORDS), rules, closed=["b", "c"])
        for number in (nbr.Real(0, 4), nbr.Real(0, 4, step=1 / 120))
    )
    for question, given in (("c", "a"), ("b", "~c"), ("a", "t>=1")):
        known = stepped.ask(question, given, engine="least")
        found = smooth.ask(question, given, tolerance=0.0)
        assert found.exact
        numbers = (found.belief, found.plausibility, found.conflict)
        assert numbers == pytest.approx((known.belief, known.plausibility, known.conflict), abs=1e-9)


def test_how_often_beside_closed_variables() -> None:
    world = nbr.World(t=nbr.Real(0, 4, step=1), a=nbr.Bit(), c=nbr.Bit()).with_words({"hot": {"t": [1, 3]}})
    model = nbr.Reasoner(world, [nbr.Clause("hot", 0.5), nbr.Clause("a -> c", 0.5)], closed=["c"])
    # Each t weighs .5 + .5 hot(t), with grades 0, 0, 1/2, 1, 1; c is independent of it.
    found = model.probability("t>=3")
    assert found.exact
    assert found.value == pytest.approx(2 / (0.5 + 0.5 + 0.75 + 2))
    assert model.probability("c", "a & t>=3").value == pytest.approx(0.5)


def test_a_question_with_degrees_beside_closed_variables() -> None:
    rules = [nbr.Clause("t>=2", 0.6), nbr.Clause("a -> c", 0.5)]
    model = nbr.Reasoner(nbr.World({**VARIABLES, "c": nbr.Bit()}).with_words(WORDS), rules, closed=["c"])
    found = model.ask("hot")
    assert found.exact
    assert (found.belief, found.plausibility) == pytest.approx((0.6 * 0.5, 1.0))
    fuzzy = nbr.Reasoner(model.world, [*rules, nbr.Clause("cold | c", 0.5)], closed=["c"])
    unknown = fuzzy.ask("hot")
    assert (unknown.belief, unknown.plausibility, unknown.exact) == (0, 1, False)
    assert "needs rules that have none" in unknown.notes[0]


def test_numbers_compared_beside_moving_ones_do_not_fit() -> None:
    world = nbr.World(s=nbr.Real(0, 4), t=nbr.Real(0, 4)).with_words({"hot": {"t": [1, 3]}})
    model = nbr.Reasoner(world, [nbr.Clause("s >= 2*t", 0.5), nbr.Clause("hot", 0.5)])
    with pytest.raises(nbr.NbrError, match="beside words of degree"):
        model.ask("s>=1", engine="counting")
