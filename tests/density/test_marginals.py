"""All values at once, beside one probability after the other."""

from __future__ import annotations

import pytest

import nbr


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
