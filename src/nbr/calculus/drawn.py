"""Expectations from worlds drawn at random and decided by a solver, also where nearly all contradict themselves.

Several runs know nothing of each other. Each draws worlds that allow a point, which estimates E f_C without bias, and
then walks from one of them through the worlds that allow a point, as often through each as it is probable: the shares
of them that allow a point for the question, and one against it, are E f_Q / E f_C and E f_N / E f_C. Intervals come
from the differences between the runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch

from nbr import clock
from nbr.calculus.formula import UNIONS, Formula
from nbr.calculus.known import Floats, Known
from nbr.calculus.problem import Estimate, Interval
from nbr.calculus.sat import Deciding
from nbr.calculus.walk import Tools, Walk, drawn
from nbr.clock import OutOfTime
from nbr.ways import SHARES, Limits

RUNS = 24
STUDENT = 2.069  # 97.5% of Student's t with one degree less than there are runs
WORLDS = 64  # drawn side by side in a run, at most
UNUSED, LEAST = 0.2, 12  # of a walk, at its beginning: this share of the sweeps, and at least so many
SHORTEST = 48  # sweeps of a walk below which no interval is claimed
MOST = 4096  # sweeps of a walk
ALIKE = 8  # worlds in a row that may be as good as one, where the runs cannot tell
TINY = 1e-300
NEVER = 3.0  # what was never seen among n has a share of at most 3 / n, 95 times in 100


@dataclass(frozen=True)
class DrawnEstimate(Estimate):
    """95% intervals from the runs; `sure` has bounds that hold for certain."""

    shares: Floats = field(kw_only=True)  # (runs, 2): of worlds that allow a point for the question, or one against it
    worlds: float = field(kw_only=True)  # how many the shares are of
    sure: Estimate = field(kw_only=True)

    def ratio(self, union: int, of: int) -> Interval:
        """The share of a union among the worlds that allow any point; never outside what is certain."""
        least, most = self.sure.ratio(union, of)
        if of != len(UNIONS) - 1 or union == of:
            return least, most
        return _inside(_interval(self.shares[:, union], self.worlds), (least, most))


def solve(formula: Formula, limits: Limits) -> Estimate:
    """Draw until the intervals are narrow or time is up; bounds that hold for certain come with them."""
    known = Known(formula)
    deciding = Deciding(formula)
    time_left = limits.share(SHARES["drawn worlds"])
    tools = Tools(deciding, known, np.random.default_rng(limits.seed), time_left.deadline)
    whole, shares, count = np.zeros(0), np.zeros((0, 2)), 0
    try:
        whole, count, walks = _starts(tools, limits.share(SHARES["drawn worlds"] * SHARES["first worlds"]).deadline)
        shares = _walked(walks, time_left, limits.tolerance)
    except OutOfTime:
        pass
    finally:
        sure = known.bounds(limits)
        deciding.close()
    if len(shares) < SHORTEST:
        return sure
    kept = _settled(shares)
    low, high = _inside(_interval(whole, RUNS * count / max(float(whole.mean()), TINY)), sure.bounds(2))
    return DrawnEstimate(
        torch.tensor([*sure.low[:2].tolist(), low], dtype=torch.float64),
        torch.tensor([*sure.high[:2].clamp(max=high).tolist(), high], dtype=torch.float64),
        "drawn",
        "95%",
        shares=kept.mean(axis=0),
        worlds=len(kept) * RUNS / ALIKE,
        sure=sure,
    )


def _inside(found: Interval, sure: Interval) -> Interval:
    """An interval as far as it is not outside what is certain; where all of it is, only that is left."""
    low, high = max(found[0], sure[0]), min(found[1], sure[1])
    return (low, high) if low <= high else sure


def _settled(sweeps: Floats) -> Floats:
    """What counts of the walks: all but their beginnings, which depend on where they began."""
    return sweeps[max(LEAST, int(UNUSED * len(sweeps))) :]


def _interval(means: Floats, count: float) -> Interval:
    """From the means of runs: by Student's t, and no narrower than what so many worlds may have missed."""
    half = max(STUDENT * float(means.std(ddof=1)) / math.sqrt(len(means)), NEVER / count)
    return float(means.mean()) - half, float(means.mean()) + half


def _starts(tools: Tools, deadline: float) -> tuple[Floats, int, list[Walk]]:
    """E f_C as each run has it, of how many worlds, and where its walk begins; as many worlds as time allows."""
    began = clock.now()
    drawn(tools, 1)
    each = (clock.now() - began) * RUNS
    count = int(min(max((deadline - clock.now()) / max(each, 1e-6), 1), WORLDS))
    whole, walks = [], []
    for _ in range(RUNS):
        value, walk = drawn(tools, count)
        whole.append(value)
        walks += [walk] if walk is not None else []
    return np.array(whole), count, walks


def _walked(walks: list[Walk], limits: Limits, tolerance: float) -> Floats:
    """Which unions the worlds of all walks allow, sweep after sweep: (sweeps, runs, 2)."""
    found: list[list[tuple[bool, bool]]] = []
    checked = 2 * SHORTEST
    try:
        while len(walks) == RUNS and len(found) < MOST and limits.left > 0:
            row = []
            for walk in walks:
                walk.sweep()
                row.append(walk.allows())
            found.append(row)
            if len(found) == checked:
                checked *= 2
                kept = _settled(np.array(found, dtype=float))
                ends = [_interval(kept.mean(axis=0)[:, union], len(kept) * RUNS / ALIKE) for union in (0, 1)]
                if max(high - low for low, high in ends) <= tolerance:
                    break
    except OutOfTime:
        pass
    return np.array(found, dtype=float)
