"""Names and labels with spaces, with and without quotes."""

from __future__ import annotations

import pytest

import nbr
from nbr.language import parse

WORLD = nbr.World(
    {
        "blood pressure": nbr.Real(60, 220),
        "blood pressure at home": nbr.Real(60, 220),
        "weight [kg]": nbr.Real(30, 200),
        "x-ray": nbr.Bit(),
        "city": nbr.Choice("New York", "York", "St. John's"),
        "a": nbr.Bit(),
    }
)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("blood pressure>=140", '"blood pressure">=140'),
        ("a, blood pressure at home < 90", 'a, "blood pressure at home" < 90'),
        ("blood pressure at home >= 90 -> weight [kg]>70", '"blood pressure at home" >= 90 -> "weight [kg]">70'),
        ("city=New York | city=York", 'city="New York" | city=York'),
        ("city in {New York, St. John's}", 'city in {"New York", "St. John\'s"}'),
        ("~x-ray & a", '~"x-ray" & a'),
        ("'blood pressure'>=140, weight [kg] > 70", '"blood pressure">=140, "weight [kg]" > 70'),
    ],
)
def test_names_with_spaces_are_read_without_quotes(written: str, meant: str) -> None:
    assert str(parse(written, WORLD)) == str(parse(meant, WORLD))


def test_what_is_still_wrong_is_told_of_the_text_as_it_stands() -> None:
    with pytest.raises(nbr.NbrError, match="blood pressure >= 140 &.$"):
        parse("blood pressure >= 140 &", WORLD)
    with pytest.raises(nbr.NbrError):
        parse("blood pressur>=140", WORLD)
    with pytest.raises(nbr.NbrError):
        parse("blood pressure>=140")  # nobody knows the names


def test_another_world_is_not_misled_by_what_was_read_before() -> None:
    parse("x-ray & a", WORLD)
    with pytest.raises(nbr.NbrError):
        parse("x-ray & a", nbr.World.bits(3)).check(nbr.World.bits(3))


def test_questions_and_conditions() -> None:
    rules = [nbr.Clause('"x-ray" -> city="New York"', 0.9), nbr.Clause('"blood pressure">=140 -> a', 0.7)]
    model = nbr.Reasoner(WORLD, rules)
    assert model.ask("city=New York", "x-ray").belief == pytest.approx(0.9)
    assert model.ask("a", "blood pressure=150").belief == pytest.approx(0.7)
