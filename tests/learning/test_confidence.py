"""Beliefs that rows support: closed forms, coverage where the truth is known, and what a file keeps of it."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binom

import nbr
from nbr import priors, tables
from nbr.calculus.point import keep_probability, keep_probability_and_slopes
from nbr.learning import confidence, objectives
from nbr.learning.bank import Bank
from nbr.rules.support import Support
from small_table import implication


@pytest.mark.parametrize(("held", "rows"), [(8, 8), (19, 19), (126, 150), (1, 9), (0, 5)])
def test_the_lowest_share_is_the_one_that_rows_just_do_not_reject(held: int, rows: int) -> None:
    """Clopper and Pearson: at the limit as many rows, or more, hold with a chance of one in twenty."""
    low = confidence.lowest_share(held, rows, 0.95)
    assert binom.sf(held - 1, rows, low) == pytest.approx(0.05 if held else 1.0)


@pytest.mark.parametrize("expected", [0.1, 0.5, 0.8])
def test_a_belief_is_that_which_breaks_a_rule_as_often_as_rows(expected: float) -> None:
    share = 0.9
    belief = confidence.belief_of(share, expected)
    broken = (1 - expected) * (1 - belief)
    assert broken / (broken + expected) == pytest.approx(1 - share)
    likeliest = confidence.belief_of(180.5 / 201, expected)
    low = confidence.limited(likeliest, 180, 200, 0.95)
    limit = confidence.lowest_share(180, 200, 0.95)
    assert low == pytest.approx(min(limit, confidence.belief_of(limit, expected)))
    assert low < likeliest == confidence.limited(likeliest, 180, 200, None)


@pytest.mark.parametrize(("rows", "belief"), [(8, 0.55), (19, 0.83)])
def test_rows_that_all_agree(rows: int, belief: float) -> None:
    likeliest = confidence.belief_of((rows + 0.5) / (rows + 1), 0.5)
    assert likeliest > 0.94
    assert confidence.limited(likeliest, rows, rows, 0.95) == pytest.approx(belief, abs=0.005)


def test_no_belief_is_above_how_often_its_rule_holds() -> None:
    """A rule that half of the rows meet, and few points of the prior, is likeliest at 0.99: frequencies need it."""
    likeliest = confidence.belief_of(0.5, 0.01)
    assert likeliest > 0.98
    assert confidence.limited(likeliest, 500, 1000, 0.95) < 0.5


@pytest.mark.parametrize("rows", [20, 100])
@pytest.mark.parametrize("share", [0.6, 0.84, 0.97])
def test_the_limit_covers(rows: int, share: float) -> None:
    """Of 2,000 tables at least 93% have a belief that is not above the true one."""
    random = np.random.default_rng(0)
    true = min(share, confidence.belief_of(share, 0.5))
    lows = []
    for held in random.binomial(rows, share, 2000).tolist():
        likeliest = confidence.belief_of((held + 0.5) / (rows + 1), 0.5)
        lows.append(confidence.limited(likeliest, held, rows, 0.95))
    assert np.mean(np.array(lows) <= true) >= 0.93
    assert np.mean(lows) < true


def test_slopes_are_those_of_p_keep() -> None:
    generator = torch.Generator().manual_seed(0)
    grades, beliefs = torch.rand(50, 6, generator=generator).double(), torch.rand(6, generator=generator).double()
    kept, slopes = keep_probability_and_slopes(grades, beliefs)
    torch.testing.assert_close(kept, keep_probability(grades, beliefs))
    for rule in range(6):
        moved = beliefs.clone()
        moved[rule] = 0.0
        torch.testing.assert_close(keep_probability(grades, moved), kept - beliefs[rule] * slopes[:, rule])


def crisp(world: nbr.World, belief: float) -> Bank:
    """One network that says a -> b, as a bank whose belief is as given."""
    bank = Bank(world, [world.names], rules=1, width=2, seed=0)
    with torch.no_grad():
        for weight in (bank.first, bank.second, bank.last, bank.first_bias, bank.second_bias, bank.last_bias):
            weight.zero_()
        bank.first[0, :, 0] = torch.tensor([1.0, -1.0])  # scaled to -1 and 1: 2 where a and not b, else at most 0
        bank.second[0, 0, 0], bank.last[0, 0, 0], bank.last_bias[0, 0, 0] = 1.0, -20.0, 20.0
        bank.doubt.fill_(math.log(belief / (1 - belief)))
    return bank


@pytest.mark.parametrize("counts", [(60, 40, 22, 128), (30, 30, 0, 40), (12, 9, 1, 20)])
def test_networks_are_followed_down_to_what_counting_gives(counts: tuple[int, ...]) -> None:
    """A crisp network is a counted rule: the profile ends at the exact limit, also where no row breaks it."""
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit())
    points = torch.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]], dtype=torch.float64)
    data = tables.Table(world, points.repeat_interleave(torch.tensor(counts), dim=0))
    prior = priors.uniform(world)
    n, x = sum(counts), counts[2]
    bank = crisp(world, min(confidence.belief_of((n - x) / n, 0.75), 0.95))
    goal = objectives.objective(bank, prior, {"train": data}, seed=0)
    (rule,) = confidence.supported(bank, goal, n, 0.95)
    limit = confidence.lowest_share(n - x, n, 0.95)
    assert rule.degree == pytest.approx(confidence.belief_of(limit, 0.75), abs=2e-3)
    assert rule.support is not None
    assert (rule.support.rows, rule.support.held) == pytest.approx((n, n - x), abs=0.01)
    assert float(rule.likeliest) == pytest.approx(bank.beliefs.item())
    sampled = objectives.SampledObjective(bank, prior, {"train": data}, seed=0)
    (drawn,) = confidence.supported(bank, sampled, n, 0.95)
    assert drawn.degree == pytest.approx(rule.degree, abs=0.01)


def test_rows_that_do_not_show_what_a_rule_reads_do_not_count() -> None:
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit())
    frame = implication(200)[["a", "b"]]
    holes = pd.DataFrame({"a": [1.0] * 300, "b": [np.nan] * 300})
    bank = crisp(world, 0.8)
    found = []
    for rows in (frame, pd.concat([frame, holes])):
        data = tables.read(rows, world)
        goal = objectives.objective(bank, priors.uniform(world), {"train": data}, seed=0)
        found += confidence.supported(bank, goal, len(rows), 0.95)
    assert found[0].degree == pytest.approx(found[1].degree, abs=1e-6)
    assert found[1].support is not None
    assert found[1].support.rows == pytest.approx(200)


def test_eight_rows_that_agree_say_little() -> None:
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit())
    model = nbr.fit(pd.DataFrame({"a": [1] * 8, "b": [1] * 8}), rules=1, steps=200, world=world)
    for question in ("a", "b", "a & b"):
        assert model.ask(question).belief <= 0.7
    with pytest.raises(nbr.NbrError, match=r"at least 0.5 and less than 1"):
        nbr.fit(implication(), confidence=1.0)


@pytest.mark.parametrize("rows", [8, 15, 19])
def test_no_rule_is_believed_above_nine_tenths_from_fewer_than_twenty_rows(rows: int) -> None:
    """Columns that are copies of each other agree in every row: no rule could be better supported."""
    copied = np.arange(rows) % 2
    frame = pd.DataFrame(dict.fromkeys("abc", copied))
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit())
    said = nbr.Reasoner(world, [nbr.Clause("a -> b", 1.0), nbr.Clause("b <-> c", 0.5)])
    ways = [
        nbr.fit(frame, rules=2, steps=200, world=world),
        nbr.fit(frame, "clauses", world=world),
        nbr.fit(frame, "clauses", "uniform", world=world),
        nbr.fit(frame, rules_from=said),
    ]
    beliefs = [rule.degree for model in ways for rule in model.rules]
    assert max(beliefs) > 0.4
    assert max(beliefs) < 0.9
    assert ways[0].ask("b", given="a").belief < 0.9


def test_frequencies_do_not_depend_on_confidence_and_beliefs_never_rise(tmp_path: Path) -> None:
    settings = {"rules": 1, "steps": 100, "width": 16}
    low, likely = (nbr.fit(implication(), confidence=level, **settings) for level in (0.95, None))
    assert low.probability("b", given="a").value == likely.probability("b", given="a").value
    assert torch.equal(low.log_prob(implication()), likely.log_prob(implication()))
    assert (low.beliefs < likely.beliefs).all()
    assert low.ask("b", given="a").belief < likely.ask("b", given="a").belief
    low.save(tmp_path / "m.nbr")
    again = nbr.load(tmp_path / "m.nbr")
    assert again.rules[0].support == low.rules[0].support
    assert again.probability("b", given="a").value == low.probability("b", given="a").value


def test_a_file_says_what_support_is(tmp_path: Path) -> None:
    rule = nbr.Clause("x0 -> x1", 0.7).with_belief(0.7, Support(150, 126, 0.8, 0.95, 0.7))
    model = nbr.Reasoner(nbr.World.bits(2), [rule])
    for name in ("m.toml", "m.nbr"):
        model.save(tmp_path / name)
        again = nbr.load(tmp_path / name)
        assert again.rules[0].support == rule.support
        assert again.probability("x1", given="x0").value == pytest.approx(1 / 1.2)
    (tmp_path / "m.toml").write_text((tmp_path / "m.toml").read_text().replace("held = 126", "held = 151"))
    with pytest.raises(nbr.NbrError, match="rule 1: 'support' needs held from 0 to rows"):
        nbr.load(tmp_path / "m.toml")


def test_words_in_the_place_of_a_network_count_frequencies_as_it_did() -> None:
    """What carries a whole rule has its likeliest belief, and half of its weight half of that."""
    support = Support(200, 180, 0.84, 0.95)
    assert support.carried(0.75, 0.75).likeliest == pytest.approx(0.84)
    assert support.carried(0.75, 0.5).likeliest == pytest.approx(0.6)
    assert support.carried(0.75, 0.0).likeliest == 0.0
