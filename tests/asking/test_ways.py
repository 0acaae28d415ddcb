"""Ways: names that a user may type are those that an answer prints, and whatever is registered is tried."""

from __future__ import annotations

import pytest

import nbr
from nbr.asking import ways
from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome
from nbr.asking.ways import names
from nbr.errors import NbrError
from nbr.ways import Cost, Limits, Way

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


class Toy(Way[AskedPart, Outcome]):
    """It finds nothing, and cheaply."""

    name = "toy"

    def __init__(self) -> None:
        self.asked: list[AskedPart] = []

    def cost(self, asked: AskedPart) -> Cost:
        return Cost(1e-4)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome | None:
        self.asked.append(asked)
        return None


def test_a_way_that_is_registered_is_tried_where_nothing_answers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = Toy()
    monkeypatch.setattr(ways, "WAYS", [*ways.WAYS, toy])
    MODELS["open"].ask("x5", given="x0")
    assert not toy.asked
    rules = [nbr.Clause(f"x{bit} -> x{bit + 1}", 0.9) for bit in range(20)]
    answer = nbr.Reasoner(nbr.World.bits(21), rules).ask("x20", given="x0")
    assert answer.exact
    assert len(toy.asked) == 1
    with pytest.raises(NbrError, match="the engine 'toy' found nothing in time"):
        nbr.Reasoner(nbr.World.bits(21), rules).ask("x20", given="x0", engine="toy")
