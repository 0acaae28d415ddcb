"""What stays open, against a linear program over the full joint, and against the formula for single cells."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

import nbr
import rule_bases
from nbr import priors
from nbr.density import left_open as module
from nbr.density import weighted
from nbr.density.couplings import Couplings
from nbr.density.left_open import reduced
from nbr.density.likelihood import log_weights
from nbr.density.resampling import spread
from nbr.points.numbered import numbered_points
from nbr.priors import Independent


def model(draw: random.Random, bits: int, choices: int = 0, views: list[list[str]] | None = None) -> nbr.Reasoner:
    """Crisp and fuzzy rules over a random independent prior."""
    world = rule_bases.world(draw, bits, choices)
    rules: list[nbr.Rule] = [
        nbr.Clause(rule_bases.statement(draw, world), draw.uniform(0.2, 0.97)) for _ in range(draw.randint(1, 6))
    ]
    slope = draw.uniform(-2, 2)
    rules.append(nbr.Fuzzy(lambda points: torch.sigmoid(slope * points.sum(dim=1)), 0.6))
    weights = [torch.tensor([draw.uniform(0.05, 1) for _ in range(v.size or 0)]) for v in world.variables.values()]
    return nbr.Reasoner(world, rules, prior=Independent(world, weights), views=views)


def masses(reasoner: nbr.Reasoner) -> tuple[torch.Tensor, np.ndarray]:
    listed = numbered_points(reasoner.world)
    assert listed is not None
    weights = log_weights(reasoner.model, listed)
    assert weights is not None
    return listed.points, torch.softmax(weights, 0).numpy()


def oracle(reasoner: nbr.Reasoner, views: list[list[str]], question: str, given: str) -> tuple[float, float] | None:
    """Charnes and Cooper's linear program over all points of the world: m scaled so that C has mass 1."""
    points, mass = masses(reasoner)
    held = nbr.parse(given).holds(reasoner.world, points).numpy().astype(float)
    both = held * nbr.parse(question).holds(reasoner.world, points).numpy()
    rows = []
    for view in views:
        columns = points[:, [reasoner.world.column(name) for name in view]]
        member = torch.unique(columns, dim=0, return_inverse=True)[1].numpy()
        rows.append(np.eye(member.max() + 1)[member].T)
    sums = np.concatenate(rows)
    equal = np.block([[sums, -(sums @ mass)[:, None]], [held[None], np.zeros((1, 1))]])
    goal = np.append(np.zeros(len(sums)), 1.0)
    ends = []
    for sign in (1, -1):
        found = linprog(sign * np.append(both, 0.0), A_eq=equal, b_eq=goal, bounds=(0, None), method="highs")
        if found.status == 2:
            return None
        assert found.status == 0, found.message
        ends.append(sign * found.fun)
    return ends[0], ends[1]


def compare(reasoner: nbr.Reasoner, views: list[list[str]], question: str, given: str) -> bool:
    """Whether there was an answer to compare."""
    wanted = oracle(reasoner, views, question, given)
    try:
        found = nbr.Reasoner(reasoner.world, reasoner.rules, prior=reasoner.prior, views=views).probability(
            question, given
        )
    except nbr.NbrError as error:
        assert "probability 0" in str(error)
        return False
    assert found.open is not None
    assert wanted is not None
    assert found.note == ""
    assert found.open == pytest.approx(wanted, abs=1e-6)
    assert found.open[0] <= found.value <= found.open[1]
    return True


@pytest.mark.parametrize("seed", range(40))
def test_two_views_against_the_linear_program(seed: int) -> None:
    draw = random.Random(seed)
    reasoner = model(draw, draw.randint(2, 4), draw.randint(0, 2))
    names = list(reasoner.world.names)
    draw.shuffle(names)
    shared = names[: draw.randint(0, 2)]
    cut = draw.randint(len(shared), len(names))
    views = [sorted(names[:cut]), sorted([*shared, *names[cut:]])]
    views = [view for view in views if view]
    question, given = rule_bases.statement(draw, reasoner.world), rule_bases.statement(draw, reasoner.world, 1)
    compare(reasoner, views, question, given)


@pytest.mark.parametrize("seed", range(40))
def test_several_views_against_the_linear_program(seed: int) -> None:
    draw = random.Random(100 + seed)
    reasoner = model(draw, draw.randint(3, 5), draw.randint(0, 1))
    names = reasoner.world.names
    views = [draw.sample(names, draw.randint(2, min(3, len(names)))) for _ in range(draw.randint(2, 4))]
    question, given = rule_bases.statement(draw, reasoner.world), rule_bases.statement(draw, reasoner.world, 1)
    compare(reasoner, views, question, given)


def test_the_comparisons_above_compare_something() -> None:
    """Most random questions have an answer that is more than a point."""
    draw = random.Random(5)
    answered = wide = 0
    for _ in range(20):
        reasoner = model(draw, 4)
        views = [["x0", "x1"], ["x1", "x2", "x3"]]
        question, given = rule_bases.statement(draw, reasoner.world), rule_bases.statement(draw, reasoner.world, 1)
        answered += compare(reasoner, views, question, given)
        low, high = oracle(reasoner, views, question, given) or (0.0, 0.0)
        wide += high - low > 1e-3
    assert answered >= 15
    assert wide >= 5


def test_single_cells_have_the_bounds_of_frechet() -> None:
    """The formula of StatMatch's Frechet.bounds.cat, written out: for shared z, x on one side and y on the other

    low = sum over z of p(z) max(0, p(x|z) + p(y|z) - 1), high = sum over z of p(z) min(p(x|z), p(y|z)).
    """
    reasoner = model(random.Random(7), 4, views=[["x0", "x1", "x2"], ["x1", "x2", "x3"]])
    points, mass = masses(reasoner)
    for x in (0, 1):
        for y in (0, 1):
            low = high = 0.0
            for z1 in (0, 1):
                for z2 in (0, 1):
                    here = ((points[:, 1] == z1) & (points[:, 2] == z2)).numpy()
                    p = mass[here].sum()
                    px = mass[here & (points[:, 0] == x).numpy()].sum() / p
                    py = mass[here & (points[:, 3] == y).numpy()].sum() / p
                    low, high = low + p * max(0.0, px + py - 1), high + p * min(px, py)
            found = reasoner.probability(f"x0={x} & x3={y}")
            assert found.open == pytest.approx((low, high), abs=1e-12)
            px = mass[(points[:, 0] == x).numpy()].sum()  # couple first, then condition
            assert reasoner.probability(f"x3={y}", f"x0={x}").open == pytest.approx((low / px, high / px), abs=1e-12)


def test_settled_where_one_view_shows_everything() -> None:
    reasoner = model(random.Random(1), 4, views=[["x0", "x1", "x2"], ["x2", "x3"]])
    found = reasoner.probability("x0", "x1 | x2")
    assert found.open == (found.value, found.value)
    assert model(random.Random(1), 4).probability("x0", "x1 | x2").open is None


def test_nothing_shared_and_a_column_nobody_saw() -> None:
    reasoner = nbr.Reasoner(
        nbr.World.bits(3),
        prior=Independent(nbr.World.bits(3), [torch.tensor([0.7, 0.3]), torch.tensor([0.6, 0.4]), torch.ones(2)]),
        views=[["x0"], ["x1"]],
    )
    assert reasoner.probability("x1", "x0").open == pytest.approx((0.0, 1.0))
    assert reasoner.probability("x0 & x1").open == pytest.approx((0.0, 0.3))
    assert reasoner.probability("x0 | x1").open == pytest.approx((0.4, 0.7))
    assert reasoner.probability("x0 & x2").open == pytest.approx((0.0, 0.3))


def test_columns_that_make_no_difference_are_left_out() -> None:
    assert reduced([("a", "b"), ("b", "c"), ("c", "d")], frozenset({"a", "b"})) == [frozenset({"a", "b"})]
    chain = reduced([("a", "b"), ("b", "c"), ("c", "d")], frozenset({"a", "d"}))
    assert chain == [frozenset({"a", "b"}), frozenset({"b", "c"}), frozenset({"c", "d"})]


def test_leaving_agreements_out_only_widens(monkeypatch: pytest.MonkeyPatch) -> None:
    views = [["x0", "x1", "x4"], ["x1", "x2"], ["x2", "x3", "x4"], ["x0", "x3"]]
    reasoner = model(random.Random(3), 5, views=views)
    exact = {question: reasoner.probability(question, "x0") for question in ("x2", "x3 & x2")}
    monkeypatch.setattr(module, "CELLS", 4)
    for question, found in exact.items():
        wider = reasoner.probability(question, "x0")
        assert found.open is not None
        assert wider.open is not None
        assert "wider" in wider.note
        assert wider.open[0] <= found.open[0] + 1e-9
        assert wider.open[1] >= found.open[1] - 1e-9


def test_many_classes_on_both_sides() -> None:
    """Neither side comes down to two classes: a linear program for each shared value."""
    world = nbr.World(a=nbr.Choice(*"pqr"), z=nbr.Bit(), b=nbr.Choice(*"pqr"))
    rules = [nbr.Clause("a=p -> b=q", 0.8), nbr.Clause("z -> a!=r", 0.7), nbr.Clause("b=r -> z", 0.6)]
    reasoner = nbr.Reasoner(world, rules)
    question = "(a=p & b=p) | (a=q & b=q) | (a=r & b=r)"
    assert compare(reasoner, [["a", "z"], ["z", "b"]], question, "a!=p | b!=q")


def test_draws_of_shared_columns_agree_with_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    views = [["x0", "x1", "x2", "x3", "x4"], ["x1", "x2", "x3", "x4", "x5", "x6"]]
    reasoner = model(random.Random(3), 7, views=views)
    asked = [("x5", "x0"), ("x0 & x5", "x1 | x6"), ("x0 -> x6", "x5 | x0, x1")]
    exact = [reasoner.probability(question, given).open for question, given in asked]
    monkeypatch.setattr(weighted, "LISTED", 0)
    monkeypatch.setattr(weighted, "HOLED", 0)
    for (question, given), wanted in zip(asked, exact, strict=True):
        found = reasoner.probability(question, given, budget=2)
        assert found.note.startswith("over ")
        assert found.open == pytest.approx(wanted, abs=0.01)


def test_a_shared_number() -> None:
    """Beyond 0.5 the rules make x and y likelier, and what they have to do with each other is open."""
    world = nbr.World(x=nbr.Bit(), z=nbr.Real(0, 1), y=nbr.Bit())
    rules = [nbr.Clause("z>=0.5 -> x", 0.8), nbr.Clause("z>=0.5 -> y", 0.6)]
    reasoner = nbr.Reasoner(world, rules, views=[["x", "z"], ["z", "y"]])
    above = 1.2 * 1.4 / (1.2 * 1.4 + 4)  # P(z >= 0.5)
    x = above / 1.2 + (1 - above) / 2
    low, high = above * (1 / 1.2 + 1 / 1.4 - 1), above / 1.4 + (1 - above) / 2
    found = reasoner.probability("y", "x")
    assert found.exact
    assert found.open == pytest.approx((low / x, high / x), abs=0.02)
    assert reasoner.probability("x & y").open == pytest.approx((low, high), abs=0.02)
    below = reasoner.probability("y", "x, z<0.25")  # one half each: anything goes
    assert below.open == pytest.approx((0.0, 1.0), abs=1e-6)


def test_a_number_on_one_side() -> None:
    """t is seen with z, and y with z: t in five thirds of its range is one event."""
    world = nbr.World(t=nbr.Real(0, 9), z=nbr.Bit(), y=nbr.Bit())
    rules = [nbr.Clause("z -> t>=6", 0.75), nbr.Clause("z -> y", 0.5)]
    reasoner = nbr.Reasoner(world, rules, views=[["t", "z"], ["z", "y"]])
    yes = (1 + 2 * 0.25) / 3 * 1.5  # the weight of z = 1, beside 2 of z = 0
    share = yes / (yes + 2)
    given_z = 1 / 1.5, 1 / 1.5  # P(t >= 6 | z), P(y | z)
    high = share * min(given_z) + (1 - share) * min(1 / 3, 1 / 2)
    low = share * (sum(given_z) - 1)
    assert reasoner.probability("t>=6 & y").open == pytest.approx((low, high), abs=0.02)


def test_the_error_is_that_of_other_tables() -> None:
    """Against the spread over many pairs of tables drawn from one joint distribution."""
    z, x, y = np.array([0.3, 0.7]), np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([[0.9, 0.1], [0.35, 0.65]])
    truth = np.stack([np.zeros((2, 2, 2)), np.zeros((2, 2, 2))])
    truth[0][:, 1, 1], truth[1][:, 1, :] = 1.0, 1.0  # y=1 given x=1
    couplings = Couplings(z[:, None] * x, z[:, None] * y, truth[0], truth[1])
    draws = np.random.default_rng(0)
    ends = []
    for _ in range(300):
        one, other = (draws.multinomial(300, side.ravel()).reshape(2, 2) for side in (couplings.left, couplings.right))
        shared = (one.sum(axis=1) + other.sum(axis=1)) / 600
        sides = [shared[:, None] * side / side.sum(axis=1, keepdims=True) for side in (one, other)]
        ends.append(Couplings(sides[0], sides[1], truth[0], truth[1]).range())
    wanted = 1.645 * np.std(ends, axis=0)  # the range is many errors wide
    found = spread(couplings, 300, 300, np.random.default_rng(1), time.monotonic() + 60)
    assert found == pytest.approx(tuple(wanted), rel=0.25)
    assert spread(couplings, 300, 300, np.random.default_rng(1), time.monotonic() - 1) is None


def test_fewer_rows_leave_a_larger_error(tmp_path: Path) -> None:
    views = [["x0", "x1"], ["x1", "x2"]]
    few, many = (
        nbr.Reasoner(*_body(), views=views, view_rows=[rows, rows]).probability("x2", "x0") for rows in (100, 10_000)
    )
    assert few.open == many.open
    assert few.open_error is not None
    assert many.open_error is not None
    assert max(few.open_error) > 5 * max(many.open_error) > 0
    assert few.widened is not None
    assert few.widened[0] <= few.open[0] <= few.open[1] <= few.widened[1]
    saved = nbr.Reasoner(*_body(), prior=priors.uniform(_body()[0]), views=views, view_rows=[100, 100])
    saved.save(tmp_path / "m.nbr")
    assert nbr.load(tmp_path / "m.nbr").probability("x2", "x0").open_error == few.open_error
    assert nbr.Reasoner(*_body(), views=views).probability("x2", "x0").open_error is None
    with pytest.raises(nbr.NbrError, match="view_rows"):
        nbr.Reasoner(*_body(), views=views, view_rows=[3])


def test_either_end_is_widened_by_its_own_error() -> None:
    found = nbr.Reasoner(*_body(), views=[["x0", "x1"], ["x1", "x2"]], view_rows=[100, 100]).probability("x2", "x0")
    told = replace(found, open=(0.25, 0.5), open_error=(0.125, 0.0625))
    assert told.widened == (0.125, 0.5625)
    assert replace(told, open_error=(0.5, 0.75)).widened == (0.0, 1.0)
    assert replace(told, open_error=None).widened == (0.25, 0.5)


def test_models_together_keep_how_many_rows_showed_what() -> None:
    one = nbr.Reasoner(*_body(), views=[["x0", "x1"], ["x1", "x2"]], view_rows=[100, 200])
    other = nbr.Reasoner(
        nbr.World(y=nbr.Bit(), z=nbr.Bit()), [nbr.Clause("y -> z", 0.6)], views=[["y", "z"]], view_rows=[30]
    )
    both = one & other
    assert dict(zip(both.views or (), both.view_rows or (), strict=True)) == {
        ("x0", "x1"): 100,
        ("x1", "x2"): 200,
        ("y", "z"): 30,
    }


def _body() -> tuple[nbr.World, list[nbr.Rule]]:
    return nbr.World.bits(3), [nbr.Clause("x0 -> x1", 0.8), nbr.Clause("x1 -> x2", 0.7)]
