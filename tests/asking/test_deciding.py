"""What to do, against every focal set gone through, and against evtools."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from evtools import decision
from evtools.dsvector import DSVector

import models
import nbr
import oracle
import rule_bases
from command import run
from nbr.aims import Action, Aims, Payoff
from nbr.asking import deciding
from nbr.asking.question import AskSettings
from nbr.language import Expression

TIMES = int(os.environ.get("TIMES", "1"))  # 7 for more than 300 models
CRITERIA = ("maximin", "maximax", "hurwicz", "pignistic")


def focal_sets(grades: np.ndarray, beliefs: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Sets of points with their masses: the cuts of every world's membership, worlds without a point left out."""
    found = []
    for chance, shape in zip(oracle.chances(beliefs), oracle.memberships(grades), strict=True):
        before = 0.0
        for level in np.unique(shape[shape > 0]):
            found.append((float(chance * (level - before)), shape >= level))
            before = level
    whole = sum(mass for mass, _ in found)
    return [(mass / whole, points) for mass, points in found if mass > 0]


def worths(action: Action, world: nbr.World, points: torch.Tensor) -> np.ndarray:
    """What an action is worth at each point: the first entry that holds."""
    found = np.full(len(points), np.nan)
    for payoff in action.payoffs:
        held = np.ones(len(points), dtype=bool)
        if payoff.when is not None:
            held = nbr.parse(payoff.when).holds(world, points).numpy()
        found = np.where(np.isnan(found) & held, payoff.value, found)
    return found


def expected(sets: list[tuple[float, np.ndarray]], worth: np.ndarray) -> dict[str, float]:
    low = sum(mass * worth[points].min() for mass, points in sets)
    high = sum(mass * worth[points].max() for mass, points in sets)
    mean = sum(mass * np.unique(worth[points]).mean() for mass, points in sets)
    return {"maximin": low, "maximax": high, "hurwicz": 0.7 * low + 0.3 * high, "pignistic": mean}


def actions(draw: random.Random, world: nbr.World) -> tuple[Action, ...]:
    made = []
    for number in range(draw.randint(2, 4)):
        whens = [rule_bases.statement(draw, world, 1) for _ in range(draw.randint(0, 4))]
        payoffs = [Payoff(float(draw.randint(-3, 3)), when) for when in whens]
        made.append(Action(f"a{number}", (*payoffs, Payoff(float(draw.randint(-3, 3))))))
    return tuple(made)


def check(
    model: nbr.Reasoner, grades: np.ndarray, points: torch.Tensor, given: str | None, draw: random.Random
) -> bool:
    """Every criterion against all focal sets; whether there were any."""

    inside = slice(None) if given is None else nbr.parse(given).holds(model.world, points).numpy()
    sets = focal_sets(grades[inside], model.beliefs.numpy()) if len(grades[inside]) else []
    if not sets:
        return False
    doable = actions(draw, model.world)
    asked = nbr.Reasoner.of(replace(model.model, aims=Aims(actions=doable)))
    for criterion in ("pignistic", draw.choice(CRITERIA)):
        found = asked.decide(given, criterion, optimism=0.3)
        wanted = [expected(sets, worths(action, model.world, points[inside])) for action in doable]
        assert found.exact
        for each, known in zip(found.actions, wanted, strict=True):
            rivals = [other["maximin"] for other in wanted if other is not known]
            assert each.lower == pytest.approx(known["maximin"], abs=1e-9)
            assert each.upper == pytest.approx(known["maximax"], abs=1e-9)
            assert sum(each.value) / 2 == pytest.approx(known[criterion], abs=1e-9)
            assert each.dominated == (max(rivals) > known["maximax"] + 1e-9)
        best = max(known[criterion] for known in wanted)
        chosen = wanted[[each.name for each in found.actions].index(found.choice)]
        assert chosen[criterion] == pytest.approx(best, abs=1e-9)
    return True


def test_crisp_models_decide_as_their_focal_sets_do() -> None:
    compared = 0
    for seed in range(40 * TIMES):
        model, _, given = rule_bases.mixed(seed, rules=5)
        if any(isinstance(kind, nbr.Real) for kind in model.world.variables.values()):
            continue
        points = torch.cartesian_prod(*(torch.arange(kind.size).double() for kind in model.world.variables.values()))
        points = points.view(-1, len(model.world))
        draw = random.Random(seed)
        given = given if draw.random() < 0.7 else None
        compared += check(model, model.grades(points).numpy(), points, given, draw)
    assert compared >= 10 * TIMES


def test_fuzzy_models_decide_as_their_focal_sets_do() -> None:
    compared = 0
    for seed in range(40 * TIMES):
        model, table, _ = models.random_model(seed, most=4)
        draw = random.Random(seed)
        points = torch.tensor([[number >> bit & 1 for bit in range(3)] for number in range(8)]).double()
        given = draw.choice([None, "x0 | x1", "~x2"])
        compared += check(model, table, points, given, draw)
    assert compared == 40 * TIMES


def test_evtools_chooses_the_same() -> None:
    labels, draw = ("a", "b", "c"), random.Random(0)
    for _ in range(40):
        world = nbr.World(what=nbr.Choice(*labels), other=nbr.Bit())
        rules = [nbr.Clause(rule_bases.statement(draw, world), draw.uniform(0.1, 0.9)) for _ in range(4)]
        utility = np.array([[draw.uniform(-5, 5) for _ in labels] for _ in labels])
        doable = [
            Action(name, (*(Payoff(float(v), f"what={at}") for v, at in zip(row, labels, strict=True)), Payoff(0.0)))
            for name, row in zip(labels, utility, strict=True)
        ]
        model = nbr.Reasoner(world, rules).model
        points = torch.cartesian_prod(torch.arange(3).double(), torch.arange(2).double())
        masses: dict[frozenset[str], float] = {}
        for mass, members in focal_sets(model.grades(points).numpy(), model.beliefs.numpy()):
            subset = frozenset(labels[int(code)] for code in points[members][:, 0])
            masses[subset] = masses.get(subset, 0.0) + mass
        theirs = DSVector.from_sparse(list(labels), masses)

        model = replace(model, aims=Aims(actions=tuple(doable)))
        for criterion, other in (
            ("maximin", decision.maximin(theirs, utility)),
            ("maximax", decision.maximax(theirs, utility)),
            ("hurwicz", decision.hurwicz(theirs, U=utility, alpha=0.5)),
            ("pignistic", decision.pignistic_decision(theirs, utility)),
        ):
            assert deciding.decide(model, None, criterion, 0.5, AskSettings()).choice == other[1]


def test_what_was_not_computed_dominates_nothing() -> None:
    draw = random.Random(1)
    model = rule_bases.clauses(1, 60, 240, 40).model
    doable = (Action("go", (Payoff(5, rule_bases.clause(draw, 60, 3)), Payoff(-5))), Action("stay", (Payoff(0),)))

    found = deciding.decide(replace(model, aims=Aims(actions=doable)), None, "hurwicz", 0.5, AskSettings(budget=0.05))
    go = found.actions[0]
    assert not found.exact
    assert go.lower == go.low[0] <= go.low[1]
    assert go.high[0] <= go.upper == go.high[1]
    assert not found.actions[1].dominated


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('go = [{ when = "x0", value = 1 }]', "where none of these holds"),
        ('go = [{ value = 1 }, { when = "x0", value = 1 }]', "only the last"),
        ("go = []", "only the last"),
        ('go = [{ wen = "x0", value = 1 }, { value = 2 }]', "did you mean 'when'"),
        ('go = [{ when = "x9", value = 1 }, { value = 2 }]', "unknown variable 'x9'"),
        ('go = [{ when = "x0" }, { value = 2 }]', "has no value"),
        ('go = "much"', "must be a number"),
        ("go = nan", "must be a number"),
    ],
)
def test_actions_that_cannot_be_read_are_named(tmp_path, written: str, said: str) -> None:
    (tmp_path / "m.toml").write_text(f'[variables]\nx0 = "bit"\n[actions]\n{written}\n')
    with pytest.raises(nbr.NbrError, match=said) as error:
        nbr.load(tmp_path / "m.toml")
    assert "'go'" in str(error.value)


def test_aims_are_saved_and_joined(tmp_path) -> None:
    text = (
        '[things]\np = ["a", "b"]\n[variables]\n"bad[p]" = "bit"\n[observable]\n"bad[p]" = 2\n[actions]\nwait = 1.5\n'
        'fix = [{ when = "bad[a]", value = 3 }, { value = -1 }]\n'
    )
    (tmp_path / "m.toml").write_text(text)
    model = nbr.load(tmp_path / "m.toml")
    for name in ("n.nbr", "n.toml"):
        model.save(tmp_path / name)
        assert nbr.load(tmp_path / name).model.aims == model.model.aims
    assert model.model.aims.observable == {"bad[a]": 2.0, "bad[b]": 2.0}
    assert (model & model).model.aims == model.model.aims
    (tmp_path / "m.toml").write_text(text.replace("= -1", "= -2"))
    with pytest.raises(nbr.NbrError, match="the action 'fix' has different utilities"):
        model & nbr.load(tmp_path / "m.toml")


def test_pignistic_says_what_it_cannot_take() -> None:
    world = nbr.World(n=nbr.Choice(*range(12)))
    many = Action("go", (*(Payoff(float(value), f"n={value}") for value in range(11)), Payoff(11.0)))

    model = replace(nbr.Reasoner(world).model, aims=Aims(actions=(many,)))
    assert nbr.Reasoner.of(model).decide().actions[0].upper == 11
    with pytest.raises(nbr.NbrError, match="12 utilities that are possible, and pignistic takes up to 8"):
        nbr.Reasoner.of(model).decide(criterion="pignistic")
    assert nbr.Reasoner.of(model).decide("n in {0, 3}", "pignistic").actions[0].value == (1.5, 1.5)


def test_worth_is_the_first_entry_that_holds() -> None:
    world = nbr.World.bits(3)
    points = torch.tensor([[number >> bit & 1 for bit in range(3)] for number in range(8)]).double()
    action = Action("a", (Payoff(1, "x0"), Payoff(2, "x1"), Payoff(1, "x2"), Payoff(0)))
    for values in ([1], [2], [0], [0, 2], [1, 2], [0, 1, 2], []):
        found = action.worth(values)
        assert isinstance(found, Expression)
        assert found.holds(world, points).tolist() == [v in values for v in worths(action, world, points)]


NEXT = """
[variables]
a = "bit"
b = "bit"
c = "bit"
t = { from = 0, to = 10 }
[[rules]]
rule = "b <-> a"
belief = 0.9
[[rules]]
rule = "c -> a"
belief = 0.6
[[rules]]
rule = "t>5 -> a"
belief = 0.5
"""


@pytest.mark.parametrize(
    ("observable", "wanted"),
    [
        ("", ["b", "c"]),
        ("[observable]\nb = 10\nc = 1\nt = 1\n", ["c", "t", "b"]),  # 0.3, 0.25 and 0.9 for what each costs
        ("[observable]\nt = 7\n", ["t"]),
        ("[observable]\n", []),
    ],
)
def test_what_to_observe_next_is_what_can_be_by_its_cost(tmp_path, observable: str, wanted: list[str]) -> None:
    (tmp_path / "m.toml").write_text(NEXT + observable)
    found = nbr.load(tmp_path / "m.toml").explain("a")
    assert [each.variable for each in found.next] == wanted
    costs = [each["cost"] for each in found.as_json()["next"] if "cost" in each]
    assert costs == [{"b": 10, "c": 1, "t": 1}[name] if len(wanted) > 1 else 7 for name in wanted if observable]
    if wanted[:1] == ["c"]:
        assert "observe c for 1" in found.words()


@pytest.mark.parametrize("cost", ["0", "-1", "true", "'much'", "nan"])
def test_a_cost_is_a_number_above_0(tmp_path, cost: str) -> None:
    (tmp_path / "m.toml").write_text(f"{NEXT}[observable]\nb = {cost}\n")
    with pytest.raises(nbr.NbrError, match=r"\[observable\] 'b': its cost must be"):
        nbr.load(tmp_path / "m.toml")


def test_the_command_says_what_json_says(tmp_path) -> None:
    actions = '[actions]\ngo = [{ when = "a", value = 3 }, { value = -1 }]\nstay = 0\n'
    (tmp_path / "m.toml").write_text(NEXT + actions)
    told = json.loads(run("decide", "m.toml", "--given", "b", "--criterion", "hurwicz", "--json", cwd=tmp_path).stdout)
    assert told["choice"] == "go"
    go, stay = told["actions"]
    assert (go["lower"], go["upper"]) == (pytest.approx(-1 + 4 * 0.9), pytest.approx(3))
    assert (stay["dominated"], go["dominated"]) == (True, False)
    shown = run("decide", "m.toml", "--given", "b", cwd=tmp_path).stdout
    assert "choice: go   (maximin; exact)" in shown
    assert " -> go          2.600      3.000      2.600" in shown
    assert run("decide", "m.toml", "--given", "b", "--optimism", "2", cwd=tmp_path).returncode == 2


def test_what_was_observed_to_a_degree_counts_to_that_degree(tmp_path) -> None:
    actions = '[actions]\ngo = [{ when = "a", value = 3 }, { value = -1 }]\n'
    (tmp_path / "m.toml").write_text(NEXT + actions)
    found = nbr.load(tmp_path / "m.toml").decide("b @ 0.5")
    assert found.given == "b @ 0.5"
    assert found.actions[0].lower == pytest.approx(-1 + 4 * 0.45)
