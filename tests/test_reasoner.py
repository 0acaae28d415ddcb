"""Asking against the definitions of the paper, and the laws that any belief function obeys."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import models
import nbr
import oracle
from models import bit, look_up, random_model, table_1

TABLE_1 = [
    ("x10", "x0=1", 0, 1 / 3),
    ("x10", "x0=0", 2 / 3, 1),
    ("x5", "x0=1, x1..x4=0", 8 / 9, 1),
    ("x5", "x0=1, x1..x4=0, x10=1", 2 / 3, 1),
    ("x5", "x0=1, x1..x4=0, x6..x10=1", 2 / 3, 3 / 4),
]


@pytest.mark.parametrize(("question", "given", "belief", "plausibility"), TABLE_1)
def test_table_1_of_the_paper(question: str, given: str, belief: float, plausibility: float) -> None:
    answer = table_1().ask(question, given)
    assert answer.belief == pytest.approx(belief, abs=1e-9)
    assert answer.plausibility == pytest.approx(plausibility, abs=1e-9)
    assert answer.exact


def test_boolean_questions_equal_the_definitions() -> None:
    asked = 0
    for seed in range(300):
        reasoner, table, beliefs = random_model(seed)
        question, condition = bit(8, 0), bit(8, 1)
        inside = condition == 1
        if oracle.expectation(table[inside], beliefs) == 0:
            with pytest.raises(nbr.NbrError, match="contradict"):
                reasoner.ask("x0", given="x1")
            continue
        expected = oracle.answer(table[inside], beliefs, question[inside].astype(float))
        answer = reasoner.ask("x0", given="x1")
        assert (answer.belief, answer.plausibility, answer.conflict) == pytest.approx(expected, abs=1e-9), seed
        assert answer.exact
        asked += 1
    assert asked > 200


def test_fuzzy_questions_and_conditions_equal_the_definitions() -> None:
    asked = 0
    for seed in range(200):
        reasoner, table, beliefs = random_model(seed, most=5)
        random = np.random.default_rng(1000 + seed)
        member, condition = (models.grades(random, 8, 1)[:, 0] for _ in range(2))
        with_condition = np.concatenate([table, condition[:, None]], axis=1)
        if oracle.expectation(with_condition, np.append(beliefs, 1.0)) == 0:
            continue
        expected = oracle.answer(table, beliefs, member, condition)
        answer = reasoner.ask(look_up(member), given=look_up(condition))
        assert (answer.belief, answer.plausibility, answer.conflict) == pytest.approx(expected, abs=1e-9), seed
        assert answer.exact
        asked += 1
    assert asked > 150


def test_a_fuzzy_proposition_is_not_one_more_rule() -> None:
    """The per-world scaling of equation (6) matters: without it this belief would be 0.8."""
    world = nbr.World.bits(1)
    reasoner = nbr.Reasoner(world, [nbr.Fuzzy(lambda points: 0.5 * torch.ones(len(points)), 1.0)])
    half = nbr.Fuzzy(lambda points: 0.8 * torch.ones(len(points)))
    answer = reasoner.ask(half)
    assert (answer.belief, answer.plausibility) == pytest.approx((0.8, 0.8))
    assert answer.conflict == pytest.approx(0.5)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_laws_of_belief_functions(seed: int) -> None:
    reasoner, table, beliefs = random_model(seed)
    if oracle.expectation(table, beliefs) == 0:
        return
    one, both, either = (reasoner.ask(text) for text in ("x0", "x0 & x1", "x0 | x1"))
    other = reasoner.ask("~x0")
    assert one.belief <= one.plausibility + 1e-12
    assert one.belief == pytest.approx(1 - other.plausibility, abs=1e-12)
    assert both.belief <= one.belief + 1e-12 <= either.belief + 2e-12
    assert both.plausibility <= one.plausibility + 1e-12 <= either.plausibility + 2e-12
    shuffled = nbr.Reasoner(reasoner.world, reasoner.rules[::-1])
    assert shuffled.ask("x0").belief == pytest.approx(one.belief, abs=1e-12)
    idle = nbr.Reasoner(reasoner.world, [*reasoner.rules, nbr.Clause("x0 & x2", 0.0)])
    assert idle.ask("x0").plausibility == pytest.approx(one.plausibility, abs=1e-12)


def test_masses_equal_the_definitions() -> None:
    for seed in range(100):
        reasoner, table, beliefs = random_model(seed, most=5)
        heights = oracle.memberships(table).max(axis=1)
        weights = oracle.chances(beliefs) * heights
        if weights.sum() == 0:
            with pytest.raises(nbr.NbrError, match="no mass"):
                reasoner.world_masses()
            continue
        # The oracle counts with rule 1 as the slowest bit, the library with rule 1 as the lowest bit.
        rules = len(beliefs)
        order = [int(sum(y << i for i, y in enumerate(world))) for world in itertools.product([0, 1], repeat=rules)]
        expected = np.zeros(1 << rules)
        expected[order] = weights / weights.sum()
        np.testing.assert_allclose(reasoner.world_masses().numpy(), expected, atol=1e-12)
        focal = reasoner.focal_sets()
        assert sum(item.mass for item in focal) == pytest.approx(1)
        assert all(item.grades.max() == 1 for item in focal)
        shapes = {tuple(item.grades.tolist()) for item in focal}
        assert len(shapes) == len(focal), "worlds with the same intersection must add up"
        against = 1 - focal[0].points[:, 0]
        believed = sum(item.mass * (1 - torch.minimum(item.grades, against).max().item()) for item in focal)
        assert believed == pytest.approx(reasoner.ask("x0").belief, abs=1e-9)


def test_classical_sets_are_dempsters_rule() -> None:
    """Section 2.1 two ways: K crisp sets in a reasoner, and K simple support functions in nbr.evidence."""
    random = np.random.default_rng(0)
    for _ in range(30):
        sets, beliefs = random.integers(1, 256, 5).tolist(), random.random(5).tolist()
        rules = [nbr.Clause(spelled(members), belief) for members, belief in zip(sets, beliefs, strict=True)]
        reasoner = nbr.Reasoner(nbr.World.bits(3), rules)
        masses = nbr.evidence.simple_support(sets, beliefs, labels=8)
        joint = nbr.evidence.dempster(masses)
        odd = sum(1 << i for i in range(8) if i & 1)
        assert reasoner.ask("x0").belief == pytest.approx(nbr.evidence.belief(joint)[odd].item(), abs=1e-9)
        assert reasoner.ask("x0").conflict == pytest.approx(nbr.evidence.conflict(masses).item(), abs=1e-9)
        for focal in reasoner.focal_sets():
            numbers = (focal.points @ torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)).long()
            members = sum(1 << number for number in numbers[focal.grades == 1].tolist())
            assert joint[members].item() == pytest.approx(focal.mass, abs=1e-9)


def spelled(members: int) -> str:
    points = [i for i in range(8) if members >> i & 1]
    return " | ".join(f"(x0={i & 1} & x1={i >> 1 & 1} & x2={i >> 2})" for i in points)


def test_decoder_asks_about_what_is_observed() -> None:
    """Rules over two latent bits; the observed world is their sum."""
    latent = nbr.World.bits(2)
    world = nbr.World(total=nbr.Choice("none", "one", "two"))
    rules = [nbr.Clause("x0", 0.6), nbr.Clause("x1", 0.5)]
    reasoner = nbr.Reasoner(world, rules, latent=latent, decoder=lambda z: z.sum(dim=1, keepdim=True))
    answer = reasoner.ask("total in {one, two}")
    assert (answer.belief, answer.plausibility) == pytest.approx((1 - 0.4 * 0.5, 1.0))
    assert reasoner.ask("total=two").belief == pytest.approx(0.3)
    assert reasoner.ask("total=two", given="total!=none").belief == pytest.approx(0.3)
    with pytest.raises(nbr.NbrError, match="latent="):
        nbr.Reasoner(world, rules, decoder=lambda z: z)


def test_contradiction_is_named() -> None:
    world = nbr.World.bits(3)
    rules = [nbr.Clause("x2", 1.0), nbr.Clause("x0 -> x1", 1.0, name="law"), nbr.Clause("x1 -> ~x0", 1.0)]
    with pytest.raises(nbr.NbrError, match=r"contradicts rule 2 \(law\) and rule 3 \(x1 -> ~x0\)") as error:
        nbr.Reasoner(world, rules).ask("x2", given="x0")
    assert "rule 1" not in str(error.value)
    with pytest.raises(nbr.NbrError, match="rule 1 .* and rule 2 .* contradict each other"):
        nbr.Reasoner(world, [nbr.Clause("x0", 1.0), nbr.Clause("~x0", 1.0)]).ask("x2")
    with pytest.raises(nbr.NbrError, match="no point"):
        nbr.Reasoner(world, rules).ask("x2", given="x0 & ~x0")
    with pytest.raises(nbr.NbrError, match="grade is 0"):
        nbr.Reasoner(world).ask("x2", given=lambda points: torch.zeros(len(points)))


def test_combination_is_a_union_of_knowledge() -> None:
    first = nbr.Reasoner(nbr.World(a=nbr.Bit(), b=nbr.Bit()), [nbr.Clause("a -> b", 0.8)])
    second = nbr.Reasoner(nbr.World(b=nbr.Bit(), c=nbr.Bit()), [nbr.Clause("b -> c", 0.5)])
    third = nbr.Reasoner(nbr.World(c=nbr.Bit(), d=nbr.Real(0, 1)), [nbr.Clause("c -> d>=0.5", 0.9)])
    joint = first & second
    assert joint.world.names == ("a", "b", "c")
    assert joint.ask("c", given="a").belief == pytest.approx(0.4)
    left, right = (first & second) & third, first & (second & third)
    assert left.ask("d>=0.5", given="a").belief == pytest.approx(0.36)
    assert right.ask("d>=0.5", given="a").belief == pytest.approx(0.36)
    with pytest.raises(nbr.NbrError, match="'b' differs"):
        first & nbr.Reasoner(nbr.World(b=nbr.Choice("b", "c")))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"engine": "magic"}, "unknown engine"),
        ({"budget": 0}, "budget"),
        ({"budget": float("nan")}, "budget"),
        ({"tolerance": -1}, "tolerance"),
        ({"grid": 0}, "grid"),
    ],
)
def test_wrong_settings(settings: dict, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        table_1().ask("x0", **settings)


def test_answers_stay_within_0_and_1_and_in_order() -> None:
    for seed in range(60):
        reasoner, table, beliefs = random_model(seed)
        if oracle.expectation(table, beliefs) == 0:
            continue
        for engine in ("auto", "count", "sampled"):
            answer = reasoner.ask("x0", engine=engine, tolerance=0.05, budget=0.2)
            for low, high in (answer.bounds.belief, answer.bounds.plausibility, answer.bounds.conflict):
                assert 0 <= low <= high <= 1
            assert answer.belief <= answer.plausibility
