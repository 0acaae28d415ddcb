"""Which engine takes a problem."""

from __future__ import annotations

from dataclasses import replace

import torch

from nbr.errors import NbrError
from nbr.inference.count import Count
from nbr.inference.few import Few
from nbr.inference.lattice import Lattice
from nbr.inference.point import Point
from nbr.inference.problem import Engine, Estimate, Limits, Problem
from nbr.inference.reduce import fewer_points, fewer_rules
from nbr.inference.sampled import Sampled

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Point(), Few(), Lattice(), Count(), Sampled())}
QUICK = 0.05  # seconds that an exact answer is worth even when time is up
DRAWN = 2e-7  # seconds for each grade that drawing takes at the least: what is exact in less is done even when late
PRUNING = 0.2  # of the time, at most, for finding points that cannot matter


def solve(problem: Problem, engine: str, limits: Limits) -> Estimate:
    """Bounds on every union of a problem, by the engine named or by the one that suits it."""
    smaller = fewer_rules(problem)
    if engine == "auto":
        return replace(_auto(smaller, limits), scale=smaller.scale)
    smaller = fewer_points(smaller, limits.share(PRUNING).deadline)
    chosen = ENGINES[engine]
    reason = chosen.unfit(smaller)
    if reason:
        raise NbrError(f"the engine {engine!r} does not fit: {reason}; leave the choice to 'auto'")
    return replace(chosen.solve(smaller, limits), scale=smaller.scale)


def _auto(problem: Problem, limits: Limits) -> Estimate:
    """Closed forms first, the cheapest that time allows; then counting; then sampling in the time left."""
    if not any(seconds < QUICK for seconds, _ in _seconds(problem)):
        problem = fewer_points(problem, limits.share(PRUNING).deadline)
    otherwise = DRAWN * sum(map(torch.numel, problem.groups))
    for seconds, name in sorted(_seconds(problem)):
        if seconds < max(limits.left, QUICK, otherwise):
            estimate = ENGINES[name].solve(problem, limits)
            if estimate.exact:
                return estimate
    counted = ENGINES["count"].solve(problem, limits.share(0.5))
    if counted.exact or counted.width <= limits.tolerance:
        return counted
    sampled = ENGINES["sampled"].solve(problem, limits)
    return sampled if sampled.width < counted.width else counted


def _seconds(problem: Problem) -> list[tuple[float, str]]:
    """Roughly how long each engine that fits and knows its time would take."""
    fits = [engine for engine in ENGINES.values() if not engine.unfit(problem)]
    return [(seconds, engine.name) for engine in fits if (seconds := engine.seconds(problem)) is not None]
