"""Many readings at once, and their proofs, beside every point written out."""

import itertools

import numpy as np
import pytest
import torch

import nbr
from eyes import Eye, glances
from nbr.rules.sensor import PlainEvidence

WORLD = nbr.World(a=nbr.Choice("u", "v", "w"), b=nbr.Real(0, 3, 1), c=nbr.Real(1, 3, 1), k=nbr.Bit())
EYES = {"a": Eye("w", "v", "u"), "b": Eye(*range(5)), "c": Eye(3, 1, 2)}
NAMES = {"a": "uvw", "b": "0123", "c": "123", "k": "01"}
BASES = [
    [],
    [("b + c = 4", 1.0)],
    [("b + c = 4", 0.9), ("a=u -> b>=1", 0.7), ("k <-> a=w", 0.95)],
    [("(b + 2*c) mod 3 = 0", 1.0), ("a=v | c=2", 0.6), ("k -> b=0", 1.0)],
]


def pictures(seed: int, count: int) -> dict[str, np.ndarray]:
    return {name: glances(seed + place, count, len(eye.labels)) for place, (name, eye) in enumerate(EYES.items())}


def reasoner(base: list[tuple[str, float]], **eyes: Eye) -> nbr.Reasoner:
    return nbr.Reasoner(WORLD, [nbr.Clause(*each) for each in base], sensors=EYES | eyes)


POINTS = [dict(zip(NAMES, values, strict=True)) for values in itertools.product(*NAMES.values())]
CODES = torch.stack([WORLD.point(point) for point in POINTS])


def said(logs: dict[str, np.ndarray]) -> np.ndarray:
    """What each picture says of its value at every point: (points, pictures)."""
    return np.array([[logs[name][EYES[name].labels.index(point[name])] for name in EYES] for point in POINTS])


def broken(model: nbr.Reasoner) -> np.ndarray:
    """What broken rules cost at every point, below 0."""
    found = np.zeros(len(POINTS))
    for rule in model.rules:
        cost = -np.inf if rule.degree == 1 else np.log1p(-rule.degree)
        found += np.where(rule.expression.holds(WORLD, CODES).numpy(), 0.0, cost)
    return found


@pytest.mark.parametrize("base", BASES)
def test_a_table_of_readings_has_the_best_point_of_each_row(base) -> None:
    model, seen = reasoner(base), pictures(0, 20)
    readings = model.see(seen)
    table, costs = readings.best(), readings.log_degrees()
    assert len(readings) == len(table) == 20
    for row in range(20):
        every = broken(model) + said({name: each[row] for name, each in seen.items()}).sum(axis=1)
        assert costs[row] == pytest.approx(every.max())
        mine = WORLD.show(WORLD.point(dict(table.iloc[row])))
        assert every[POINTS.index(mine)] == pytest.approx(every.max())
    one = readings[3]
    assert one.best().log_degree == pytest.approx(costs[3], abs=1e-6)
    assert {name: one.best().point[name] for name in EYES} == {
        name: WORLD.show(WORLD.point(dict(table.iloc[3])))[name] for name in EYES
    }
    assert [len(each.rules) for each in readings][-1] == len(readings[-1].rules)


def rival(model: nbr.Reasoner, logs: dict[str, np.ndarray], changes: np.ndarray) -> float:
    """By how much the best other reading is ahead after the worst of some changes (..., pictures); slopes are 1."""
    at, rules = said(logs), broken(model)
    best = int((at.sum(axis=1) + rules).argmax())
    differs = np.array([[point[name] != POINTS[best][name] for name in EYES] for point in POINTS])
    other = differs.any(axis=1)
    own = (at.sum(axis=1) + rules)[~other].max()
    moved = np.atleast_2d(changes)[:, None]
    gains = np.minimum(0, at + moved) - at + at[best] - np.maximum(-20, at[best] - moved)
    ahead = at.sum(axis=1) + rules + (gains * differs).sum(axis=2) - own
    return ahead[:, other].max()


@pytest.mark.parametrize("base", BASES)
def test_a_proof_ends_where_a_change_of_each_picture_can_win(base) -> None:
    model, seen = reasoner(base), pictures(1, 12)
    radius = model.see(seen).certified_radius(each=True)
    for row in range(12):
        logs = {name: each[row] for name, each in seen.items()}
        if radius[row] > 0:
            assert rival(model, logs, np.full(3, radius[row])) < 0
        if radius[row] < np.inf:
            assert rival(model, logs, np.full(3, radius[row] * 1.002 + 1e-5)) > -1e-4
    assert (radius > 0).any()


@pytest.mark.parametrize("base", BASES)
def test_no_way_to_share_a_change_breaks_a_proof(base) -> None:
    """All sharings on a grid, and the best of them hardly beyond the proof."""
    model, seen = reasoner(base), pictures(2, 8)
    readings = model.see(seen)
    total, each = readings.certified_radius(), readings.certified_radius(each=True)
    assert (total >= each * (1 - 1e-9)).all()
    assert (total <= each * 3**0.5 + 1e-9).all()
    shares = np.sqrt([part for part in itertools.product(range(25), repeat=3) if sum(part) == 24]) / 24**0.5
    for row in range(8):
        logs = {name: each[row] for name, each in seen.items()}
        if not 0 < total[row] < np.inf:
            continue
        assert rival(model, logs, total[row] * shares) < 0
        assert rival(model, logs, 1.04 * total[row] * shares) > 0


def test_a_single_reading_has_the_same_proof() -> None:
    model, seen = reasoner(BASES[2]), pictures(3, 4)
    for each in (False, True):
        many = model.see(seen).certified_radius(each)
        for row in range(4):
            alone = model.see({name: part[row] for name, part in seen.items()})
            assert alone.certified_radius(each) == many[row]
            assert model.see(seen)[row].certified_radius(each) == many[row]


def test_a_tie_proves_nothing_and_no_rival_everything() -> None:
    flat = {"a": np.zeros(3), "b": np.zeros(5), "c": np.zeros(3)}
    assert reasoner(BASES[1]).see(flat).certified_radius() == 0
    forced = nbr.Reasoner(WORLD, [nbr.Clause("a=u & b=2 & c=1", 1.0)], sensors=EYES).see(flat)
    assert forced.certified_radius() == np.inf
    assert forced.certified_radius(each=True) == np.inf


def test_a_condition_counts() -> None:
    """Under a condition the proof is that of a model in which it is a rule."""
    seen = pictures(4, 6)
    ruled = reasoner([*BASES[2], ("k & c<3", 1.0), ("b=1", 0.5)]).see(seen)
    asked = reasoner(BASES[2]).see(seen).given("k & c<3").given("b=1 @ 0.5")
    assert asked.points() == ruled.points()
    for each in (False, True):
        np.testing.assert_allclose(asked.certified_radius(each), ruled.certified_radius(each))
    one = reasoner(BASES[2]).see({name: part[0] for name, part in seen.items()})
    assert one.certified_radius(given="k & c<3, b=1 @ 0.5") == ruled.certified_radius()[0]
    with pytest.raises(nbr.NbrError, match="degree 1 and the condition"):
        reasoner(BASES[1]).see(seen).given("b=0").best()


def test_a_prior_counts() -> None:
    rates = nbr.priors.Independent(WORLD, [torch.tensor([0.9, 0.05, 0.05]), *nbr.priors.uniform(WORLD).columns[1:]])
    model = nbr.Reasoner(WORLD, sensors=EYES, prior=rates)
    readings = model.see(a=np.log([[0.2, 0.1, 1.0], [1.0, 0.1, 0.2]]))  # of w, v, u
    assert readings.best()["a"].tolist() == ["u", "u"]
    assert readings.log_degrees()[1] == pytest.approx(np.log(0.9 * 0.2 / 24))
    assert readings[1].best().point["a"] == "u"


def test_what_is_not_proved_is_said() -> None:
    with pytest.raises(nbr.NbrError, match="no picture was given"):
        reasoner([]).certified_radius()
    plain = reasoner([], a=Eye("u", "v", "w", proved=False)).see(pictures(0, 2))
    with pytest.raises(nbr.NbrError, match="a proof needs sensors whose evidence is bounded"):
        plain.certified_radius()
    with pytest.raises(nbr.NbrError, match="no point meets all rules"):
        nbr.Reasoner(WORLD, [nbr.Clause("k", 1.0), nbr.Clause("~k", 1.0)], sensors=EYES).see(pictures(0, 2)).best()
    assert PlainEvidence.of(("a", "b"), torch.zeros(1, 2)).within(torch.ones(1)) is None
