"""Answers by counting and by drawn worlds against those from a list of all points."""

from __future__ import annotations

import pytest

import nbr
import rule_bases

pytest.importorskip("pyganak")
pytest.importorskip("pysat")


def asked(model: nbr.Reasoner, question: str, given: str | None, **settings: object) -> nbr.Answer | str:
    try:
        return model.ask(question, given, **settings)  # type: ignore[arg-type]
    except nbr.NbrError as error:
        return str(error)


def same(one: nbr.Answer, other: nbr.Answer) -> bool:
    numbers = [(a.belief, a.plausibility, a.conflict) for a in (one, other)]
    return all(abs(a - b) < 1e-9 for a, b in zip(*numbers, strict=True))


@pytest.mark.parametrize("block", range(8))
def test_counting_equals_listing(block: int) -> None:
    answered = 0
    for seed in range(25 * block, 25 * block + 25):
        model, question, given = rule_bases.mixed(seed)
        listed = asked(model, question, given, engine="lattice")
        counted = asked(model, question, given, engine="counting")
        if isinstance(listed, str):
            assert isinstance(counted, str), seed
            assert counted == listed, seed
        else:
            assert isinstance(counted, nbr.Answer), seed
            assert counted.exact, seed
            assert same(listed, counted), seed
            answered += 1
    assert answered > 10


@pytest.mark.parametrize("block", range(4))
def test_drawn_worlds_hold_the_truth(block: int) -> None:
    held = asked_for = 0
    for seed in range(10 * block, 10 * block + 10):
        model, question, given = rule_bases.mixed(seed)
        listed = asked(model, question, given, engine="lattice")
        if isinstance(listed, str):
            continue
        found = model.ask(question, given, engine="drawn", budget=2.0, tolerance=0.05)
        for name in ("belief", "plausibility", "conflict"):
            truth, (low, high) = getattr(listed, name), getattr(found.bounds, name)
            asked_for += 1
            held += low - 1e-9 <= truth <= high + 1e-9
            if found.sure is not None:
                least, most = getattr(found.sure, name)
                assert least - 1e-9 <= truth <= most + 1e-9, (seed, name)
    assert asked_for > 9
    assert held >= 0.9 * asked_for
