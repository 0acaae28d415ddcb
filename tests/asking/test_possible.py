"""A choice explained as it is ranked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nbr
from command import run

INCIDENT = Path(__file__).parents[2] / "examples" / "incident.toml"


@pytest.fixture(scope="module")
def incident() -> nbr.Reasoner:
    return nbr.load(INCIDENT)


def test_values_stand_as_they_are_ranked_each_with_its_explanation(incident: nbr.Reasoner) -> None:
    found, ranked = incident.explain_values("cause", "flooded"), incident.rank("cause", "flooded")
    assert [value for each in found.ranked for value in each.values] == [each.value for each in ranked.values]
    for each, value in zip(found.ranked, ranked.values, strict=True):
        assert each.why.answer.belief == pytest.approx(value.answer.belief)
        alone = incident.explain(f'cause="{each.values[0]}"', "flooded")
        assert each.why.supports == alone.supports
        assert each.why.against == incident.explain(f'~(cause="{each.values[0]}")', "flooded").supports
    assert "First comes power cut: believed to 0.62, plausible to 0.93 (for it rules 6 (log) and 20" in found.words()
    assert "Rules 3 (guard) and 12 (weather) contradict each other." in found.words()


def test_values_that_nothing_tells_apart_are_told_together() -> None:
    world = nbr.World(rain=nbr.Bit(), grass=nbr.Choice("dry", "damp", "wet"))
    model = nbr.Reasoner(world, [nbr.Clause("rain -> grass=wet", 0.8)])
    found = model.explain_values("grass", "rain")
    assert [each.values for each in found.ranked] == [("wet",), ("dry", "damp")]
    assert [value["value"] for value in found.as_json()["values"]] == ["wet", "dry", "damp"]
    assert found.words().startswith("First comes wet: believed to 0.80, plausible to 1.00 (for it rule 1).")
    assert "Then dry or damp: believed to 0.00, plausible to 0.20 (against it rule 1)." in found.words()
    assert model.explain_values("grass").words().startswith("Not known: nothing tells the values of grass apart.")


def test_without_sets_rules_speak_each_by_itself() -> None:
    """A fuzzy rule is in no minimal set that is known for certain; what it does alone is told."""
    world = nbr.World(warm=nbr.Real(0, 30, step=5), coat=nbr.Choice("thick", "thin"))
    hot = nbr.Fuzzy(lambda points: 1 - points[:, 0] / 30 * (points[:, 1] == 0), 0.8)
    found = nbr.Reasoner(world, [hot]).explain_values("coat", "warm=30")
    assert found.ranked[0].values == ("thin",)
    assert found.ranked[0].why.favour == [[1]]
    assert found.ranked[1].why.opposed == [[1]]


def test_on_the_command_line() -> None:
    shown = run("explain", INCIDENT, "cause", "--given", "flooded").stdout
    first = shown.splitlines()[2]
    assert first.startswith("  Conflict 0.88: the rules contradict")  # words first
    assert "    for      rules 6 (log) and 20" in shown
    assert '    20  0.85  ~power -> cause="power cut"' in shown
    assert "     6  0.80  ~power   (log)" in shown
    told = json.loads(run("explain", INCIDENT, "cause", "--given", "flooded", "--json").stdout)
    assert told["values"][0]["value"] == "power cut"
    assert told["values"][0]["rules"][5]["source"] == "log"
    refused = run("explain", INCIDENT, "level")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


def test_witnesses_have_what_rules_of_the_answer_read() -> None:
    names = {f"x{at}": nbr.Bit() for at in range(30)}
    rules = [nbr.Clause(f"x{at} -> x{at + 1}", 0.9) for at in range(29) if at != 1]
    found = nbr.Reasoner(nbr.World(**names), rules).explain("x1", "x0")
    assert found.about == ("x0", "x1")
    assert found.witness is not None
    assert found.witness.shown(found.about) == "x0=1, x1=1, and 28 more that no rule of the answer reads"
    with pytest.raises(nbr.NbrError, match="is a number"):
        nbr.Reasoner(nbr.World(t=nbr.Real(0, 1)), []).explain_values("t")
