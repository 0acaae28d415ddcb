"""All values of a variable, and the most plausible point, against asking one by one and going through all points."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

import nbr
import rule_bases
from command import run
from nbr.asking import best as best_module
from nbr.asking.maxima import MAXIMA
from nbr.calculus.point import keep_probability
from nbr.points.cell_grid import world_cells

WORLD = nbr.World(
    {"rain": nbr.Bit(), "wind[north]": nbr.Choice("calm", "2bft", "gale"), "t": nbr.Real(-20, 45), "free": nbr.Bit()}
)
RULES = [
    nbr.Clause("wind[north]=gale -> rain", 0.8),
    nbr.Clause("t<0 -> ~rain", 0.9),
    nbr.Clause("15<=t<=20 -> wind[north]=calm", 0.6),
    nbr.Clause("t=4 -> rain", 0.5),
]
GARDEN = Path(__file__).parents[2] / "examples" / "garden.toml"


def points(reasoner: nbr.Reasoner, *conditions: str) -> torch.Tensor:
    """One point for every way in which rules and conditions can tell points apart."""
    cuts: dict[str, set[float]] = {}
    for part in [*(rule.cuts() for rule in reasoner.rules), *(nbr.parse(c).cuts(reasoner.world) for c in conditions)]:
        for name, numbers in part.items():
            cuts.setdefault(name, set()).update(numbers)
    return torch.cat([chunk for chunk, _ in world_cells(reasoner.world, cuts, (), 1).chunks()])


def test_labels_are_ranked_as_they_are_asked() -> None:
    reasoner = nbr.Reasoner(WORLD, RULES)
    found = reasoner.rank("wind[north]", given="~rain, t=17")
    assert [each.value for each in found.values] == ["calm", "2bft", "gale"]
    for each in found.values:
        alone = reasoner.ask(f"wind[north]={each.value}", given="~rain, t=17")
        assert each.answer.belief == pytest.approx(alone.belief)
        assert each.answer.plausibility == pytest.approx(alone.plausibility)
    assert found.best == "calm"
    assert found.exact
    assert found.values[0].answer.plausibility == 1
    assert found.values[2].answer.plausibility == pytest.approx(0.2 * 0.4)


def test_a_number_is_ranked_by_its_pieces() -> None:
    reasoner = nbr.Reasoner(WORLD, RULES)
    found = reasoner.rank("t", given="rain, wind[north]=gale, t<=40")
    pieces = {
        "from -20 below 0": "t<0",
        "from 0 below 4": "0<=t<4",
        "4": "t=4",
        "above 4 below 15": "4<t<15",
        "from 15 to 20": "15<=t<=20",
        "above 20 to 40": "20<t<=40",
        "above 40 to 45": "t>40",
    }
    assert {each.value for each in found.values} == set(pieces)
    for each in found.values:
        alone = reasoner.ask(pieces[each.value], given="rain, wind[north]=gale, t<=40")
        assert each.answer.plausibility == pytest.approx(alone.plausibility)
        assert each.answer.belief == pytest.approx(alone.belief)
    assert found.values[-1].value == "above 40 to 45"
    assert found.values[-2].answer.plausibility == pytest.approx(0.1)


def test_a_number_that_nobody_compares_is_one_piece_and_a_smooth_one_has_several() -> None:
    assert [each.value for each in nbr.Reasoner(WORLD).rank("t").values] == ["from -20 to 45"]
    warm = nbr.Fuzzy(lambda t: torch.sigmoid(t[:, 0] / 4 - 5), 0.8, inputs="t", lipschitz=1 / 16)
    found = nbr.Reasoner(WORLD, [warm]).rank("t", budget=1)
    ends = {each.value: float(each.value.split()[-1]) for each in found.values}
    assert sorted(ends.values()) == [-20 + 65 * piece / 8 for piece in range(1, 9)]
    for each in found.values:  # the grade rises, so that the best of a piece is at its end
        most, whole = (0.2 + 0.8 / (1 + math.exp(5 - end / 4)) for end in (ends[each.value], 45.0))
        low, high = each.answer.bounds.plausibility
        assert low - 1e-6 <= most / whole <= high + 1e-6


def test_counts_and_dates_are_ranked_by_the_values_that_they_have() -> None:
    world = nbr.World(visits=nbr.Real(0, 10, step=1), day=nbr.Real("2021-01-01", "2021-12-31"), ill=nbr.Bit())
    rules = [nbr.Clause("visits>3 & visits<6 -> ill", 0.7), nbr.Clause("day<2021-03-01 -> ill", 0.8)]
    reasoner = nbr.Reasoner(world, [*rules, nbr.Clause("visits=6 -> ~ill", 0.5)])
    counts = reasoner.rank("visits", given="~ill")
    assert {each.value for each in counts.values} == {"from 0 to 3", "from 4 to 5", "6", "from 7 to 10"}
    assert (counts.values[-1].value, counts.values[-1].answer.plausibility) == ("from 4 to 5", pytest.approx(0.3))
    days = reasoner.rank("day", given="~ill")
    assert [each.value for each in days.values] == ["from 2021-03-01 to 2021-12-31", "from 2021-01-01 to 2021-02-28"]
    assert days.values[1].answer.plausibility == pytest.approx(0.2)


def test_labels_that_nothing_tells_apart_are_asked_once(monkeypatch) -> None:
    asked = []
    real = nbr.asking.question.ask
    monkeypatch.setattr(nbr.asking.question, "ask", lambda *args: asked.append(args[1]) or real(*args))
    world = nbr.World(c=nbr.Choice(*(f"l{i}" for i in range(1000))))
    found = nbr.Reasoner(world, [nbr.Clause("c in {l3, l4}", 0.7)]).rank("c")
    assert len(asked) == 2
    assert [each.value for each in found.values[:2]] == ["l3", "l4"]
    assert found.values[2].answer.plausibility == pytest.approx(0.3)
    assert len(found.values) == 1000


@pytest.mark.parametrize("seed", range(20))
def test_rankings_of_random_bases(seed: int) -> None:
    reasoner, _, given = rule_bases.mixed(seed)
    try:
        reasoner.ask("true", given=given)
    except nbr.NbrError:
        return
    for name, variable in reasoner.world.variables.items():
        found = reasoner.rank(name, given=given)
        shown = [(-each.answer.plausibility, -each.answer.belief) for each in found.values]
        assert shown == sorted(shown)
        assert max(each.answer.plausibility for each in found.values) > 0
        if isinstance(variable, nbr.Choice):
            for each in found.values:
                alone = reasoner.ask(f"{name}={each.value}", given=given)
                assert each.answer.belief == pytest.approx(alone.belief, abs=1e-9)
                assert each.answer.plausibility == pytest.approx(alone.plausibility, abs=1e-9)


@pytest.mark.parametrize("way", ["points", "maxsat"])
@pytest.mark.parametrize("seed", range(40))
def test_most_plausible_point(seed: int, way: str, monkeypatch) -> None:
    monkeypatch.setattr(best_module, "MAXIMA", [each for each in MAXIMA if each.name == way])
    reasoner, _, given = rule_bases.mixed(seed)
    everywhere = points(reasoner, given)
    everywhere = everywhere[nbr.parse(given).holds(reasoner.world, everywhere)]
    degrees = keep_probability(reasoner.grades(everywhere), reasoner.beliefs)
    if not len(degrees) or float(degrees.max()) == 0:
        with pytest.raises(nbr.NbrError, match="cannot hold|contradict"):
            reasoner.most_plausible(given)
        return
    found = reasoner.most_plausible(given)
    assert found.exact
    assert found.degree == pytest.approx(float(degrees.max()), abs=1e-9)
    point = reasoner.world.point(found.point)[None]
    assert bool(nbr.parse(given).holds(reasoner.world, point))
    grades = reasoner.grades(point)[0]
    assert float(keep_probability(grades, reasoner.beliefs)) == pytest.approx(found.degree)
    assert found.broken == tuple((grades == 0).nonzero().flatten().add(1).tolist())
    for column, name in enumerate(reasoner.world.names):
        others = everywhere[:, column].unique()
        beside = point.repeat(len(others), 1)
        beside[:, column] = others
        beside = beside[(others != point[0, column]) & nbr.parse(given).holds(reasoner.world, beside)]
        as_good = keep_probability(reasoner.grades(beside), reasoner.beliefs) >= found.degree - 1e-9
        assert (name in found.open) == bool(as_good.any())


def test_most_plausible_point_when_time_is_up(monkeypatch) -> None:
    monkeypatch.setattr(best_module, "MAXIMA", [each for each in MAXIMA if not each.proves])
    reasoner = rule_bases.clauses(1, 60, 67, 20)
    greedy = reasoner.most_plausible()
    monkeypatch.undo()
    exact = reasoner.most_plausible()
    assert not greedy.exact
    assert exact.exact
    assert 0 < greedy.degree <= exact.degree + 1e-12


def test_most_plausible_point_of_fuzzy_rules_and_conditions() -> None:
    world = nbr.World.bits(3)
    soft = nbr.Fuzzy(lambda points: 0.2 + 0.6 * points[:, 0], 0.5)
    reasoner = nbr.Reasoner(world, [soft, nbr.Clause("x1", 0.4)])
    found = reasoner.most_plausible(lambda points: 1 - 0.9 * points[:, 1])
    # x0=1, x1=0: min of 0.8 (if there) and 1; x1 there or not, x1=0 breaks it
    every = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 3)
    grades = torch.cat([reasoner.grades(every), (1 - 0.9 * every[:, 1])[:, None]], dim=1)
    degrees = keep_probability(grades, torch.cat([reasoner.beliefs, torch.ones(1, dtype=torch.float64)]))
    assert found.degree == pytest.approx(float(degrees.max()))
    assert found.open == ("x2",)


def test_command_line() -> None:
    done = run("ask", GARDEN, "grass", "--given", "rain")
    assert done.returncode == 0, done.stderr
    assert "  wet  [0.9000, 1.0000]" in done.stdout
    told = json.loads(run("ask", GARDEN, "grass", "--given", "rain", "--json").stdout)
    assert told["variable"] == "grass"
    assert [each["value"] for each in told["values"]] == ["wet", "dry"]
    assert told["values"][1]["plausibility"] == pytest.approx(0.1)
    best = json.loads(run("best", GARDEN, "--given", "grass=dry", "--given", "rain", "--json").stdout)
    assert best["point"] == {"rain": "1", "sprinkler": "0", "grass": "dry"}
    assert best["broken"] == [1]
    assert best["degree"] == pytest.approx(0.1)
    assert "it breaks" in run("best", GARDEN, "--given", "grass=dry, rain").stdout


def test_wrong_rankings() -> None:
    reasoner = nbr.Reasoner(WORLD, RULES)
    with pytest.raises(nbr.NbrError, match="unknown variable 'wnd'"):
        reasoner.rank("wnd")
    with pytest.raises(nbr.NbrError, match="by its name"):
        reasoner.rank(3)  # type: ignore[arg-type]
    with pytest.raises(nbr.NbrError, match="is a choice"):
        reasoner.ask("wind[north]")
