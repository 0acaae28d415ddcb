"""How often, beside what `nbr ask` says of rules."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import torch

import nbr
from command import run
from nbr import priors
from nbr.priors import Independent

GARDEN = Path(__file__).parents[2] / "examples" / "garden.toml"


def ask(*words: object) -> subprocess.CompletedProcess[str]:
    return run("ask", *words)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    world = nbr.World.bits(3)
    prior = Independent(world, [torch.tensor([0.6, 0.4]), torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0])])
    reasoner = nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.75)], prior=prior, views=[["x0"], ["x1", "x2"]])
    reasoner.save(tmp_path / "m.nbr")
    return tmp_path / "m.nbr"


def test_json_has_the_probability_of_a_model_with_a_prior(model: Path) -> None:
    told = json.loads(ask(model, "x1", "--given", "x0", "--json").stdout)
    assert told["belief"] == pytest.approx(0.75)
    found = told["probability"]
    assert found["value"] == pytest.approx(0.8)  # 1 / (1 + 1/4)
    assert (found["error"], found["exact"]) == (0.0, True)
    # P(x0) = 5/17, P(x1) = 10/17: all of x0 may have x1
    assert found["open"] == pytest.approx([0.0, 1.0])


def test_json_has_null_without_a_prior() -> None:
    assert json.loads(ask(GARDEN, "grass=wet", "--given", "rain", "--json").stdout)["probability"] is None
    assert "probability" not in ask(GARDEN, "grass=wet", "--given", "rain").stdout


def test_the_screen_leads_with_the_probability(model: Path) -> None:
    lines = ask(model, "x1", "--given", "x0").stdout.splitlines()
    assert lines[2] == "  probability  0.8000"
    assert lines[3].startswith("  open         0.0000 to 1.0000")
    assert lines.index("  what the rules say, without the prior") < lines.index("  belief       0.7500")


def test_a_condition_that_the_prior_rules_out_is_still_answered(model: Path) -> None:
    done = ask(model, "x1", "--given", "x2")
    assert done.returncode == 0
    assert "probability  not known: the condition has probability 0" in done.stdout
    told = json.loads(ask(model, "x1", "--given", "x2", "--json").stdout)
    assert told["probability"] is None
    assert "probability 0" in told["notes"][0]


@pytest.fixture
def counted(tmp_path: Path) -> nbr.Reasoner:
    """Two tables of 100 and 200 rows that share a column; how many rows there were is known."""
    world = nbr.World.bits(3)
    rules = [nbr.Clause("x0 -> x1", 0.8), nbr.Clause("x1 -> x2", 0.7)]
    views = [["x0", "x1"], ["x1", "x2"]]
    return nbr.Reasoner(world, rules, prior=priors.uniform(world), views=views, view_rows=[100, 200])


def test_the_error_of_what_stays_open_is_told_on_every_road(counted: nbr.Reasoner, tmp_path: Path) -> None:
    wanted = counted.probability("x2", "x0").open_error
    assert wanted is not None
    assert max(wanted) > 0
    counted.save(tmp_path / "m.nbr")
    counted.save(tmp_path / "m.toml")
    for name in ("m.nbr", "m.toml"):
        told = json.loads(ask(tmp_path / name, "x2", "--given", "x0", "--json").stdout)
        assert told["probability"]["open_error"] == pytest.approx(list(wanted))
    told = json.loads(run("explain", tmp_path / "m.nbr", "x2", "--given", "x0", "--json").stdout)
    assert told["answer"]["probability"]["open_error"] == pytest.approx(list(wanted))
    shown = ask(tmp_path / "m.nbr", "x2", "--given", "x0").stdout
    low, high = counted.probability("x2", "x0").range or (0.0, 0.0)
    assert f"probability  {low:.4f} to {high:.4f}   95% range, from 34 rows and columns never seen together" in shown
    assert f"columns never seen together leave {low:.2f} to {high:.2f} open." in counted.explain("x2", "x0").words()


def test_rows_behind_views_stay_in_words_and_in_combined_models(counted: nbr.Reasoner, tmp_path: Path) -> None:
    assert counted.distil().reasoner.view_rows == (100, 200)
    counted.save(tmp_path / "m.nbr")
    assert run("distil", tmp_path / "m.nbr", "-o", tmp_path / "words.toml").returncode == 0
    assert nbr.load(tmp_path / "words.toml").view_rows == (100, 200)
    world = nbr.World.bits(4)
    other = nbr.Reasoner(world, prior=priors.uniform(world), views=[["x1", "x0"], ["x3"]], view_rows=[70, 300])
    joint = counted & other
    assert dict(zip(joint.views or (), joint.view_rows or (), strict=True)) == {
        ("x0", "x1"): 70,  # both saw it: no more is claimed than the smaller table is worth
        ("x1", "x2"): 200,
        ("x3",): 300,
    }
    joint.save(tmp_path / "joint.nbr")
    assert nbr.load(tmp_path / "joint.nbr").view_rows == joint.view_rows
    assert joint.probability("x2", "x0").open_error is not None


def test_rows_that_one_model_does_not_know_are_not_lost_with_the_other(counted: nbr.Reasoner, tmp_path: Path) -> None:
    world = nbr.World(y0=nbr.Bit(), y1=nbr.Bit())
    untold = nbr.Reasoner(world, prior=priors.uniform(world), views=[["y0"], ["y1"]])
    joint = counted & untold
    assert joint.view_rows == (100, 200, None, None)
    assert joint.probability("x2", "x0").open_error is not None
    assert joint.probability("y1", "y0").open_error is None
    for name in ("joint.nbr", "joint.toml"):
        joint.save(tmp_path / name)
        assert nbr.load(tmp_path / name).view_rows == joint.view_rows
    assert (untold & untold).view_rows is None


@pytest.fixture
def learned(tmp_path: Path) -> Path:
    """a and b go together; nothing is known to do so with bmi and c, of which no rule speaks."""
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Choice("u", "v"), bmi=nbr.Real(10, 60))
    columns = [torch.tensor([0.5, 0.5]), torch.tensor([0.8, 0.2]), torch.tensor([0.3, 0.7]), torch.tensor([25.0, 4.0])]
    model = nbr.Reasoner(
        world,
        [nbr.Clause("a -> b", 0.9)],
        prior=priors.Independent(world, columns),
        views=[["a", "b", "c", "bmi"]],
        view_rows=[400],
    )
    model.save(tmp_path / "learned.nbr")
    return tmp_path / "learned.nbr"


def test_the_probability_is_there_before_anything_else(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbr.app import asked

    settings = {"engine": "auto", "budget": 10.0, "tolerance": 1e-3, "grid": None, "seed": 0}
    monkeypatch.setattr(nbr.Reasoner, "ask", lambda *_, **__: pytest.fail("asked before the probability was shown"))
    parts = asked.one(learned, "b", "a", settings, False, None, False)
    assert next(parts).splitlines()[2].startswith("  probability  ")
    alone = list(asked.one(learned, "bmi>30", None, settings, False, None, False))
    assert alone[-1] == "\n  no rule reads bmi: this is the base rate"
    monkeypatch.setattr(nbr.Reasoner, "rank", lambda *_, **__: pytest.fail("ranked before values were shown"))
    assert "  v      0.7000" in next(asked.one(learned, "c", "a", settings, False, None, False))


def test_beliefs_come_only_where_a_rule_reads_what_is_asked(learned: Path) -> None:
    assert "belief " in ask(learned, "b", "--given", "a").stdout
    told = ask(learned, "bmi>30", "--given", "a").stdout
    assert "belief " not in told
    assert "no rule reads bmi: the probability is all that is known" in told
    assert "belief       1.0000" in ask(learned, "bmi>30", "--given", "bmi>40").stdout  # the condition speaks of it
    assert "belief " in ask(learned, "c=u", "--given", "(c=u -> b) @ 0.5").stdout
    found = json.loads(ask(learned, "bmi>30", "--json").stdout)
    assert (found["belief"], found["plausibility"]) == (0.0, 1.0)
    plain = learned.with_name("plain.nbr")
    nbr.Reasoner(nbr.World.bits(2), prior=priors.uniform(nbr.World.bits(2))).save(plain)
    assert "the model has no rules: this is the base rate" in ask(plain, "x0").stdout


def test_a_name_alone_has_the_values_and_a_number_its_quantiles(learned: Path) -> None:
    told = json.loads(ask(learned, "c", "--given", "b", "--json").stdout)
    likely = {each["value"]: each["probability"]["value"] for each in told["values"]}
    assert likely == pytest.approx({"u": 0.3, "v": 0.7})
    assert all(each["probability"]["range"] for each in told["values"])
    shown = ask(learned, "bmi").stdout.splitlines()
    assert shown[2] == "  below  value   95% range, from 400 rows"
    assert [line.split()[0] for line in shown[3:8]] == ["5%", "25%", "50%", "75%", "95%"]
    assert float(shown[5].split()[1]) == pytest.approx(25, abs=0.02)
    assert shown[-1] == "  no rule reads bmi: this is the base rate"
    told = json.loads(ask(learned, "bmi", "--json").stdout)
    assert [each["share"] for each in told["quantiles"]] == [0.05, 0.25, 0.5, 0.75, 0.95]


def test_an_explanation_says_what_moved_the_probability(learned: Path) -> None:
    told = json.loads(run("explain", learned, "b", "--given", "c=u, a", "--json").stdout)["moved"]
    assert [each["given"] for each in told["steps"]] == ["a", "c=u"]
    shown = run("explain", learned, "b", "--given", "c=u, a").stdout
    assert "what moved the probability of b from its base rate" in shown
    assert "up from" in " ".join(shown.split())
    assert "most of it by a" in " ".join(shown.split())
    alone = json.loads(run("explain", learned, "b", "--json").stdout)
    assert alone["moved"] is None
