"""Random rule bases held against brute force, by every way of answering: too many for the tests, which take a few.

python benchmarks/random_bases.py [--bases 1000] [--mixed 1000] [--drawn 100]

`--bases` are clauses over 10 to 18 bits, `--mixed` statements of every kind over bits, choices and reals. Exact ways
must equal the definitions to 1e-9. `--drawn` of each kind are also asked by walks: certain bounds must hold always, 95%
intervals at least 90 times in 100. Prints how many and the largest difference; exit code 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import torch

import nbr
import oracle
import rule_bases
from nbr.language import parse
from nbr.points.cell_grid import world_cells

EXACT = ("auto", "counting", "lattice")
NAMES = ("belief", "plausibility", "conflict")
Case = tuple[nbr.Reasoner, str, str]


def bits(seed: int) -> Case:
    draw = random.Random(seed)
    size, rules = draw.randint(10, 18), draw.randint(8, 11)
    model = rule_bases.clauses(seed, size, rules, draw.randint(2, 5))
    return model, rule_bases.clause(draw, size, draw.randint(1, 2)), rule_bases.clause(draw, size, 1)


def brute(model: nbr.Reasoner, question: str, given: str) -> tuple[float, float, float] | None:
    """All points are listed; of those that no rule and no question tells apart one is kept."""
    cuts: dict[str, set[float]] = {}
    for text in (question, given, *(rule.describe() for rule in model.rules)):
        for name, numbers in parse(text).cuts(model.world).items():
            cuts.setdefault(name, set()).update(numbers)
    rows = []
    for points, _ in world_cells(model.world, cuts, (), 1).chunks():
        points = points[parse(given).holds(model.world, points)]
        holds = parse(question).holds(model.world, points).double()
        rows.append(torch.cat([model.grades(points), holds[:, None]], dim=1).unique(dim=0))
    table = np.unique(torch.cat(rows).numpy(), axis=0)
    beliefs = model.beliefs.numpy()
    if not len(table) or oracle.expectation(table[:, :-1], beliefs) == 0:
        return None
    return oracle.answer(table[:, :-1], beliefs, table[:, -1])


def telling(make: Callable[[int], Case], wanted: int) -> Iterator[tuple[int, Case, tuple[float, float, float]]]:
    seed = found = 0
    while found < wanted:
        case = make(seed)
        right = brute(*case)
        if right is not None:
            found += 1
            yield seed, case, right
        seed += 1


def compare(name: str, make: Callable[[int], Case], wanted: int, drawn: int) -> bool:
    """Whether all is right, after a line that says how many and how near."""
    largest, wrong, held, asked = 0.0, 0, 0, 0
    for number, (seed, (model, question, given), right) in enumerate(telling(make, wanted)):
        for engine in EXACT:
            answer = model.ask(question, given, engine=engine)
            apart = max(abs(getattr(answer, each) - value) for each, value in zip(NAMES, right, strict=True))
            largest = max(largest, apart)
            if not answer.exact or apart > 1e-9:
                wrong += 1
                print(f"{name}, seed {seed}, {engine}: {answer} where {right} is right")
        if number < drawn:
            answer = model.ask(question, given, engine="drawn", budget=5.0, tolerance=0.1, seed=seed)
            for each, value in zip(NAMES, right, strict=True):
                low, high = getattr(answer.bounds, each)
                held, asked = held + (low - 1e-9 <= value <= high + 1e-9), asked + 1
                least, most = getattr(answer.sure or answer.bounds, each)
                wrong += not least - 1e-9 <= value <= most + 1e-9
    print(f"{wanted} {name}: {wrong} wrong, the largest difference {largest:.1e}; drawn: {held} of {asked} held")
    return wrong == 0 and held >= 0.9 * asked


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bases", type=int, default=1000)
    parser.add_argument("--mixed", type=int, default=1000)
    parser.add_argument("--drawn", type=int, default=100)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    right = [
        compare("bases of 10 to 18 bits", bits, chosen.bases, chosen.drawn),
        compare("bases with choices and reals", rule_bases.mixed, chosen.mixed, chosen.drawn),
    ]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
