"""Belief of a reading under changes: no evidence within reach has a wider interval than the corner."""

import itertools

import numpy as np
import pytest
import torch

import nbr
import oracle
from eyes import Eye, glances

WORLD = nbr.World(a=nbr.Choice("u", "v", "w"), b=nbr.Choice("u", "v", "w"))
EYES = {name: Eye("u", "v", "w") for name in WORLD.names}
BASES = [[], [("a=u <-> b=u", 1.0)], [("a=u <-> b=u", 0.7), ("a=v -> b=w", 0.9)]]
POINTS = list(itertools.product("uvw", repeat=2))


def interval(base: list[tuple[str, float]], logs: np.ndarray, reading: tuple[str, str]) -> tuple[float, float]:
    """By the definition: a rule against each label of each picture, and the rules of the model."""
    codes = np.array([["uvw".index(value) for value in point] for point in POINTS])
    grades = [codes[:, picture] != label for picture in (0, 1) for label in range(3)]
    for text, _ in base:
        model = nbr.Reasoner(WORLD, [nbr.Clause(text, 1.0)])
        points = np.array([WORLD.point(dict(zip("ab", point, strict=True))).numpy() for point in POINTS])
        grades.append(model.grades(torch.from_numpy(points))[:, 0].numpy())
    beliefs = np.array([*(1 - np.exp(logs)).flatten(), *(belief for _, belief in base)])
    member = np.array([float(point == reading) for point in POINTS])
    return oracle.answer(np.array(grades, dtype=float).T, beliefs, member)[:2]


@pytest.mark.parametrize("base", BASES)
def test_no_change_within_reach_leaves_the_interval(base) -> None:
    model, dice = nbr.Reasoner(WORLD, [nbr.Clause(*each) for each in base], sensors=EYES), np.random.default_rng(0)
    widths = []
    for seed in range(4):
        logs, length = glances(seed, 2, 3), 0.4
        seen = model.see(a=logs[0], b=logs[1])
        found = seen.belief_within(length)
        assert found.exact
        reading = (found.reading["a"], found.reading["b"])
        tried = [np.minimum(0, logs + length * dice.choice([-1, -0.3, 0, 0.5, 1], (2, 3))) for _ in range(12)]
        intervals = np.array([interval(base, each, reading) for each in [logs, *tried]])
        for column, (low, high) in enumerate((found.belief, found.plausibility)):
            assert (intervals[:, column] >= low - 1e-9).all()
            assert (intervals[:, column] <= high + 1e-9).all()
            widths.append(high - low)
        own = np.array([["uvw"[label] == value for label in range(3)] for value in reading])
        for ends, way in ((0, -1), (1, 1)):  # and the corner itself is within reach
            corner = interval(base, np.minimum(0, logs + way * length * np.where(own, 1, -1)), reading)
            assert corner == pytest.approx((found.belief[ends], found.plausibility[ends]))
    assert max(widths) > 0.1


def test_nothing_changes_within_nothing() -> None:
    logs = glances(7, 2, 3)
    seen = nbr.Reasoner(WORLD, sensors=EYES).see(a=logs[0], b=logs[1])
    found = seen.belief_within(0.0)
    asked = seen.ask(", ".join(f"{name}={value}" for name, value in found.reading.items()))
    assert found.belief == pytest.approx((asked.belief, asked.belief))
    assert found.kind == "proved"
    with pytest.raises(nbr.NbrError, match="a length must be a number of at least 0, not -1"):
        seen.belief_within(-1.0)
    with pytest.raises(nbr.NbrError, match="no picture was given"):
        nbr.Reasoner(WORLD, sensors=EYES).belief_within(1.0)
    blind = nbr.Reasoner(WORLD, sensors={"a": Eye("u", "v", "w", proved=False)}).see(a=logs[0])
    with pytest.raises(nbr.NbrError, match="the sensor of 'a' has no bounds"):
        blind.belief_within(1.0)
