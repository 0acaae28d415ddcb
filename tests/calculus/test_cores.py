"""Few sets of rules that allow no point: counted without a counter, as by the definitions."""

from __future__ import annotations

import pytest

import nbr
import rule_bases
from nbr.calculus import cores
from nbr.encodings import StatementEncoding
from nbr.language import parse


def asked(model: nbr.Reasoner, question: str, given: str) -> list[float] | None:
    formula = StatementEncoding.of(model.model, parse(question), parse(given)).formula(1.0)
    return cores.probabilities(formula, ("yes", "no", "all"), lambda: float("inf"))


def test_probabilities_are_those_of_listed_points() -> None:
    told = 0
    for seed in range(40):
        model = rule_bases.clauses(seed, 8, 9, 3)
        found = asked(model, "x0", "x1 | x2")
        if found is None:
            continue
        yes, no, whole = found
        if whole == 0:
            with pytest.raises(nbr.NbrError):
                model.ask("x0", "x1 | x2", engine="lattice")
            continue
        right = model.ask("x0", "x1 | x2", engine="lattice")
        assert yes / whole == pytest.approx(right.plausibility, abs=1e-12)
        assert 1 - no / whole == pytest.approx(right.belief, abs=1e-12)
        assert 1 - whole == pytest.approx(right.conflict, abs=1e-12)
        told += right.belief > 0
    assert told > 10


def test_certain_rules_and_rules_not_believed_at_all() -> None:
    rules = {"a": 1.0, "a -> b": 0.6, "a -> ~b": 0.5, "~a": 0.0, "~b": 1.0}
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit())
    model = nbr.Reasoner(world, [nbr.Clause(text, belief) for text, belief in rules.items()])
    assert asked(model, "b", "true") == pytest.approx([0.0, 0.4, 0.4])
    assert asked(model, "a", "b") == [0.0, 0.0, 0.0]


def test_many_sets_are_left_to_others() -> None:
    rules = [nbr.Clause(text, 0.5) for i in range(12) for text in (f"x{i}", f"~x{i}")]
    model = nbr.Reasoner(nbr.World.bits(12), rules)
    assert asked(model, "x0", "true") is None
    assert model.ask("x0", engine="counting").exact
