"""The engines beside the paper's own calculus, which enumerates the 2^K worlds."""

from __future__ import annotations

import itertools
import time

import numpy as np
import torch

from measure import Row, best, rival, scaling
from nbr.calculus import ENGINES, Problem, solve
from nbr.calculus.point import keep_probability
from nbr.ways import Limits

UNIONS = ((0,), (1,), (0, 1))


def run() -> list[Row]:
    return [against_enumeration(), against_depth_first(), *many_rules(), *points()]


def problem(rules: int, points: int) -> Problem:
    """Random fuzzy grades; half of the points are for the question, half against it."""
    random = np.random.default_rng(rules)
    grades = torch.from_numpy(random.random((points, rules)))
    return Problem(tuple(grades.split(points // 2)), UNIONS, torch.from_numpy(random.random(rules)))


def against_enumeration() -> Row:
    """Equations (7) and (8) as they stand: every world, vectorised over points."""
    asked = problem(rules=14, points=2048)
    yes, no = (group.numpy() for group in asked.groups)
    beliefs = asked.beliefs.numpy()

    def enumerate_worlds() -> tuple[float, float, float]:
        sums = np.zeros(3)
        for world in itertools.product([False, True], repeat=len(beliefs)):
            present = np.array(world)
            chance = np.where(present, beliefs, 1 - beliefs).prod()
            best_yes = yes[:, present].min(axis=1, initial=1.0).max()
            best_no = no[:, present].min(axis=1, initial=1.0).max()
            sums += chance * np.array([best_yes, best_no, max(best_yes, best_no)])
        return tuple(sums)

    return _compare("K = 14, N = 2,048: against all worlds", asked, enumerate_worlds, target=100)


def against_depth_first() -> Row:
    """Depth first over the rules, reusing the minima so far; the last five rules at once, in the cache."""
    asked = problem(rules=20, points=2048)
    grades, half = torch.cat(asked.groups).numpy(), len(asked.groups[0])
    beliefs = asked.beliefs.numpy()
    rules, tail = len(beliefs), 5
    chances = np.ones(1)
    for belief in beliefs[rules - tail :]:
        chances = np.concatenate([chances * (1 - belief), chances * belief])

    def depth_first() -> tuple[float, float, float]:
        sums = np.zeros(3)

        def visit(rule: int, smallest: np.ndarray, chance: float) -> None:
            if rule < rules - tail:
                visit(rule + 1, smallest, chance * (1 - beliefs[rule]))
                visit(rule + 1, np.minimum(smallest, grades[:, rule]), chance * beliefs[rule])
                return
            block = smallest[None]
            for last in range(rule, rules):
                block = np.concatenate([block, np.minimum(block, grades[:, last])])
            best_yes, best_no = block[:, :half].max(axis=1), block[:, half:].max(axis=1)
            weights = chance * chances
            sums[:] += weights @ best_yes, weights @ best_no, weights @ np.maximum(best_yes, best_no)

        visit(0, np.ones(len(grades)), 1.0)
        return tuple(sums)

    return _compare("K = 20, N = 2,048: against depth-first", asked, depth_first, target=50)


def _compare(name: str, asked: Problem, theirs, target: float) -> Row:
    engine = ENGINES["lattice"]
    expected = theirs()
    np.testing.assert_allclose(engine.solve(asked, Limits()).low.numpy(), expected, atol=1e-9)
    return rival(name, best(lambda: engine.solve(asked, Limits())), best(theirs), target, "engine lattice, same answer")


def many_rules() -> list[Row]:
    """Too many rules for the lattice, too many points for inclusion-exclusion."""
    asked = problem(rules=40, points=30)
    rows: list[Row] = []
    for name, tolerance in (("to 0.001", 1e-3), ("exact", 0.0)):
        start = time.perf_counter()
        estimate = solve(asked, "auto", Limits.within(10, tolerance))
        seconds = time.perf_counter() - start
        rows.append(
            {
                "name": f"K = 40, 30 fuzzy points, {name}",
                "ours_seconds": seconds,
                "target": "under 10 s",
                "met": seconds < 10 and estimate.width <= tolerance,
                "note": f"engine {estimate.engine}, {estimate.kind}, answers within {estimate.width:.2g}",
            }
        )
    return rows


def points() -> list[Row]:
    """The closed form for 100,000 single points as the number of rules grows."""
    generator = torch.Generator().manual_seed(0)
    seconds = {}
    for rules in (10, 100, 1000):
        grades = torch.rand(100_000, rules, generator=generator, dtype=torch.float64)
        beliefs = torch.rand(rules, generator=generator, dtype=torch.float64)
        seconds[rules] = best(lambda grades=grades, beliefs=beliefs: keep_probability(grades, beliefs), repeat=3)
    return scaling("point, 100,000 points", seconds, target=400)
