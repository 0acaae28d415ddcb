"""Elimination in thin graphs of fuzzy rules against the definitions."""

from __future__ import annotations

import random

import pytest
import torch
from torch import nn

import nbr
from nbr.encodings import elimination
from nbr.encodings.elimination import Elimination
from nbr.language import parse
from nbr.ways import Limits

COLOUR = nbr.Choice("red", "green", "blue")


def chain(length: int, seed: int) -> nbr.Reasoner:
    """Networks, memories and clauses, each on two to three neighbours, one of them a choice."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    world = nbr.World({f"x{i}": COLOUR if i == 2 else nbr.Bit() for i in range(length + 2)})
    rules: list[nbr.Rule] = []
    for i in range(length):
        names = draw.sample([f"x{j}" for j in range(i, i + 3)], 3)
        columns = sum(3 if name == "x2" else 1 for name in names)
        if draw.random() < 0.6:
            network = nn.Sequential(nn.Linear(columns, 6), nn.ReLU(), nn.Linear(6, 1))
            for parameter in network.parameters():
                parameter.data *= 4
            rules.append(nbr.Neural(names, network, draw.random()))
        elif draw.random() < 0.5:
            rules.append(nbr.Memory({f"x{i}": "blue" if i == 2 else 1, f"x{i + 1}": "red" if i == 1 else 0}, 0.7, 0.6))
        else:
            rules.append(nbr.Clause("x2=green | x0" if i < 3 else f"x{i} -> ~x{i + 1}", draw.random()))
    return nbr.Reasoner(world, rules)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("asked", [("x0", None), ("x1 | x4", "x3, x2!=red"), ("count(x0, x1, x4)>=2", "x5 -> x3")])
def test_few_rules_exactly(seed: int, asked: tuple[str, str | None]) -> None:
    model = chain(6, seed)
    question, given = asked
    right = model.ask(question, given, engine="lattice")
    with torch.no_grad():
        source = Elimination(model.model, parse(question), None if given is None else parse(given))
        found = source.solve(Limits.within(10))
    assert found.exact
    assert found.ratio(0, 2)[0] == pytest.approx(right.plausibility, abs=1e-12)
    assert 1 - found.ratio(1, 2)[0] == pytest.approx(right.belief, abs=1e-12)
    assert 1 - found.bounds(2)[0] == pytest.approx(right.conflict, abs=1e-12)


def test_drawn_worlds_of_more_rules() -> None:
    held = 0
    for seed in range(5):
        model = chain(14, 50 + seed)
        right = model.ask("x7", "x0", engine="lattice")
        with torch.no_grad():
            found = Elimination(model.model, parse("x7"), parse("x0")).solve(Limits.within(5, 0.05))
        low, high = found.ratio(0, 2)
        held += low <= right.plausibility <= high
        low, high = found.bounds(2)
        held += low <= 1 - right.conflict <= high
        assert high - low < 0.2
    assert held >= 9  # 95% intervals


def test_auto_eliminates_in_long_chains() -> None:
    answer = chain(40, 3).ask("x20", "x0", budget=3.0, tolerance=0.05)
    assert "elimination" in answer.engine or answer.bounds.kind == "proved"
    assert answer.uncomputed < 0.4


def test_what_cannot_be_eliminated_is_said() -> None:
    world = nbr.World({**{f"x{i}": nbr.Bit() for i in range(20)}, "t": nbr.Real(0, 1)})
    names = [f"x{i}" for i in range(20)]
    wide = nbr.Reasoner(world, [nbr.Neural(names, nn.Linear(20, 1), 0.5)])
    assert "more than 4,096" in (Elimination.unfit(wide.model, parse("x0"), None) or "")
    number = nbr.Reasoner(world, [nbr.Neural("t", nn.Linear(1, 1), 0.5)])
    assert "a number" in (Elimination.unfit(number.model, parse("x0"), None) or "")
    pairs = [nbr.Neural([a, b], nn.Linear(2, 1), 0.5) for a in names for b in names if a < b]
    knit = nbr.Reasoner(world, pairs)
    assert "too many rules share variables" in (Elimination.unfit(knit.model, parse("x0"), None) or "")


def test_no_order_is_looked_for_where_none_is_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crisp rules need no tables, and a search for an order ends with the first table that is too large."""
    names = [f"x{number}" for number in range(60)]
    scopes = [(one, other) for one in names for other in names if one < other]
    order, largest = elimination._order(scopes, nbr.World.bits(60))
    assert len(order) == 1
    assert largest > elimination.WIDEST

    def asked(*question: object) -> str:
        raise AssertionError("crisp rules were to be eliminated")

    monkeypatch.setattr(elimination.Elimination, "unfit", asked)
    monkeypatch.setattr("nbr.calculus.ganak.available", lambda: False)
    rules = [nbr.Clause(f"{one} | ~{other}", 0.6) for one, other in scopes[:40]]
    answer = nbr.Reasoner(nbr.World.bits(60), rules).ask("x0", "x5", budget=0.5)
    assert answer.engine in ("drawn", "frontier")
