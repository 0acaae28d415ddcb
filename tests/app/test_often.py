"""How often, beside what `nbr ask` says of rules."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import torch

import nbr
from command import run
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
