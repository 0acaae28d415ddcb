"""Few words that stand for many names: refused before they are written out, and read in little memory."""

import threading
import time
import tracemalloc

import pytest

import nbr
from nbr.errors import NbrError
from nbr.language import parser
from nbr.language.ranges import MOST

MAJORITY = nbr.Reasoner(nbr.World.bits(11), [nbr.Clause("x0 <-> majority(x1..x10)", 0.9)])
LARGE = [
    ", ".join(["x0..x19999"] * 332),
    "x0..x19999 in {" + "1, " * 900 + "1}",
    "1e9*count(x0, x1)>=3",
    "count(x0..x19999) - 3*count(x0..x9999)>=2",
    ", ".join(["x0..x4999<1"] * 5),
]


@pytest.mark.parametrize("words", LARGE)
@pytest.mark.parametrize("bits", [11, 20_000])
def test_a_statement_that_stands_for_too_much_is_refused_at_once(words: str, bits: int) -> None:
    world = nbr.World.bits(bits)
    start = time.process_time()
    with pytest.raises(NbrError, match=r"more than 20,000 names|unknown variable 'x11'") as caught:
        nbr.parse(words, world)
    assert caught.value.at is not None
    assert time.process_time() - start < 1.0


def test_a_statement_that_is_refused_leaves_nothing_behind() -> None:
    tracemalloc.start()
    try:
        for words in LARGE:
            with pytest.raises(NbrError):
                nbr.parse(words)
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1e6
    assert most < 40e6


def test_a_range_is_looked_for_in_the_world_before_it_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    atom = parser.ex.Atom
    monkeypatch.setattr(parser.ex, "Atom", lambda *parts, **named: made.append(parts) or atom(*parts, **named))
    for verb in (MAJORITY.ask, MAJORITY.probability, MAJORITY.explain, lambda words: MAJORITY.ask("true", words)):
        with pytest.raises(NbrError, match=r"unknown variable 'x11'.*at character 1"):
            verb("x0..x15000")
    assert made == []
    assert MAJORITY.ask("any(x0..x10)").plausibility == 1.0
    assert len(made) > 10


def test_quoted_dots_are_no_range() -> None:
    words = " | ".join(f'name="a1..a{19_990 + number}"' for number in range(5))
    assert len(nbr.parse(words).parts) == 5


def test_as_many_names_as_are_allowed_are_read() -> None:
    assert len(nbr.parse(f"any(x1..x{MOST})").parts) == MOST
    with pytest.raises(NbrError, match="names more than 20000 variables"):
        nbr.parse(f"x0..x{MOST}")
    with pytest.raises(NbrError, match=r"more than 20,000 names, from character 14 on"):
        nbr.parse("x1..x20000 & y1..y2")


def test_each_statement_is_counted_for_itself_in_every_thread() -> None:
    wrong: list[object] = []

    def read(letter: str) -> None:
        try:
            for number in range(2):
                nbr.parse(f"{letter}1..{letter}{9_000 + number} | {letter}1..{letter}{9_000 + number}")
        except NbrError as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=[letter]) for letter in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_was_read_is_kept_within_its_bytes() -> None:
    """By a measure of the interpreter's own."""
    parser._before.clear()
    nbr.parse("x0")
    tracemalloc.start()
    try:
        for number in range(8):
            nbr.parse(f"x1..x{9_000 + number}")
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert parser._before.bytes <= parser.KEPT
    assert 0.1 * parser.KEPT < held < parser.KEPT
    parser._before.clear()
