"""Random problems that are awkward on purpose: ties, grades of 0 and 1, beliefs of 0 and 1."""

from __future__ import annotations

import numpy as np


def grades(random: np.random.Generator, points: int, rules: int, *, ties: bool = True) -> np.ndarray:
    values = random.random((points, rules))
    if not ties:
        return values
    style = random.integers(4)
    if style == 1:
        values = np.round(values)  # crisp
    elif style == 2:
        values = np.round(values * 4) / 4  # few levels
    elif style == 3:
        values = np.where(random.random(values.shape) < 0.5, 1.0, values)  # mostly satisfied
    return values


def beliefs(random: np.random.Generator, rules: int, *, extremes: bool = True) -> np.ndarray:
    values = random.random(rules)
    if extremes:
        values = np.where(random.random(rules) < 0.1, 0.0, values)
        values = np.where(random.random(rules) < 0.1, 1.0, values)
    return values
