"""Which engine takes a problem."""

from __future__ import annotations

from dataclasses import replace

import torch

from nbr.calculus.count import CountBounds
from nbr.calculus.few import Few
from nbr.calculus.lattice import Lattice
from nbr.calculus.point import SinglePoint
from nbr.calculus.problem import Engine, Estimate, Problem
from nbr.calculus.reduce import fewer_points, fewer_rules
from nbr.calculus.sampled import Sampled
from nbr.errors import NbrError
from nbr.ways import SHARES, Limits, auto

ENGINES: dict[str, Engine] = {
    engine.name: engine for engine in (SinglePoint(), Few(), Lattice(), CountBounds(), Sampled())
}
QUICK = 0.05  # seconds that an exact answer is worth even when time is up
DRAWN = 2e-7  # seconds for each grade that drawing takes at the least: what is exact in less is done even when late


def solve(problem: Problem, engine: str, limits: Limits) -> Estimate:
    """Bounds on every union of a problem, by the engine named or by the one that suits it."""
    smaller = fewer_rules(problem)
    if engine == "auto":
        return replace(_auto(smaller, limits), scale=smaller.scale)
    smaller = fewer_points(smaller, limits.share(SHARES["fewer points"]).deadline)
    chosen = ENGINES[engine]
    reason = chosen.takes(smaller)
    found = None if reason else chosen.solve(smaller, limits)
    if found is None:
        raise NbrError(f"the engine {engine!r} does not fit: {reason}; leave the choice to 'auto'")
    return replace(found, scale=smaller.scale)


def _auto(problem: Problem, limits: Limits) -> Estimate:
    """Points that cannot matter are dropped first, where no engine is quick; then all engines have a try."""
    engines = [engine for engine in ENGINES.values() if engine.takes(problem) is None]
    costs = {engine.name: engine.cost(problem) for engine in engines}
    engines.sort(key=lambda engine: costs[engine.name].seconds)
    if not any(cost.sure and cost.seconds < QUICK for cost in costs.values()):
        problem = fewer_points(problem, limits.share(SHARES["fewer points"]).deadline)
    otherwise = DRAWN * sum(map(torch.numel, problem.groups))
    found = auto(engines, problem, limits, late=max(QUICK, otherwise)).found
    assert found is not None  # there are engines that fit every problem
    return found
