"""Hostile questions, as a question and as a condition: an answer within [0, 1], or one line, and quickly."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import nbr
from command import run
from hostile_queries import QUERIES

WORLD = nbr.World({**{f"x{at}": nbr.Bit() for at in range(6)}, "c": nbr.Choice("red", "blue"), "t": nbr.Real(0, 40)})
RULES = [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("t>=20 -> c=red", 0.7)]
MODEL = nbr.Reasoner(WORLD, RULES)
LONGEST = 5.0  # seconds, on a machine that has other things to do; most take milliseconds


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("place", ["question", "condition"])
def test_an_answer_or_one_line(name: str, place: str) -> None:
    pair = (QUERIES[name], None) if place == "question" else ("x1", QUERIES[name])
    began = time.monotonic()
    try:
        answer = MODEL.ask(*pair, budget=1.0)
        assert 0 <= answer.belief <= answer.plausibility <= 1
        assert 0 <= answer.conflict <= 1
    except nbr.NbrError as error:
        assert str(error)
        assert "\n" not in str(error)
        assert len(str(error)) < 2_000
    assert time.monotonic() - began < LONGEST


@pytest.mark.parametrize("name", ["signs alone", "an escape code", "a null", "a line break", "half a character"])
def test_the_command_line_says_it_in_one_line(name: str, tmp_path: Path) -> None:
    MODEL.save(tmp_path / "m.nbr")
    done = run("ask", tmp_path / "m.nbr", QUERIES[name])
    assert done.returncode in (0, 2)
    assert done.stderr.count("\n") == (done.returncode == 2)
    assert "\x1b" not in done.stderr
