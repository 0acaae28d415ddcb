"""Random problems that are awkward on purpose (ties, grades of 0 and 1, beliefs of 0 and 1), and models of them."""

from __future__ import annotations

import numpy as np
import torch

import nbr


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


def table_1() -> nbr.Reasoner:
    rules = [nbr.Clause("x0 <-> majority(x1..x9)", 8 / 9), nbr.Clause("x10 <-> ~majority(x1..x9)", 3 / 4)]
    return nbr.Reasoner(nbr.World.bits(11), rules)


def look_up(values: np.ndarray):
    """A function of points of a world of bits: the value at the number that the bits spell, x0 the lowest."""

    def function(points: torch.Tensor) -> torch.Tensor:
        places = 2.0 ** torch.arange(points.shape[1], dtype=points.dtype)
        return torch.from_numpy(values)[(points @ places).long()]

    return function


def random_model(seed: int, bits: int = 3, most: int = 6) -> tuple[nbr.Reasoner, np.ndarray, np.ndarray]:
    """A reasoner whose rules look grades up in a random table."""
    random = np.random.default_rng(seed)
    rules = int(random.integers(0, most + 1))
    table, held = grades(random, 1 << bits, rules), beliefs(random, rules)
    fuzzy = [nbr.Fuzzy(look_up(table[:, rule].copy()), float(held[rule])) for rule in range(rules)]
    return nbr.Reasoner(nbr.World.bits(bits), fuzzy), table, held


def bit(points: int, position: int) -> np.ndarray:
    return np.arange(points) >> position & 1
