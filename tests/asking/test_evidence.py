"""Evidence with a degree is a rule for one question, by every verb that takes a condition."""

import numpy as np
import pytest
import torch

import nbr
import oracle
from nbr.asking.many import ask_many
from nbr.asking.question import AskSettings

SAID = ("x0", "~x1 | x2", "x3", "x2 & ~x0", "x1 <-> x3", "x0 -> ~x3")


def drawn(seed: int) -> tuple[nbr.Reasoner, str, str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A model, a question and a condition, and what the definitions need of them."""
    draw = np.random.default_rng(seed)
    world = nbr.World.bits(4)
    rules = [nbr.Clause(str(said), float(draw.uniform(0.2, 0.9))) for said in draw.choice(SAID, size=3, replace=False)]
    rules.append(nbr.Fuzzy(lambda points: 0.3 + 0.6 * points[:, 1] * (1 - points[:, 3]), belief=0.7, name="soft"))
    model = nbr.Reasoner(world, rules)
    points = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * 4)
    certain, other, question = (str(said) for said in draw.choice(SAID, size=3, replace=False))
    degrees = draw.uniform(0.1, 0.9, size=2).round(3)
    given = f"({other}) @ {degrees[0]}, {certain}, ~x2 @ {degrees[1]}"
    holds = [nbr.Clause(said, 1.0).bind(world).grades(points).numpy() for said in (other, "~x2", certain, question)]
    grades = np.concatenate([model.grades(points).numpy(), np.stack(holds[:2], axis=1)], axis=1)
    return model, question, given, grades, np.append(model.beliefs.numpy(), degrees), holds[2], holds[3]


@pytest.mark.parametrize("seed", range(12))
def test_against_every_world(seed: int) -> None:
    model, question, given, grades, beliefs, condition, member = drawn(seed)
    belief, plausibility, conflict = oracle.answer(grades, beliefs, member, condition)
    found = model.ask(question, given)
    assert found.exact
    assert found.given == given
    assert (found.belief, found.plausibility, found.conflict) == pytest.approx((belief, plausibility, conflict))
    weights = oracle.chances(beliefs) @ oracle.memberships(grades) * condition
    often = model.probability(question, given)
    assert often.value == pytest.approx(weights @ member / weights.sum())
    (row,) = model.ask_many([(question, given)]).to_dict("records")
    assert (row["belief"], row["plausibility"]) == pytest.approx((belief, plausibility))
    explained = model.explain(question, given)
    assert explained.answer.given == given
    assert explained.rules[-1].text == f"~x2 @ {beliefs[-1]:g}"
    assert model.best(given).point is not None
    ranked = {value.value: value.answer for value in model.rank("x0", given).values}
    assert ranked["1"].belief == pytest.approx(model.ask("x0", given).belief)
    assert model.given(given).ask(question).belief == pytest.approx(belief)


def test_marginals_samples_and_many_at_once() -> None:
    model = nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0 -> x1", belief=0.9)])
    weight = {(0, 0): 1 - 0.8, (0, 1): 1.0, (1, 0): 0.1 * (1 - 0.8), (1, 1): 1.0}
    share = (weight[1, 0] + weight[1, 1]) / sum(weight.values())
    table = model.marginals(["x1 @ 0.8", "x1"])
    assert table.query("variable == 'x0' and value == '1'")["probability"].tolist() == pytest.approx([share, 0.5])
    many = nbr.Reasoner(model.world, model.rules, prior=nbr.priors.uniform(model.world))
    rows = many.ask_many([("x0", "x1 @ 0.8"), ("x0", "x1")])
    assert rows["probability"].tolist() == pytest.approx([share, 0.5])
    drawn = model.sample(4000, "x1 @ 0.8", seed=0)["x0"].mean()
    assert abs(drawn - share) < 0.03


def test_not_the_same_as_its_opposite_and_conflict_is_no_error() -> None:
    model = nbr.Reasoner(nbr.World.bits(1))
    assert model.ask("x0", "x0 @ 0.8").belief == pytest.approx(0.8)
    assert model.ask("x0", "~x0 @ 0.2").belief == 0
    assert model.ask("x0", "x0 @ 0.8, ~x0").conflict == pytest.approx(0.8)
    assert model.ask("x0", "x0 @ 1").belief == 1
    assert model.ask("x0", "x0 @ 0").belief == 0
    assert model.probability("x0", "x0 @ 0.8").value == pytest.approx(1 / 1.2)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("x0 | x1 @ 0.8", "inside | or ~"),
        ("~(x0 @ 0.8)", "inside | or ~"),
        ("any(x0, x1) @ 1.5", "a degree must be a number from 0 to 1"),
        ("(x0 @ 0.5) @ 0.5", "inside | or ~"),
        ("x7 @ 0.5", "unknown variable 'x7'"),
        ("x0 @", "something is missing at the end"),
    ],
)
def test_where_a_degree_may_not_stand(given: str, says: str) -> None:
    model = nbr.Reasoner(nbr.World.bits(2))
    for verb in (model.ask, model.probability, model.explain):
        with pytest.raises(nbr.NbrError, match="condition: ") as told:
            verb("x0", given)
        assert says in str(told.value)
    with pytest.raises(nbr.NbrError, match="condition"):
        ask_many(model.model, [("x0", given)], AskSettings())


def test_a_question_has_no_degree() -> None:
    with pytest.raises(nbr.NbrError, match="at character 6"):
        nbr.Reasoner(nbr.World.bits(1)).ask("x0 @ 0.8")
