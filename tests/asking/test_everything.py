"""All values of all variables, beside one answer and one probability after the other."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch

import nbr
import rule_bases
from command import run
from nbr import clock
from nbr.asking import everything
from nbr.asking.question import AskSettings

GARDEN = str(Path(__file__).parents[2] / "examples" / "garden.toml")


def rates(world: nbr.World, seed: int) -> nbr.priors.Prior:
    generator = torch.Generator().manual_seed(seed)
    sizes = [0 if isinstance(each, nbr.Real) else each.size for each in world.variables.values()]
    return nbr.priors.Independent(world, [torch.rand(size, generator=generator) for size in sizes])


@pytest.mark.parametrize("seed", range(8))
def test_all_values_are_those_asked_for_one_by_one(seed: int) -> None:
    reasoner, _, given = rule_bases.mixed(seed)
    reasoner = nbr.Reasoner(reasoner.world, reasoner.rules, prior=rates(reasoner.world, seed))
    try:
        ranked = {name: reasoner.rank(name, given=given) for name in reasoner.world.names}
    except nbr.NbrError:
        with pytest.raises(nbr.NbrError):
            reasoner.marginals(given, belief=True)
        return
    (found,) = everything.every_value(reasoner.model, [given], True, AskSettings())
    for name, values in found.variables.items():
        known = {each.value: each.answer for each in ranked[name].values}
        assert {each.value for each in values} == set(known)
        for each in values:
            assert each.belief == pytest.approx(known[each.value].belief, abs=1e-9)
            assert each.plausibility == pytest.approx(known[each.value].plausibility, abs=1e-9)
            likely = None if each.probability is None else reasoner.probability(known[each.value].question, given).value
            assert each.probability == pytest.approx(likely, abs=1e-6)
        if found.notes != ("the condition has probability 0",):
            assert sum(each.probability for each in values) == pytest.approx(1.0)


def test_without_time_there_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    reasoner = rule_bases.clauses(1, 40, 60, 20)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: (ticks.append(1), now + len(ticks))[1])
    ticks: list[int] = []
    (found,) = everything.every_value(reasoner.model, [None], True, AskSettings(budget=1e-6))
    told = found.as_json()["variables"]["x7"][1]
    assert told["belief"] is None
    assert told["plausibility"] is None
    assert told["bounds"]["belief"] == [0.0, 1.0]


def test_points_are_listed_where_tables_are_too_wide() -> None:
    soft = [nbr.Memory({"x0": 1}, 0.5, 0.5), nbr.Memory({"x1": 1, "x2": 0}, 0.5, 0.5)]
    reasoner = nbr.Reasoner(nbr.World.bits(3), soft)
    found = reasoner.marginals(["x1", None])
    for row in found.itertuples():
        given = row.given if isinstance(row.given, str) else None
        assert row.probability == pytest.approx(reasoner.probability(f"{row.variable}={row.value}", given).value)


def test_what_cannot_be_weighed_is_said_in_one_line() -> None:
    draw = random.Random(0)
    wide = [nbr.Memory({f"x{draw.randrange(60)}": 1 for _ in range(3)}, 0.5, 0.7) for _ in range(30)]
    reasoner = nbr.Reasoner(nbr.World.bits(60), wide)
    with pytest.raises(nbr.NbrError, match="not all values can be computed at once: several fuzzy rules"):
        reasoner.marginals()


def test_command_line() -> None:
    told = json.loads(run("ask", GARDEN, "--all", "--given", "rain", "--json").stdout)
    assert list(told["variables"]) == ["rain", "sprinkler", "grass"]
    dry, wet = told["variables"]["grass"]
    assert (dry["value"], wet["value"]) == ("dry", "wet")
    assert wet["probability"] == pytest.approx(1 / 1.1)
    assert wet["belief"] is wet["plausibility"] is None
    told = json.loads(run("ask", GARDEN, "--all", "--belief", "--given", "rain", "--json").stdout)
    assert told["variables"]["grass"][1]["belief"] == pytest.approx(0.9)
    shown = run("ask", GARDEN, "--all", "--belief").stdout
    assert "no base rates" in shown
    assert max(map(len, shown.splitlines())) <= 80
    done = run("ask", GARDEN, "rain", "--all")
    assert (done.returncode, done.stderr) == (
        2,
        "nbr: --all shows the values of all variables, and cannot be combined with a question\n",
    )
    assert run("ask", GARDEN, "rain", "--belief").returncode == 2
