"""How often, for many questions at once, and beside an explanation: each is what it is alone."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest
import torch

import nbr
from command import run
from nbr.density.many import probabilities

ASKED = [("x1", "x0"), ("x1", None), ("x0 | x1", "~x2"), ("x1", "x2"), ("x0 <-> x1", None)]


def model(bits: int = 3) -> nbr.Reasoner:
    """x2 is never 1; beside the rule a network."""
    world = nbr.World.bits(bits)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    shares = [torch.tensor([0.6, 0.4]), torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0])]
    prior = nbr.priors.Independent(world, [*shares, *[torch.ones(2)] * (bits - 3)])
    rules = [nbr.Clause("x0 -> x1", 0.75), nbr.Neural(["x0", "x1"], network, 0.6)]
    return nbr.Reasoner(world, rules, prior=prior)


def test_a_table_has_what_each_question_has_alone() -> None:
    table = model().ask_many(ASKED)
    for (question, given), row in zip(ASKED, table.itertuples(), strict=True):
        if given == "x2":
            assert math.isnan(row.probability)
            continue
        alone = model().probability(question, given)
        assert (row.probability, row.probability_error) == (pytest.approx(alone.value, abs=1e-12), 0.0)
    assert "probability" not in nbr.Reasoner(nbr.World.bits(2)).ask_many(["x0"])


def test_where_points_cannot_be_listed_each_is_asked_alone() -> None:
    large = model(30)
    rules = [nbr.Clause(f"x{i} -> x{i + 1}", 0.5) for i in range(3, 29)]
    large = nbr.Reasoner(large.world, [*large.rules, *rules], prior=large.prior)
    some = [("x1", "x0"), ("x1", "x2")]
    found = probabilities(large.model, some, 2.0, 0)
    assert found[1] is None
    value, error = found[0] or (0.0, 0.0)
    assert value == pytest.approx(model().probability("x1", "x0").value, abs=max(0.02, 2 * error))


def test_an_explanation_has_the_probability(tmp_path: Path) -> None:
    found = model().explain("x1", "x0")
    value = model().probability("x1", "x0").value
    assert not isinstance(found.probability, str | None)
    assert found.probability.value == pytest.approx(value)
    assert f"its probability is {value:.2f}" in found.words()
    model().save(tmp_path / "m.nbr")
    told = json.loads(run("explain", "m.nbr", "x1", "--given", "x0", "--json", cwd=tmp_path).stdout)
    assert told["answer"]["probability"]["value"] == pytest.approx(value)
    assert f"probability  {value:.4f}" in run("explain", "m.nbr", "x1", "--given", "x0", cwd=tmp_path).stdout
    never = model().explain("x1", "x2")
    assert isinstance(never.probability, str)
    assert never.as_json()["answer"]["probability"] is None


def test_a_batch_has_the_probability(tmp_path: Path) -> None:
    model().save(tmp_path / "m.nbr")
    lines = ["question,given", *(f"{question},{given or ''}" for question, given in ASKED)]
    (tmp_path / "q.csv").write_text("\n".join(lines))
    done = run("ask", "m.nbr", "--batch", "q.csv", "-o", "a.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert float(rows[0]["probability"]) == pytest.approx(model().probability("x1", "x0").value)
    assert (rows[3]["probability"], rows[3]["probability_error"]) == ("", "")
