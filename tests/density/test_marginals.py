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
    assert list(found.columns) == ["given", "variable", "value", "probability"]
    for row in found.itertuples():
        said = ", ".join(f"t{part}" for part in row.value.split(", ")) if row.variable == "t" else None
        question = (said if row.value[0] in "<>" else f"t={row.value}") if said else f"{row.variable}={row.value}"
        condition = row.given if isinstance(row.given, str) else None
        assert row.probability == pytest.approx(reasoner.probability(question, condition).value, abs=1e-9)
    assert set(found[found["variable"] == "t"]["value"]) == {"<1", "1", ">1, <2", "2", ">2, <7", "7", ">7"}
    assert found.groupby(found["given"].fillna(""))["probability"].sum().tolist() == pytest.approx([3.0, 3.0, 3.0])


def test_a_condition_without_probability_leaves_cells_empty() -> None:
    assert model().marginals("a & ~a")["probability"].isna().all()


def test_what_is_too_wide_is_said_in_one_line() -> None:
    reasoner = nbr.Reasoner(nbr.World.bits(2), [nbr.Memory({"x0": 1}, 0.5, 0.5), nbr.Memory({"x1": 1}, 0.5, 0.5)])
    with pytest.raises(nbr.NbrError, match="not all values can be weighed at once: several fuzzy rules"):
        reasoner.marginals()
