"""The last training, on all rows: what is measured of it and on which rows, and that it does no harm."""

import numpy as np
import pandas as pd
import pytest
import torch

from nbr import priors, tables
from nbr.learning import fitting, maker
from nbr.learning.splitting import split
from nbr.progress import silent
from small_table import implication


def test_the_held_out_figure_is_that_of_the_delivered_model_or_its_twin() -> None:
    frame = implication(500)
    rows = split(tables.read(frame), 0)
    assert [len(part) for part in (rows.train, rows.valid, rows.test, rows.every)] == [400, 50, 50, 500]
    chosen = fitting.fit_report(frame, rules=1, steps=200, valid=frame[:100])
    assert chosen.held_out is not None
    scored = chosen.reasoner.log_prob(frame[:100])
    assert chosen.held_out.log_likelihood == pytest.approx(scored.mean().item(), abs=1e-4)
    assert chosen.held_out.error == pytest.approx(scored.std().item() / 10, rel=1e-3)
    assert chosen.held_out.words == "100 rows that were used to choose"
    report = fitting.fit_report(frame, rules=1, steps=200)
    assert report.held_out is not None
    assert (report.rows, report.kept) == (500, "trained again on all rows")
    assert report.held_out.words == "50 rows that were not used to choose, by the same training without them"
    made = maker.Maker(report.inputs, report.reasoner.prior, 96, 0, None, silent)
    twin = made.train("twin", {"train": rows.trainable, "test": rows.test}, 1, report.steps)
    assert report.held_out.log_likelihood == pytest.approx(twin.objective.mean(twin.bank, "test"), abs=1e-6)
    assert report.train == pytest.approx(report.reasoner.log_prob(frame).mean().item(), abs=1e-4)


@pytest.mark.parametrize(
    ("stage", "rows", "kept", "trained"),
    [
        ("more rows", 500, "chosen by held-out rows; training on more rows gave a lower likelihood of the others", 400),
        ("all rows", 500, "trained again on most rows; training on all of them failed", 450),
        ("all rows", 90, "chosen by held-out rows; training on all rows failed", 70),
    ],
)
def test_a_training_that_loses_is_not_delivered(
    monkeypatch: pytest.MonkeyPatch, stage: str, rows: int, kept: str, trained: int
) -> None:
    """The figure is then that of the model delivered."""
    frame, honest = implication(rows), maker.Maker.train

    def spoiled(self, name, *given):
        made = honest(self, name, *given)
        if name == stage:
            torch.nn.init.constant_(made.bank.doubt, 4.0)
            torch.nn.init.normal_(made.bank.last, std=5.0, generator=torch.Generator().manual_seed(0))
        return made

    monkeypatch.setattr(maker.Maker, "train", spoiled)
    report = fitting.fit_report(frame, rules=1, steps=200)
    assert (report.kept, report.rows) == (kept, trained)
    parts = split(tables.read(frame), 0)
    scored = report.reasoner.log_prob(parts.test if rows >= 100 else parts.valid)
    assert report.held_out is not None
    assert report.held_out.log_likelihood == pytest.approx(scored.mean().item(), abs=1e-4)
    assert report.held_out.words.startswith(f"{len(scored)} rows that ")


def test_few_rows_are_all_trained_on_and_nothing_is_claimed() -> None:
    report = fitting.fit_report(implication(99), rules=1, steps=100)
    assert (report.rows, report.held_out) == (99, None)


def test_few_rows_of_numbers_that_tell_much() -> None:
    """All rows have other distinct ones than those that were chosen by: a table of 16 years stopped here."""
    year = np.arange(11.0)
    frame = pd.DataFrame({"year": 1950 + year, "people": 1000 + 17 * year, "prices": 83 + 2 * year + year % 2})
    report = fitting.fit_report(frame, rules=1, prior="uniform", steps=60)
    assert report.rows in (8, 11)  # those that were trained on first, or all of them
    assert bool(report.reasoner.log_prob(report.table).isfinite().all())


def test_trees_by_name_where_the_world_could_be_listed() -> None:
    report = fitting.fit_report(implication(400), rules=1, prior="trees", steps=100)
    assert isinstance(report.reasoner.prior, priors.Trees)
    assert report.prior.endswith("of columns, as requested")


def test_a_prior_left_alone_is_learned_from_all_rows_and_measured_by_its_twin() -> None:
    noise = np.random.default_rng(0).normal(size=(300, 3))
    report = fitting.fit_report(noise, rules=1, steps=50)
    assert (report.kept, report.rows, report.reasoner.rules) == (fitting.ALONE, 300, ())
    parts = split(tables.read(noise), 0)
    chosen = priors.trees(parts.train, valid=parts.valid)
    twin = priors.relearned(chosen, parts.trainable)
    assert report.held_out is not None
    assert report.held_out.log_likelihood == pytest.approx(float(twin.log_prob(parts.test.codes).mean()), abs=1e-4)


def test_twenty_rows_leave_the_prior_alone() -> None:
    """Five columns of noise: what seven rows happen to gain is chance, and standard errors of seven rows say little."""
    noise = np.random.default_rng(0).normal(size=(20, 5))
    report = fitting.fit_report(noise, rules=1, steps=100)
    assert report.kept == fitting.ALONE_OF_ALL
    assert not report.reasoner.rules


def test_small_worlds_never_say_less_than_base_rates() -> None:
    """Where rules add no more than chance, a column that is so in one row of five is not answered with 0.5."""
    random = np.random.default_rng(0)
    for rows in (24, 200):
        frame = pd.DataFrame(random.random((rows, 4)) < 0.2, columns=list("abcd")).astype(int)
        report = fitting.fit_report(frame, rules=1, steps=60)
        assert (report.kept, report.rows, report.reasoner.rules) == (fitting.RATES, rows, ())
        assert "base rates" in report.prior
        for name in "abcd":
            assert report.reasoner.probability(name).value == pytest.approx(frame[name].mean(), abs=0.03)
    parts = split(tables.read(frame), 0)
    twin = priors.marginals(parts.trainable).log_prob(parts.test.codes)
    assert report.held_out is not None
    assert report.held_out.log_likelihood == pytest.approx(float(twin.mean()), abs=1e-5)
    asked = fitting.fit_report(frame, rules=1, steps=60, prior="uniform")
    assert asked.kept != fitting.RATES  # a prior that someone asked for stays
