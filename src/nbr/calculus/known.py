"""What a solver found out about worlds, and bounds on expectations that follow for certain.

A world inside the rules that one point satisfies allows a point; a world around a core, rules that cannot hold
together, allows none. So models bound E f from below and cores bound it from above.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from nbr.calculus.count import bounds as counted_bounds
from nbr.calculus.formula import UNIONS, Formula
from nbr.calculus.problem import Estimate
from nbr.calculus.sat import Deciding, Flags
from nbr.ways import Limits

Floats = NDArray[np.float64]
KEPT = 4096  # models
SHRUNK = 400  # cores that are made minimal, and kept
SMALL = 24  # rules of a core up to which that is worth it
MODELS = 60  # that a lower bound is computed from


class Known:
    """Models, as the rules that each satisfies, and minimal cores, for a formula."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.beliefs: Floats = formula.beliefs.numpy()
        self.models: list[Flags] = []
        self.holds: list[bool] = []  # whether the question does, in each model
        self.cores: dict[str, list[frozenset[int]]] = {union: [] for union in UNIONS}

    def model(self, satisfied: Flags, holds: bool) -> None:
        """One more model."""
        if len(self.models) < KEPT:
            self.models.append(satisfied)
            self.holds.append(holds)

    def core(self, deciding: Deciding, union: str, deadline: float) -> None:
        """The core that the solver just found, made minimal."""
        if len(self.cores[union]) < SHRUNK and len(deciding.core()) <= SMALL:
            self.cores[union].append(deciding.shrunk(union, deadline))

    def bounds(self, limits: Limits) -> Estimate:
        """Certain bounds on the expectation of each union."""
        low: list[float] = []
        high: list[float] = []
        for union in UNIONS:
            share = limits.share(1 / (len(UNIONS) - len(low)))
            low.append(self._at_least(union, share))
            high.append(max(self._at_most(union), low[-1]))
        low[-1] = max(low)  # what allows a point of one allows a point
        ends = [torch.tensor(end, dtype=torch.float64) for end in (low, high)]
        return Estimate(ends[0], ends[1], "drawn")

    def _at_least(self, union: str, limits: Limits) -> float:
        fits = {"yes": (True,), "no": (False,), "all": (True, False)}[union]
        models = [model for model, holds in zip(self.models, self.holds, strict=True) if holds in fits]
        if not models:
            return 0.0
        rows = _maximal(np.array(models), self.beliefs).astype(float)
        return counted_bounds(rows, self.beliefs, limits.deadline, limits.tolerance)[0]

    def _at_most(self, union: str) -> float:
        """The probability that none of some cores is there: those that share no rule are independent."""
        cores = {*self.cores["all"], *self.cores[union]}
        chance = sorted(((float(np.prod(self.beliefs[list(core)])), sorted(core)) for core in cores), reverse=True)
        used: set[int] = set()
        bound = 1.0
        for share, core in chance:
            if used.isdisjoint(core):
                used.update(core)
                bound *= 1 - share
        return bound


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
