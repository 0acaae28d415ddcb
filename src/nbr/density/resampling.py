"""How far what stays open would move from one pair of tables to another of as many rows: a bootstrap of the model."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from nbr import clock
from nbr.density.couplings import Couplings

REPEATS, ENOUGH = 60, 10
OWN = 2.0  # rows' worth of the model itself in each conditional, so that a value that few rows show is no certainty
SURE = 0.95


def spread(
    couplings: Couplings, left: int, right: int, random: np.random.Generator, deadline: float
) -> tuple[float, float] | None:
    """How much to widen either end, so that 95 of 100 ranges hold the probability; None where there was no time.

    Two tables of so many rows are drawn. What both show is taken from both, what goes with it from each alone. The
    standard error of either end counts c times, with Phi(c + width / error) - Phi(-c) = 0.95 (Imbens and Manski 2004):
    1.96 where nothing stays open, 1.64 where so much does that the probability cannot be near both ends.
    """
    ends = []
    for _ in range(REPEATS):
        counts = [_drawn(couplings.left, left, random), _drawn(couplings.right, right, random)]
        shared = sum(count.sum(axis=1) for count in counts) / (left + right)
        sides = [_given(count, mass) * shared[:, None] for count, mass in zip(counts, _sides(couplings), strict=True)]
        found = Couplings(sides[0], sides[1], couplings.question, couplings.condition).range()
        if found is not None:
            ends.append(found)
        if clock.now() > deadline:
            break
    if len(ends) < ENOUGH:
        return None
    low, high = (float(np.std(each, ddof=1)) for each in zip(*ends, strict=True))
    width = float(np.mean([end[1] - end[0] for end in ends]))
    times = _times(width / max(low, high)) if max(low, high) > 0 else 0.0
    return times * low, times * high


def _times(width: float) -> float:
    """The c of Imbens and Manski, for a width in standard errors.

    >>> round(_times(0.0), 2), round(_times(20.0), 2)
    (1.96, 1.64)
    """
    normal = NormalDist()
    low, high = 0.0, 4.0
    for _ in range(60):
        middle = (low + high) / 2
        enough = normal.cdf(middle + width) - normal.cdf(-middle) >= SURE
        low, high = (low, middle) if enough else (middle, high)
    return high


def _sides(couplings: Couplings) -> tuple[np.ndarray, np.ndarray]:
    return couplings.left, couplings.right


def _drawn(mass: np.ndarray, rows: int, random: np.random.Generator) -> np.ndarray:
    flat = np.maximum(mass.ravel(), 0.0)
    return random.multinomial(rows, flat / flat.sum()).reshape(mass.shape)


def _given(counts: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """The shares within each shared value, as rows show them and, a little, as the model has them."""
    total = mass.sum(axis=1, keepdims=True)
    own = np.where(total > 0, mass / np.where(total > 0, total, 1.0), 1.0 / mass.shape[1])
    found: np.ndarray = (counts + OWN * own) / (counts.sum(axis=1, keepdims=True) + OWN)
    return found
