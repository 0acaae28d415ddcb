"""A rule with a degree is no question and no condition: its degree would be ignored without a word."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import nbr

MODEL = nbr.Reasoner(nbr.World(a=nbr.Bit(), b=nbr.Bit()), [nbr.Clause("a -> b", 0.9)])
HALF = nbr.Clause("a", 0.8)
SURE = nbr.Clause("a", 1.0)

ROADS: list[Callable[[nbr.Rule], object]] = [
    lambda rule: MODEL.ask("b", rule),
    lambda rule: MODEL.ask(rule),
    lambda rule: MODEL.ask(rule, "a"),
    lambda rule: MODEL.explain("b", rule),
    lambda rule: MODEL.explain(rule),
    lambda rule: MODEL.rank("b", rule),
    lambda rule: MODEL.most_plausible(rule),
    lambda rule: MODEL.given(rule),  # type: ignore[arg-type]
    lambda rule: MODEL.given("b").ask(rule),
    lambda rule: MODEL.probability("b", rule),  # type: ignore[arg-type]
    lambda rule: MODEL.probability(rule),  # type: ignore[arg-type]
    lambda rule: MODEL.sample(2, rule),  # type: ignore[arg-type]
    lambda rule: MODEL.ask_many([("b", rule)]),  # type: ignore[list-item]
    lambda rule: MODEL.ask_many([rule]),  # type: ignore[list-item]
]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("rule", [HALF, nbr.Memory({"a": 1}, 0.5, 0.8), nbr.Fuzzy(lambda points: points[:, 0], 0.8)])
def test_a_degree_is_refused_in_one_line(road: Callable[[nbr.Rule], object], rule: nbr.Rule) -> None:
    with pytest.raises(nbr.NbrError, match=r"(condition|question|observation)\b.*: ") as error:
        road(rule)
    assert "\n" not in str(error.value)


def test_what_would_work_is_said() -> None:
    with pytest.raises(nbr.NbrError, match=r"^condition: a is believed to 0.8, .* give belief=1, or make it a rule"):
        MODEL.ask("b", HALF)


def test_a_set_of_points_without_a_degree_is_a_condition_as_before() -> None:
    assert MODEL.ask("b", SURE).bounds == MODEL.ask("b", "a").bounds
    half = nbr.Fuzzy(lambda points: 0.5 + 0.5 * points[:, 0])
    assert MODEL.ask("b", half).belief == pytest.approx(MODEL.ask("b", lambda points: 0.5 + 0.5 * points[:, 0]).belief)
    assert MODEL.ask(SURE, "b").bounds == MODEL.ask("a", "b").bounds
