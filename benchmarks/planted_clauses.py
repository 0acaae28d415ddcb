"""Whether planted clauses are found again: 10 of 2 to 4 literals among 40 columns, 20,000 rows, several seeds."""

from __future__ import annotations

import sys
import time
from itertools import product

import numpy as np
import torch

import nbr
from nbr.language import parse
from nbr.tables import Table

Broken = frozenset[tuple[int, int]]  # the values at which a clause does not hold


def planted(seed: int, rows: int, columns: int, clauses: int) -> tuple[dict[Broken, float], np.ndarray]:
    """Clauses with beliefs of at least 0.5, and rows drawn from them and a uniform prior."""
    random = np.random.default_rng(seed)
    beliefs: dict[Broken, float] = {}
    while len(beliefs) < clauses:
        chosen = random.choice(columns, random.integers(2, 5), replace=False)
        values = random.integers(0, 2, len(chosen))
        beliefs[frozenset(zip(chosen.tolist(), values.tolist(), strict=True))] = random.uniform(0.5, 1.0)
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < rows:
        points = random.integers(0, 2, (rows, columns))
        chance = np.ones(rows)
        for broken, belief in beliefs.items():
            chance[np.all([points[:, at] == value for at, value in broken], axis=0)] *= 1 - belief
        kept.append(points[random.random(rows) < chance])
    return beliefs, np.concatenate(kept)[:rows]


def broken(world: nbr.World, statement: str) -> Broken:
    """Where a clause over bits does not hold."""
    expression = parse(statement)
    names = sorted(expression.names())
    points = torch.zeros(2 ** len(names), len(world), dtype=torch.float64)
    at = [world.column(name) for name in names]
    points[:, at] = torch.tensor(list(product((0.0, 1.0), repeat=len(names))), dtype=torch.float64)
    (row,) = points[~expression.holds(world, points)].tolist()
    return frozenset((column, int(row[column])) for column in at)


def run(seed: int, rows: int = 20_000, columns: int = 40, clauses: int = 10) -> dict[str, float]:
    truth, points = planted(seed, rows, columns, clauses)
    world = nbr.World.bits(columns)
    start = time.perf_counter()
    model = nbr.fit(Table(world, torch.tensor(points, dtype=torch.float64)), "clauses", seed=seed)
    found = {broken(world, rule.describe()): float(rule.likeliest) for rule in model.rules}
    return {
        "found": sum(each in found for each in truth),
        "invented": sum(each not in truth for each in found),
        "strongest_invented": max((belief for each, belief in found.items() if each not in truth), default=0.0),
        "farthest_belief": max((abs(found[each] - truth[each]) for each in truth if each in found), default=0.0),
        "seconds": time.perf_counter() - start,
    }


if __name__ == "__main__":
    for seed in map(int, sys.argv[1:] or range(5)):
        print(f"seed {seed}: " + ", ".join(f"{key} {value:.3g}" for key, value in run(seed).items()), flush=True)
