"""Crisp rules and a prior as a log-linear model: draws from it, and the beliefs that make it agree with rows.

P(x) is P_0(x) times (1 - b_i) for every rule i that x breaks (P_keep of crisp rules, DESIGN section 9). With
w_i = -log(1 - b_i) the likelihood is concave in w, and largest where the model breaks every rule as often as rows do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nbr.errors import NbrError
from nbr.learning.coarse import Broken

SWEEPS = 2  # of chains between two looks
LOOKS = 2
STEPS = 12  # of Newton's method
STRIDE = 1.0  # the longest of them
RIDGE = 1e-7
MOST = 12.0  # of a weight: a belief of 0.999994
COUNTING = 0.05  # of the draws of a prior that must still count


class DrawSource(ABC):
    """Where draws of a log-linear model come from."""

    @abstractmethod
    def draw(self, rules: Sequence[Broken], weights: np.ndarray) -> np.ndarray:
        """Classes of columns, each draw as likely as the model has it: (columns, draws)."""


class GibbsChains(DrawSource):
    """Gibbs chains that go on from where they are, for a prior in which columns are independent."""

    def __init__(self, masses: Sequence[np.ndarray], count: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.masses = [np.asarray(mass) for mass in masses]
        self.state = np.array([self.random.choice(len(m), count, p=m) for m in self.masses], dtype=np.int16)

    def draw(self, rules: Sequence[Broken], weights: np.ndarray) -> np.ndarray:
        touching: dict[int, list[tuple[Broken, float]]] = {}
        for rule, weight in zip(rules, weights.tolist(), strict=True):
            for at in rule.columns:
                touching.setdefault(at, []).append((rule, weight))
        for _ in range(SWEEPS):
            for at, mine in touching.items():  # other columns are as the prior draws them
                self._move(at, mine)
        return self.state

    def _move(self, at: int, rules: Sequence[tuple[Broken, float]]) -> None:
        """Draw one column given all others."""
        mass = self.masses[at]
        lost = np.zeros((len(mass), self.state.shape[1]), dtype=np.float32)
        for rule, weight in rules:
            base, stride = rule.number(self.state, at), rule.strides[rule.columns.index(at)]
            table = rule.table * np.float32(weight)
            for value in range(len(mass)):
                lost[value] += table[base + value * stride]
        ends = mass[:, None].astype(np.float32) * np.exp(-lost)
        for value in range(1, len(ends)):  # a cumulative sum along the first axis takes ten times as long
            ends[value] += ends[value - 1]
        share = self.random.random(self.state.shape[1], dtype=np.float32) * ends[-1]
        self.state[at] = (ends[:-1] <= share).sum(axis=0)


class Pool(DrawSource):
    """Draws of any prior, taken as often as rules keep them."""

    def __init__(self, codes: np.ndarray, seed: int) -> None:
        self.codes, self.random = codes, np.random.default_rng(seed)

    def draw(self, rules: Sequence[Broken], weights: np.ndarray) -> np.ndarray:
        count = self.codes.shape[1]
        kept = np.zeros(count)
        for rule, weight in zip(rules, weights, strict=True):
            kept -= weight * rule.at(self.codes)
        chance = np.exp(kept - kept.max())
        if chance.sum() ** 2 / (chance**2).sum() < COUNTING * count:
            raise NbrError("rules change the prior so much that too few of its draws still count; try prior='uniform'")
        ends = chance.cumsum() / chance.sum()
        spaced = (np.arange(count) + self.random.random()) / count
        return self.codes[:, np.searchsorted(ends, spaced, side="right").clip(max=count - 1)]


@dataclass(frozen=True)
class Agreed:
    """Weights, how often the model breaks each rule, the last draws of it, and the standard errors of the weights."""

    weights: np.ndarray
    broken: np.ndarray
    draws: np.ndarray
    errors: np.ndarray  # by as many rows, all other weights being free


def agree(
    rules: Sequence[Broken],
    seen: np.ndarray,
    rows: np.ndarray,
    start: np.ndarray,
    source: DrawSource,
    signed: np.ndarray | None = None,
) -> Agreed:
    """The weights at which rules are broken as often as rows break them: Newton's method, over draws.

    None is below 0 but those that are `signed`.
    """
    weights = start.copy()
    either = np.zeros(len(rules), dtype=bool) if signed is None else signed
    for step in range(STEPS + 1):
        shares, products, count = np.zeros(len(rules)), np.zeros((len(rules), len(rules))), 0
        for _ in range(LOOKS):
            draws = source.draw(rules, weights)
            broken = np.array([rule.at(draws) for rule in rules], dtype=np.float32).reshape(len(rules), draws.shape[1])
            shares += broken.sum(axis=1, dtype=np.float64)
            products += broken @ broken.T
            count += broken.shape[1]
        shares /= count
        gap = np.where(rows > 0, shares - seen, 0.0)  # what no row shows stays as it was
        free = (rows > 0) & (either | (weights > 0) | (gap > 0))
        spread = products / count - np.outer(shares, shares)
        noise = np.sqrt(np.maximum(seen * (1 - seen), 1e-12) * (0.1 / np.maximum(rows, 1) + 1 / count))
        if step == STEPS or not free.any() or bool((np.abs(gap) <= noise)[free].all()):
            break
        matrix = spread[np.ix_(free, free)] + (RIDGE + 1e-3 * spread.max()) * np.eye(int(free.sum()))
        move = np.zeros(len(rules))
        move[free] = np.linalg.solve(matrix, gap[free])
        weights = np.clip(weights + np.clip(move, -STRIDE, STRIDE), np.where(either, -MOST, 0.0), MOST)
    inverse = np.linalg.inv(spread + RIDGE * np.eye(len(rules))) if len(rules) else spread
    return Agreed(weights, shares, draws.copy(), np.sqrt(np.diag(inverse).clip(min=0) / np.maximum(rows, 1)))


def share(rule: Broken, codes: np.ndarray) -> tuple[float, int]:
    """How often a rule is broken among rows that show all it reads, half a row added to either side; how many do."""
    shown = (codes[list(rule.columns)] >= 0).all(axis=0)
    rows = int(shown.sum())
    return (float(rule.at(codes[:, shown]).sum()) + 0.5) / (rows + 1), rows
