"""All values at once, beside one probability after the other."""

from __future__ import annotations

import pytest

import nbr
from nbr.asking.everything import every_value
from nbr.asking.question import AskSettings


def model() -> nbr.Reasoner:
    world = nbr.World(a=nbr.Bit(), c=nbr.Choice("red", "green", "blue"), t=nbr.Real(0, 10))
    return nbr.Reasoner(
        world, [nbr.Clause("a -> c=red", 0.8), nbr.Clause("t>=7 -> a", 0.6), nbr.Clause("t=2 | c!=blue", 0.5)]
    )


def test_every_value_under_every_condition() -> None:
    reasoner, given = model(), [None, "a", "c=blue | t<1"]
    found = reasoner.marginals(given)
    assert list(found.columns) == ["given", "variable", "value", "probability", "low", "high"]
    pieces = {
        "from 0 below 1": "t<1",
        "from 1 below 2": "t>=1, t<2",
        "2": "t=2",
        "above 2 below 7": "t>2, t<7",
        "from 7 to 10": "t>=7",
    }
    for row in found.itertuples():
        question = pieces[row.value] if row.variable == "t" else f"{row.variable}={row.value}"
        condition = row.given if isinstance(row.given, str) else None
        assert row.probability == pytest.approx(reasoner.probability(question, condition).value, abs=1e-9)
    assert list(dict.fromkeys(found[found["variable"] == "t"]["value"])) == list(pieces)
    assert found.groupby(found["given"].fillna(""))["probability"].sum().tolist() == pytest.approx([3.0, 3.0, 3.0])


def test_a_condition_without_probability_leaves_cells_empty() -> None:
    assert model().marginals("a & ~a")["probability"].isna().all()


def test_closed_variables_are_counted_value_by_value() -> None:
    world = nbr.World({**{f"x{at}": nbr.Bit() for at in range(30)}, "t": nbr.Real(0, 4, step=1)})
    rules = [nbr.Clause(f"x{at} -> x{at + 1}", 0.8) for at in range(0, 29, 2)]
    rules += [nbr.Clause("hot -> x0", 0.5), nbr.Clause("x1 -> t>=2", 0.5, source=nbr.Source("s", 0.9))]
    model = nbr.Reasoner(world.with_words({"hot": {"t": [1, 3]}}), rules, closed=[f"x{at}" for at in range(1, 30, 2)])
    found = model.marginals("x2", budget=60.0)
    for name, value, words in (("x1", "1", "x1"), ("x3", "1", "x3"), ("t", "2", "t=2")):
        row = found[(found.variable == name) & (found.value == value)]
        assert row.probability.item() == pytest.approx(model.probability(words, "x2").value, abs=1e-12)
    assert not found.probability.isna().any()
    only = every_value(model.model, [None], True, AskSettings(budget=20.0), ["x1", "t"])[0]
    assert list(only.variables) == ["x1", "t"]
    asked = model.ask("x1")
    assert (only.variables["x1"][1].belief, only.variables["x1"][1].plausibility) == (asked.belief, asked.plausibility)
