"""Names of ways: those that a user may type are those that an answer prints."""

from __future__ import annotations

import pytest

import nbr
from nbr.asking.ways import names
from nbr.errors import NbrError

RULES = [nbr.Clause(f"x{bit} -> x{bit + 1}", 0.9) for bit in range(5)]
MODELS = {
    "open": nbr.Reasoner(nbr.World.bits(6), [*RULES, nbr.Clause("~x5", 0.3)]),
    "closed": nbr.Reasoner(nbr.World.bits(6), RULES, closed=("x5",)),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", names())
def test_what_may_be_typed_is_what_is_printed(name: str, model: str) -> None:
    try:
        printed = MODELS[model].ask("x5", given="x0", engine=name).engine.split(" and ")
    except NbrError as error:
        assert "does not fit" in str(error)
        return
    assert {*printed} <= {*names()} - {"auto"}
    assert name in ("auto", *printed)
