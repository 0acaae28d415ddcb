"""What few rows are worth: answers from n rows of known distributions, beside counting with Jeffreys' half rows.

python benchmarks/few_rows.py [--rules clauses] [--seeds 10] [--rows 20 30 ...] [--kinds tree ...]

Three kinds of distributions over 5 to 12 columns of bits and labels, every probability of which is known: rules on
base rates, a tree of columns, hidden classes. Twenty questions about each, "b given a" and "c given a and b". Printed
for each n: the mean error of `probability` beside that of counting; how often the range of `probability`, where it has
one, holds the truth, and its mean width beside that of Jeffreys; how often [belief, plausibility] of "b given a" does,
and how wide it is, of questions drawn and of the five strongest relations a -> b; and the largest belief of any rule.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import defaultdict

import numpy as np
import torch
from scipy.stats import beta

import nbr
from nbr.language import parse
from nbr.tables import Table

ROWS = (8, 15, 20, 30, 100, 300, 1000, 3000)
ASKED = 20
RARE = 0.02  # conditions below are not asked about
LABELS = ("u", "v", "w")
STRONG = 5  # relations that there are to be learned


def world_of(random: np.random.Generator) -> nbr.World:
    """5 to 12 columns, up to three of them with three labels."""
    count = int(random.integers(5, 13))
    choices = set(random.choice(count, random.integers(0, 4), replace=False).tolist())
    return nbr.World({f"c{i}": nbr.Choice(*LABELS) if i in choices else nbr.Bit() for i in range(count)})


def points_of(world: nbr.World) -> np.ndarray:
    return np.array(list(itertools.product(*(range(variable.size or 0) for variable in world.variables.values()))))


def by_rules(points: np.ndarray, sizes: list[int], random: np.random.Generator) -> np.ndarray:
    """Base rates, and implications between columns that are broken less often than these have it."""
    log = np.zeros(len(points))
    for at, size in enumerate(sizes):
        log += np.log(random.dirichlet(np.full(size, 2.0)))[points[:, at]]
    for _ in range(int(random.integers(2, 5))):
        one, other = random.choice(len(sizes), 2, replace=False)
        broken = (points[:, one] == random.integers(sizes[one])) & (points[:, other] == random.integers(sizes[other]))
        log += np.log(1 - random.uniform(0.5, 0.95)) * broken
    return log


def by_tree(points: np.ndarray, sizes: list[int], random: np.random.Generator) -> np.ndarray:
    """Each column given one of those before it."""
    log = np.zeros(len(points))
    for at, size in enumerate(sizes):
        parent = int(random.integers(at)) if at else 0
        table = random.dirichlet(np.full(size, 1.0), sizes[parent])
        log += np.log(table[points[:, parent] if at else np.zeros(len(points), int), points[:, at]])
    return log


def by_classes(points: np.ndarray, sizes: list[int], random: np.random.Generator) -> np.ndarray:
    """Three hidden classes with columns of their own."""
    shares = random.dirichlet(np.full(3, 3.0))
    each = []
    for share in shares:
        columns = [random.dirichlet(np.full(size, 1.0)) for size in sizes]
        each.append(np.log(share) + sum(np.log(column[points[:, at]]) for at, column in enumerate(columns)))
    return np.asarray(np.logaddexp.reduce(each))


KINDS = {"rules": by_rules, "tree": by_tree, "classes": by_classes}


def questions(
    world: nbr.World, points: np.ndarray, chance: np.ndarray, random: np.random.Generator
) -> list[tuple[str, str, float]]:
    """A statement, a condition of one column or two, and how often it holds there."""
    found: list[tuple[str, str, float]] = []
    tensor = torch.from_numpy(points).double()
    while len(found) < ASKED:
        wide = 2 if len(found) % 3 else 3
        said = []
        for at in random.choice(len(world), wide, replace=False).tolist():
            name, variable = world.names[at], world.variables[world.names[at]]
            value = int(random.integers(variable.size or 0))
            said.append(f"{name}={variable.show(value)}")
        asked, given = said[0], ", ".join(said[1:])
        met = np.asarray(parse(given).holds(world, tensor)) * chance
        if met.sum() > RARE:
            found.append((asked, given, float(met @ np.asarray(parse(asked).holds(world, tensor)) / met.sum())))
    return found


def relations(world: nbr.World, points: np.ndarray, chance: np.ndarray) -> list[tuple[str, str, float]]:
    """The strongest relations a -> b, asked as b given a: a without b is rarest beside what both alone would have."""
    literals = [
        (at, f"{name}={variable.show(value)}", (points[:, at] == value).astype(float))
        for at, (name, variable) in enumerate(world.variables.items())
        for value in range(variable.size or 0)
    ]
    found = []
    for (one, given, met), (other, asked, held) in itertools.permutations(literals, 2):
        both, alone = chance @ (met * (1 - held)), (chance @ met) * (chance @ (1 - held))
        if one != other and both < alone:
            worth = both * np.log(both / alone) + (1 - both) * np.log((1 - both) / (1 - alone))
            found.append((float(worth), asked, given, float(1 - both / (chance @ met))))
    return [(asked, given, truth) for _, asked, given, truth in sorted(found, reverse=True)[:STRONG]]


def run(kind: str, seed: int, rows: int, rules: str) -> dict[str, list[float]]:
    """Figures of one table, as lists."""
    random = np.random.default_rng([seed, list(KINDS).index(kind)])
    world = world_of(random)
    points = points_of(world)
    log = KINDS[kind](points, [variable.size or 0 for variable in world.variables.values()], random)
    chance = np.exp(log - np.logaddexp.reduce(log))
    asked = questions(world, points, chance, random)
    drawn = points[np.random.default_rng([seed, rows]).choice(len(points), rows, p=chance)]
    table = Table(world, torch.from_numpy(drawn).double())
    start = time.perf_counter()
    model = nbr.fit(table, rules, seed=seed)
    found: dict[str, list[float]] = defaultdict(list)
    found["seconds"].append(time.perf_counter() - start)
    found["largest belief"].append(max((rule.degree for rule in model.rules), default=0.0))
    for question, given, truth in asked:
        met = parse(given).holds(world, table.codes)
        held = int((met & parse(question).holds(world, table.codes)).sum())
        others = int(met.sum()) - held
        said = model.probability(question, given)
        found["error"].append(abs(said.value - truth))
        found["counting"].append(abs((held + 0.5) / (held + others + 1) - truth))
        low, high = beta.ppf((0.025, 0.975), held + 0.5, others + 0.5)
        found["counting covers"].append(float(low <= truth <= high))
        found["counting width"].append(high - low)
        if (ends := getattr(said, "range", None)) is not None:
            found["range covers"].append(float(ends[0] <= truth <= ends[1]))
            found["range width"].append(ends[1] - ends[0])
        if "," not in given:
            answer = model.ask(question, given)
            found["belief covers"].append(float(answer.belief - 1e-6 <= truth <= answer.plausibility + 1e-6))
            found["belief width"].append(answer.plausibility - answer.belief)
    for question, given, truth in relations(world, points, chance):
        answer = model.ask(question, given)
        found["relation covers"].append(float(answer.belief - 1e-6 <= truth <= answer.plausibility + 1e-6))
        found["relation width"].append(answer.plausibility - answer.belief)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rules", default="clauses")
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    options.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    given = options.parse_args()
    for rows in given.rows:
        every: dict[str, list[float]] = defaultdict(list)
        for kind, seed in itertools.product(given.kinds, range(given.seeds)):
            for name, values in run(kind, seed, rows, given.rules).items():
                every[name] += values
        ratio = np.mean(every["error"]) / np.mean(every["counting"])
        told = [f"{name} {np.mean(every[name]):.3f}" for name in every if name not in ("largest belief", "seconds")]
        told.append(f"error over counting's {ratio:.2f}, largest belief {max(every['largest belief']):.3f}")
        print(f"{rows:>5} rows: {', '.join(told)}; {np.median(every['seconds']):.1f} s a fit", flush=True)


if __name__ == "__main__":
    main()
