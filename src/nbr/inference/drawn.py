"""Expectations from worlds drawn at random and decided by a solver, also where nearly all contradict themselves.

A world is drawn rule by rule. A rule that cannot hold beside those drawn before it is left out, and the world then
counts only 1 - b of that rule; so the mean weight is E f itself, and worlds without a point are never drawn. Ratios
come from the same worlds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from nbr.inference.count import bounds as counted_bounds
from nbr.inference.formula import UNIONS, Formula
from nbr.inference.problem import Estimate, Interval, Limits
from nbr.inference.sat import Deciding, Flags, OutOfTime

Floats = NDArray[np.float64]
BATCH = 128
MOST = 1 << 17
FEWEST = 64  # worlds below which no interval is claimed
SURE = 0.85  # of the time, for drawing; the rest for bounds that hold for certain
MODELS = 60  # kept for those bounds
RECENT = 512  # models of earlier worlds that a world is compared with
DEVIATIONS = 1.96


@dataclass(frozen=True)
class DrawnEstimate(Estimate):
    """95% intervals from the weights of drawn worlds; `sure` has bounds that hold for certain."""

    values: Floats = field(kw_only=True)  # (worlds, unions): weight, or 0 where the union has no point
    sure: Estimate = field(kw_only=True)

    def ratio(self, union: int, of: int) -> Interval:
        """The mean of one over the mean of the other, by the delta method; never outside what is certain."""
        a, c = self.values[:, union], self.values[:, of]
        least, most = self.sure.ratio(union, of)
        mean = float(c.mean())
        if len(c) < FEWEST or mean == 0:
            return least, most
        share = float(a.mean()) / mean
        # Agresti and Coull's two more of each kind keep the interval honest where all worlds agree.
        worlds = float(c.sum() ** 2 / (c**2).sum())
        spread = float(((a - share * c) ** 2).mean()) / mean**2 / len(c)
        centre = (share * worlds + 2) / (worlds + 4)
        width = DEVIATIONS * math.sqrt(max(spread, centre * (1 - centre) / (worlds + 4)))
        low, high = min(share, centre - width, share - width), max(share, centre + width, share + width)
        low, high = max(low, least), min(high, most)
        return (low, high) if low <= high else (least, most)


def solve(formula: Formula, limits: Limits) -> Estimate:
    """Draw until the intervals are narrow or time is up; bounds that hold for certain come with them."""
    deciding = Deciding(formula)
    try:
        drawing = limits.share(SURE)
        values = _values(deciding, drawing)
        sure = _sure(deciding, limits)
    finally:
        deciding.close()
    if len(values) < FEWEST:
        return sure
    mean, error = values.mean(axis=0), values.std(axis=0) / math.sqrt(len(values))
    low, high = (torch.from_numpy(mean + sign * DEVIATIONS * error) for sign in (-1, 1))
    # Where every world counted fully, chance may still have missed some that do not.
    slack = 3 / len(values)
    low = torch.where(torch.from_numpy(error) > 0, low, low - slack)
    high = torch.where(torch.from_numpy(error) > 0, high, high + slack)
    return DrawnEstimate(low.maximum(sure.low), high.minimum(sure.high), "drawn", "95%", values=values, sure=sure)


def _values(deciding: Deciding, limits: Limits) -> Floats:
    random = np.random.default_rng(limits.seed)
    found: list[Floats] = []
    count = 0
    try:
        while count < MOST and limits.left > 0:
            found.append(_batch(deciding, random, limits.deadline))
            count += len(found[-1])
            if count >= 4 * FEWEST and _narrow(np.concatenate(found), limits.tolerance):
                break
    except OutOfTime:
        pass
    return np.concatenate(found) if found else np.zeros((0, len(UNIONS)))


def _narrow(values: Floats, tolerance: float) -> bool:
    mean = values.mean(axis=0)
    if mean[-1] == 0:
        return False
    share = mean / mean[-1]
    error = np.sqrt(((values - share * values[:, -1:]) ** 2).mean(axis=0) / len(values)) / mean[-1]
    return bool((2 * DEVIATIONS * np.maximum(error, 1 / len(values))).max() <= tolerance)


def _batch(deciding: Deciding, random: np.random.Generator, deadline: float) -> Floats:
    beliefs = deciding.formula.beliefs.numpy()
    worlds = _Worlds(deciding, deadline)
    # Rules that are surely there come first: what cannot hold beside them is left out.
    for rule in np.argsort(-beliefs, kind="stable"):
        if beliefs[rule] == 0:
            continue
        possible = worlds.can_take(rule)
        worlds.weight[~possible] *= 1 - beliefs[rule]
        worlds.take(rule, possible & (random.random(BATCH) < beliefs[rule]))
    return np.stack([worlds.weight * worlds.allow(union) for union in UNIONS], axis=1)


class _Worlds:
    """Worlds side by side: the rules that each holds, and which known models contain them all."""

    def __init__(self, deciding: Deciding, deadline: float) -> None:
        self.deciding, self.deadline = deciding, deadline
        self.present = np.zeros((BATCH, deciding.rules), bool)
        self.weight = np.ones(BATCH)
        self.start = max(0, len(deciding.models) - RECENT)
        self.inside = np.ones((BATCH, len(deciding.models) - self.start), bool)

    def can_take(self, rule: int) -> Flags:
        """Which worlds still allow a point with one more rule."""
        self._grow()
        decided = self.inside @ self.deciding.models[self.start :, rule]
        wanted = self.present[~decided]
        wanted[:, rule] = True
        decided[~decided] = self.deciding.allow(wanted, "all", self.deadline)
        return decided

    def take(self, rule: int, worlds: Flags) -> None:
        self._grow()
        self.present[worlds, rule] = True
        self.inside[worlds] &= self.deciding.models[self.start :, rule]

    def allow(self, union: str) -> Flags:
        """Which worlds allow a point of a union."""
        if union == "all":
            return np.ones(BATCH, bool)
        self._grow()
        decided = self.inside @ self.deciding.fits(union)[self.start :]
        decided[~decided] = self.deciding.allow(self.present[~decided], union, self.deadline)
        return decided

    def _grow(self) -> None:
        known = self.deciding.models[self.start + self.inside.shape[1] :]
        if len(known):
            new = ~(self.present.astype(np.float32) @ (~known).astype(np.float32).T).astype(bool)
            self.inside = np.hstack([self.inside, new])


def _sure(deciding: Deciding, limits: Limits) -> Estimate:
    """Bounds from the models (worlds inside them allow a point) and from the cores (worlds around them do not)."""
    beliefs = deciding.formula.beliefs.numpy()
    low: list[float] = []
    high: list[float] = []
    for union in UNIONS:
        rows = _maximal(deciding.models[deciding.fits(union)], beliefs)
        share = limits.share(1 / (len(UNIONS) - len(low)))
        low.append(counted_bounds(rows.astype(float), beliefs, share.deadline, limits.tolerance)[0] if len(rows) else 0)
        high.append(_without(deciding.against(union), beliefs))
    ends = [torch.tensor(end, dtype=torch.float64) for end in (low, high)]
    ends[1] = ends[1].maximum(ends[0])
    return Estimate(ends[0], ends[1], "drawn")


def _maximal(models: Flags, beliefs: Floats) -> Flags:
    """The models that are inside no other, the likeliest first."""
    models = np.unique(models, axis=0)
    chance = np.where(models, 0.0, np.log1p(-np.minimum(beliefs, 1 - 1e-16))).sum(axis=1)
    models = models[np.argsort(-chance)][: 8 * MODELS]
    wide = models.astype(np.float32)
    missing = wide @ (1 - wide).T  # how many rules of one the other lacks
    beaten = ((missing == 0) & ~np.eye(len(models), dtype=bool)).any(axis=1)
    found: Flags = models[~beaten][:MODELS]
    return found


def _without(cores: Flags, beliefs: Floats) -> float:
    """At most the probability that no core is there: cores that share no rule are independent."""
    chance = sorted(((float(np.prod(beliefs[core])), number) for number, core in enumerate(cores)), reverse=True)
    used, bound = np.zeros(len(beliefs), bool), 1.0
    for share, number in chance:
        if not bool((used & cores[number]).any()):
            used |= cores[number]
            bound *= 1 - share
    return bound
