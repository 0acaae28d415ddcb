"""A model of networks as one of statements: what becomes of each rule, and what is told of the loss."""

from __future__ import annotations

import json

import pytest
import torch
from torch import nn

import nbr
from command import run


def linear(names: list[str], weights: list[float], bias: float, belief: float, name: str | None = None) -> nbr.Neural:
    network = nn.Sequential(nn.Linear(len(names), 1))
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([weights]))
        network[0].bias.fill_(bias)
    return nbr.Neural(names, network, belief, name)


def mixed() -> nbr.Reasoner:
    """A statement, a network that is one, one that is not quite, and one that tells nothing apart."""
    return nbr.Reasoner(
        nbr.World.bits(4),
        [
            nbr.Clause("x0 -> x1", 0.9),
            linear(["x1", "x2"], [40.0, 40.0], -60.0, 0.7, "both"),
            linear(["x0", "x1", "x2", "x3"], [90.0, 60.0, 60.0, -30.0], -75.0, 0.6),
            linear(["x3"], [0.0], 30.0, 0.5),
        ],
    )


def test_fates() -> None:
    found = mixed().distil(agreement=1.0, budget=60.0)
    assert [fate.became for fate in found.rules] == ["as it was", "in words", "in words", "dropped"]
    assert [str(rule) for rule in found.reasoner.rules][:2] == ["x0 -> x1", "both"]
    assert found.reasoner.rules[1].describe() == "x1 & x2"
    assert found.rules[3].why == "it does not distinguish any points"
    assert not found.complete
    assert found.lost.largest < 0.01
    assert found.lost.questions >= 400


def test_what_is_lost_is_the_largest_change_of_an_answer() -> None:
    grade = torch.tensor([0.0, 0.04, 0.95, 1.0], dtype=torch.float64)
    rule = nbr.Fuzzy(lambda points: grade[(points @ points.new_tensor([2.0, 1.0])).long()], 0.8, inputs=["x0", "x1"])
    before = nbr.Reasoner(nbr.World.bits(2), [rule])
    found = before.distil(budget=60.0)
    assert found.reasoner.rules[0].describe() == "x0"
    moved = []
    for i in (0, 1):
        for question in (f"x{i}=0", f"x{i}=1"):
            for given in (None, f"x{1 - i}=0", f"x{1 - i}=1"):
                one, other = before.ask(question, given), found.reasoner.ask(question, given)
                moved.append(max(abs(one.belief - other.belief), abs(one.plausibility - other.plausibility)))
    assert found.lost.questions >= 400
    assert found.lost.largest == pytest.approx(max(moved), abs=1e-12)
    assert 0.01 < found.lost.mean < found.lost.largest


def test_rules_that_words_do_not_suit_stay_or_go() -> None:
    torch.manual_seed(0)
    names = [f"x{i}" for i in range(10)]
    network = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))
    for weight in network.parameters():
        nn.init.normal_(weight, std=3.0)
    model = nbr.Reasoner(nbr.World.bits(10), [nbr.Neural(names, network, 0.8)])
    stays, goes = model.distil(), model.distil(keep=False)
    assert [fate.became for fate in (*stays.rules, *goes.rules)] == ["as it was", "dropped"]
    assert stays.rules[0].why == "no short statement describes it: none agrees on 95% of points"
    assert stays.rules[0].restated is None
    assert str(stays).endswith("no rule was changed")
    assert (len(stays.reasoner.rules), len(goes.reasoner.rules)) == (1, 0)
    assert goes.lost.largest > 0.5


def test_prior_and_views_stay_in_words(tmp_path) -> None:
    world = nbr.World(rain=nbr.Bit(), grass=nbr.Choice("dry", "wet"), t=nbr.Real(0, 30), n=nbr.Real(0, 9, step=1))
    shares = [torch.tensor([0.9, 0.1]), torch.tensor([3.0, 1.0]), torch.tensor([12.0, 8.0]), torch.zeros(0)]
    prior = nbr.priors.Independent(world, shares)
    rules = [nbr.Clause("rain -> grass=wet", 0.9, 'the "first"'), nbr.Memory({"rain": 1, "t": 12.5}, 0.3, 0.4)]
    model = nbr.Reasoner(world, rules, prior=prior, views=[["rain", "grass"], ["grass", "t", "n"]])
    model.save(tmp_path / "m.toml")
    again = nbr.load(tmp_path / "m.toml")
    assert again.world == model.world
    assert again.views == model.views
    assert [repr(rule) for rule in again.rules] == [repr(rule) for rule in model.rules]
    points = torch.tensor([[1.0, 0.0, 11.0, 3.0], [0.0, 1.0, 25.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(again.prior.log_prob(points), prior.log_prob(points))
    torch.testing.assert_close(again.keep(points), model.keep(points))


def test_a_toml_says_what_it_has_no_words_for(tmp_path) -> None:
    with pytest.raises(nbr.NbrError, match=r"rule 2 \(both\) cannot be written to a .toml file"):
        mixed().save(tmp_path / "m.toml")
    table = torch.tensor([[0.0], [2.0]] * 20, dtype=torch.float64)
    world = nbr.World(n=nbr.Real(0, 9, step=1))
    prior = nbr.priors.marginals(nbr.tables.Table(world, table))
    with pytest.raises(nbr.NbrError, match="cannot hold the prior of 'n'"):
        nbr.Reasoner(world, [], prior=prior).save(tmp_path / "m.toml")
    assert not (tmp_path / "m.toml").exists()


def test_command(tmp_path) -> None:
    mixed().save(tmp_path / "m.nbr")
    shown = run("show", "m.nbr", cwd=tmp_path).stdout
    assert "in words: x1 & x2   agrees on all points" in shown
    listed = json.loads(run("show", "m.nbr", "--json", cwd=tmp_path).stdout)["rules"]
    assert [each["restated"] and each["restated"]["words"][0]["text"] for each in listed][:2] == [None, "x1 & x2"]
    done = run("distil", "m.nbr", "-o", "words.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "4 rules, 2 rewritten, 1 unchanged, 1 dropped" in done.stdout
    assert "answers move by" in done.stdout
    assert run("ask", "words.toml", "x1", "--given", "x0", cwd=tmp_path).returncode == 0
    told = json.loads(run("distil", "m.nbr", "-o", "words.nbr", "--json", cwd=tmp_path).stdout)
    assert [each["became"] for each in told["rules"]] == ["as it was", "in words", "in words", "dropped"]
    refused = run("distil", "m.nbr", "-o", "words.csv", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    refused = run("distil", "m.nbr", "-o", "others.toml", "--agreement", "3", cwd=tmp_path)
    assert "a share from 0.95 to 1, not 3" in refused.stderr
