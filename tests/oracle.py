"""The definitions of the paper, written out: every world, every point, no shortcut."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np


@cache
def worlds(rules: int) -> np.ndarray:
    return np.array(list(itertools.product([0, 1], repeat=rules)), dtype=bool).reshape(1 << rules, rules)


def chances(beliefs: np.ndarray) -> np.ndarray:
    y = worlds(len(beliefs))
    return np.where(y, beliefs, 1 - beliefs).prod(axis=1)


def memberships(grades: np.ndarray) -> np.ndarray:
    """mu_y(z), equation (3), for every world and point: (2^K, N)."""
    present = worlds(grades.shape[1])
    return np.stack([np.where(present, row, 1.0).min(axis=1, initial=1.0) for row in grades], axis=1)


def expectation(grades: np.ndarray, beliefs: np.ndarray) -> float:
    if not len(grades):
        return 0.0
    return float(chances(beliefs) @ memberships(grades).max(axis=1))


def belief(grades: np.ndarray, beliefs: np.ndarray, member: np.ndarray) -> float:
    """Bel(A), equations (5) and (6), for a fuzzy set A."""
    mu, p = memberships(grades), chances(beliefs)
    height = mu.max(axis=1)
    mass = p * height / (p @ height)
    total = 0.0
    for m, shape, h in zip(mass, mu, height, strict=True):
        if m > 0:
            total += m * (1 - np.minimum(shape / h, 1 - member).max())
    return float(total)


def answer(
    grades: np.ndarray, beliefs: np.ndarray, member: np.ndarray, condition: np.ndarray | None = None
) -> tuple[float, float, float]:
    """Belief, plausibility and conflict given a fuzzy condition: one more rule that always exists."""
    if condition is not None:
        grades = np.concatenate([grades, condition[:, None]], axis=1)
        beliefs = np.append(beliefs, 1.0)
    plausible = 1 - belief(grades, beliefs, 1 - member)
    return belief(grades, beliefs, member), plausible, 1 - expectation(grades, beliefs)
