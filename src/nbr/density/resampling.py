"""How far what stays open would move from one pair of tables to another of as many rows: a bootstrap of the model."""

from __future__ import annotations

import time

import numpy as np

from nbr.density.couplings import Couplings

REPEATS, ENOUGH = 60, 10
OWN = 2.0  # rows' worth of the model itself in each conditional, so that a value that few rows show is no certainty
Z95 = 1.959963984540054


def spread(
    couplings: Couplings, left: int, right: int, random: np.random.Generator, deadline: float
) -> tuple[float, float] | None:
    """Half of a 95% interval for either end; None where there was no time for that.

    Two tables of so many rows are drawn. What both show is taken from both, what goes with it from each alone.
    """
    ends = []
    for _ in range(REPEATS):
        counts = [_drawn(couplings.left, left, random), _drawn(couplings.right, right, random)]
        shared = sum(count.sum(axis=1) for count in counts) / (left + right)
        sides = [_given(count, mass) * shared[:, None] for count, mass in zip(counts, _sides(couplings), strict=True)]
        found = Couplings(sides[0], sides[1], couplings.question, couplings.condition).range()
        if found is not None:
            ends.append(found)
        if time.monotonic() > deadline:
            break
    if len(ends) < ENOUGH:
        return None
    low, high = (Z95 * float(np.std(each, ddof=1)) for each in zip(*ends, strict=True))
    return low, high


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
