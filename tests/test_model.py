"""A model is one value: never changed, passed whole, and with observations it has all its verbs."""

from dataclasses import FrozenInstanceError

import pandas as pd
import pytest
import torch

import nbr
from nbr.density.learned import Learned
from nbr.density.likelihood import score
from nbr.model import Model
from nbr.priors import Independent
from nbr.tables import Table

WORLD = nbr.World.bits(3)
RULES = (nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x1 -> x2", 0.8))
RATES = Independent(WORLD, [torch.tensor([0.7, 0.3]), torch.tensor([0.5, 0.5]), torch.tensor([0.9, 0.1])])
POINTS = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * 3)


def test_it_cannot_be_changed() -> None:
    model = Model(WORLD, RULES)
    with pytest.raises(FrozenInstanceError):
        model.rules = ()  # type: ignore[misc]


def test_rules_switched_off_keep_their_numbers_and_change_nothing() -> None:
    model = Model(WORLD, RULES, prior=RATES)
    smaller = nbr.Reasoner.of(model.without([0]))
    assert [rule.degree for rule in smaller.rules] == [0.0, 0.8]
    assert [rule.degree for rule in model.rules] == [0.9, 0.8]  # as it was
    alone = nbr.Reasoner(WORLD, RULES[1:], prior=RATES)
    for question, given in [("x2", "x0"), ("x1", "x0"), ("x0", "~x2")]:
        assert smaller.ask(question, given).belief == pytest.approx(alone.ask(question, given).belief)
        assert smaller.probability(question, given).value == pytest.approx(alone.probability(question, given).value)


def test_a_prior_of_another_world_is_refused() -> None:
    with pytest.raises(nbr.NbrError, match="the prior has other variables than the model"):
        Model(nbr.World.bits(2), prior=RATES)


def test_a_model_on_a_model_multiplies_what_both_keep() -> None:
    """Three bodies: the weight of a point is the product of the prior and of P_keep of each."""
    lowest = Model(WORLD, (nbr.Clause("x0 | x2", 0.6),), prior=RATES)
    middle = Model(WORLD, RULES[:1], prior=lowest)
    whole = Model(WORLD, RULES[1:], prior=middle)
    assert whole.base is RATES
    assert whole.reads == {"x0", "x1", "x2"}
    weights = RATES.log_prob(POINTS).exp()
    for body in (lowest, middle, whole):
        weights = weights * torch.where(body.grades(POINTS)[:, 0] > 0, 1.0, 1 - body.beliefs[0])
    wanted = (weights / weights.sum()).log()
    torch.testing.assert_close(score(whole, Table(WORLD, POINTS)).log_prob, wanted)
    reasoner = nbr.Reasoner.of(whole)
    torch.testing.assert_close(reasoner.prior.log_prob(POINTS), score(middle, Table(WORLD, POINTS)).log_prob)
    x1 = float(wanted.exp()[POINTS[:, 1] == 1].sum())
    assert reasoner.probability("x1").value == pytest.approx(x1)


def test_a_learned_prior_is_the_model_it_stands_on(tmp_path) -> None:
    below = nbr.Reasoner(WORLD, RULES, prior=RATES)
    above = nbr.Reasoner(WORLD, [nbr.Clause("x0", 0.5)], prior=Learned(below.model))
    assert above.model.prior is below.model
    above.save(tmp_path / "above.nbr")
    loaded = nbr.load(tmp_path / "above.nbr")
    assert isinstance(loaded.model.prior, Model)
    assert loaded.probability("x2", "x0").value == pytest.approx(above.probability("x2", "x0").value)


def test_observations_leave_all_verbs() -> None:
    reasoner = nbr.Reasoner(WORLD, RULES, prior=RATES, views=[["x0", "x1"], ["x1", "x2"]])
    seen = reasoner.given("x0").given("~x2")
    given = "x0, ~x2"
    assert seen.probability("x1").value == pytest.approx(reasoner.probability("x1", given).value)
    assert seen.probability("x1").open == pytest.approx(reasoner.probability("x1", given).open)
    assert seen.explain("x1").probability.value == pytest.approx(reasoner.probability("x1", given).value)
    assert seen.best().point == reasoner.best(given).point
    assert str(seen.rank("x1")).splitlines()[1:] == str(reasoner.rank("x1", given)).splitlines()[1:]
    columns = ["variable", "value", "probability"]
    pd.testing.assert_frame_equal(seen.marginals()[columns], reasoner.marginals(given)[columns])


def test_rules_are_found_by_what_they_read() -> None:
    rules = [nbr.Clause("x0 -> x1", 0.9), nbr.Clause("x1", 0.5)]
    found = nbr.Reasoner(nbr.World.bits(3), rules).model.readers
    assert {name: [str(rule) for rule in each] for name, each in found.items()} == {
        "x0": [str(rules[0])],
        "x1": [str(rules[0]), str(rules[1])],
    }
