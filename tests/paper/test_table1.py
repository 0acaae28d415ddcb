"""Table 1 learned from rows with holes: both models of section 3, in small; `make demo` is the table itself."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
import torch
import typer

import nbr
from nbr.app import reproduce
from nbr.learning.autoencoder import autoencode
from nbr.learning.latent import CodeBank
from nbr.paper import table1, table1_report

SMALL = table1.Experiment(middle=5)
POINTS = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 7)


@pytest.fixture(scope="module")
def runs() -> dict[str, table1.TrainedModel]:
    return {model: SMALL.train(model, seed=0) for model in table1.STEPS}


def test_the_questions_are_those_of_the_paper() -> None:
    assert [(question.given, question.asked, question.paper) for question in table1.TABLE_1.questions] == [
        ("x0=1", "x10", ("0", "0.33")),
        ("x0=0", "x10", ("0.67", "1")),
        ("x0=1, x1..x4=0", "x5", ("0.89", "1")),
        ("x0=1, x1..x4=0, x10=1", "x5", ("0.67", "1")),
        ("x0=1, x1..x4=0, x6..x10=1", "x5", ("0.67", "0.75")),
    ]


@pytest.mark.parametrize("experiment", [SMALL, table1.TABLE_1])
def test_exact_answers_are_those_of_the_rules_by_hand(experiment: table1.Experiment) -> None:
    last = experiment.middle + 1
    majority = f"majority(x1..x{experiment.middle})"
    rules = [nbr.Clause(f"x0 <-> {majority}", 8 / 9), nbr.Clause(f"x{last} <-> ~{majority}", 3 / 4)]
    reasoner = nbr.Reasoner(experiment.world, rules)
    for question in experiment.questions:
        answer = reasoner.ask(question.asked, question.given)
        assert (answer.belief, answer.plausibility) == pytest.approx(question.exact, abs=1e-12)


def test_what_is_not_reproduced_fails(runs, tmp_path, monkeypatch, capsys) -> None:
    off = replace(runs["identity"], error=0.03)
    monkeypatch.setattr(table1.Experiment, "train", lambda *_: off)
    with pytest.raises(typer.Exit) as stopped:
        reproduce.table1(1, tmp_path / "report.html", False, 1)
    assert stopped.value.exit_code == 1
    assert "not reproduced" in capsys.readouterr().err
    monkeypatch.setattr(table1.Experiment, "train", lambda *_: runs["identity"])
    reproduce.table1(1, tmp_path / "report.html", False, 1)


def test_answers_are_those_of_the_exact_optimum(runs) -> None:
    assert runs["identity"].error < 0.01
    assert runs["autoencoder"].error < 0.02
    for run in runs.values():
        assert abs(run.excess) < 1e-4
        torch.testing.assert_close(run.reasoner.beliefs, torch.tensor([8 / 9, 3 / 4]).double(), atol=0.01, rtol=0)


def test_every_pattern_survives_the_latent_space(runs) -> None:
    codec = runs["autoencoder"].reasoner.codec
    assert torch.equal(codec.decode(codec.encode(POINTS)), POINTS)
    assert codec.encode(POINTS).shape == (128, 4)


def test_rules_on_codes_see_only_their_own_bits(runs) -> None:
    reasoner = runs["autoencoder"].reasoner
    for rule, hidden in zip(reasoner.rules, (6, 0), strict=True):
        flipped = POINTS.clone()
        flipped[:, hidden] = 1 - flipped[:, hidden]
        before, after = (rule.grades(reasoner.codec.encode(part)) for part in (POINTS, flipped))
        assert torch.equal(before, after)


def test_model_on_codes_is_saved_and_sampled(runs, tmp_path) -> None:
    before = runs["autoencoder"].reasoner
    before.save(tmp_path / "m.nbr")
    after = nbr.load(tmp_path / "m.nbr")
    assert after.ask("x6", given="x0=1").plausibility == pytest.approx(before.ask("x6", given="x0=1").plausibility)
    drawn = after.sample(4000, seed=0)
    middle = drawn[[f"x{i}" for i in range(1, 6)]].sum(axis=1) >= 3
    assert (drawn["x0"] == middle).mean() == pytest.approx(0.9, abs=0.03)
    assert (drawn["x6"] == middle).mean() == pytest.approx(0.2, abs=0.03)


def test_bank_on_codes_and_its_export_agree() -> None:
    world = nbr.World.bits(4)
    codec = autoencode(world, latent=3, seed=0)
    bank = CodeBank(codec, [("x0", "x1", "x2"), ("x1", "x3")], width=8, seed=0)
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 4)
    reasoner = nbr.Reasoner(world, bank.export(), latent=codec.latent, decoder=codec.decoder, encoder=codec.encoder)
    expected = bank(bank.encode(points)).double()
    torch.testing.assert_close(reasoner.grades(codec.encode(points)), expected, atol=1e-5, rtol=0)


def test_report_is_a_page_with_a_picture_and_no_network(runs) -> None:
    page = table1_report.page(list(runs.values()))
    assert not re.search(r"(src|href|url\()=?.{0,2}http", page)
    svg = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    ElementTree.fromstring(svg)
    for question in table1.TABLE_1.questions:
        assert f"[{question.exact[0]:.4f}, {question.exact[1]:.4f}]" in page


@pytest.mark.parametrize("model", ["identity", "autoencoder"])
def test_distilled_it_is_the_majority_and_its_opposite(runs, model: str) -> None:
    found = runs[model].reasoner.distil()
    assert [rule.describe() for rule in found.reasoner.rules] == [
        "x0 <-> majority(x1..x5)",
        "x6 <-> ~majority(x1..x5)",
    ]
    assert [fate.restated.agreement for fate in found.rules] == [1.0, 1.0]
    for question in SMALL.questions:
        answer = found.reasoner.ask(question.asked, question.given)
        assert (answer.belief, answer.plausibility) == pytest.approx(question.exact, abs=0.005)
