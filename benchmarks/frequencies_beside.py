"""Random rule bases with base rates: probabilities, marginals and the best point, beside pgmpy and brute force.

python benchmarks/frequencies_beside.py [--models 500] [--seed 0]

Clauses over 10 to 60 bits and choices, each on two to four neighbours among ten, so that the treewidth is at most
nine. Up to 19 variables every point is weighed; beyond, pgmpy's variable elimination on the same tables is the second
opinion, but for the best point, for which it would write down the whole table. Prints how many answers were compared,
the largest difference, how many were not exact, and the median time of a question after the first one. Exit code 1 if
anything differs by more than 1e-6.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

import nbr
from nbr.density.keeping import log_keep

LISTED = 19  # variables up to which every point is weighed
WINDOW = 10
OFF = 1e-6


def base(draw: random.Random) -> nbr.Reasoner:
    count = draw.choice([draw.randint(10, LISTED), draw.randint(30, 60)])
    few = count <= LISTED
    kinds = [nbr.Bit() if few or draw.random() < 0.7 else nbr.Choice("p", "q", "r") for _ in range(count)]
    world = nbr.World({f"v{at}": kind for at, kind in enumerate(kinds)})

    def literal(at: int) -> str:
        return draw.choice(["", "~"]) + f"(v{at}={draw.choice(kinds[at].labels)})"

    rules = []
    for _ in range(draw.randint(count, 2 * count)):
        start = draw.randrange(max(1, count - WINDOW + 1))
        *premise, end = (
            literal(at) for at in draw.sample(range(start, min(count, start + WINDOW)), draw.randint(2, 4))
        )
        rules.append(nbr.Clause(f"{' & '.join(premise)} -> {end}", draw.choice([1.0, draw.random(), draw.random()])))
    shares = [torch.tensor([draw.uniform(0.1, 1) for _ in kind.labels], dtype=torch.float64) for kind in kinds]
    return nbr.Reasoner(world, rules, prior=nbr.priors.Independent(world, shares))


class Listed:
    """Every point, weighed."""

    def __init__(self, model: nbr.Reasoner) -> None:
        count = len(model.world)
        self.world = model.world
        self.points = ((torch.arange(1 << count)[:, None] >> torch.arange(count)) & 1).double()
        logs = model.model.base.log_prob(self.points)
        assert logs is not None
        self.weights = (logs + log_keep(model.model, self.points)).exp()

    def probability(self, question: str, given: str) -> float:
        inside = self.weights * nbr.parse(given).holds(self.world, self.points)
        return float((inside * nbr.parse(question).holds(self.world, self.points)).sum() / inside.sum())

    def best(self, given: str) -> float:
        return float((self.weights * nbr.parse(given).holds(self.world, self.points)).max().log())


class Peer:
    """pgmpy's variable elimination on the same product of tables."""

    def __init__(self, model: nbr.Reasoner) -> None:
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.inference import VariableElimination
        from pgmpy.models import DiscreteMarkovNetwork

        self.model, world = model, model.world
        network = DiscreteMarkovNetwork()
        network.add_nodes_from(world.names)
        columns = model.model.base.columns  # type: ignore[attr-defined]
        factors = [
            DiscreteFactor([name], [len(column)], (column / column.sum()).numpy())
            for name, column in zip(world.names, columns, strict=True)
        ]
        for rule in model.rules:
            sizes = [len(world.variables[name].labels) for name in rule.inputs]
            grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))
            small = nbr.World({name: world.variables[name] for name in rule.inputs})
            holds = rule.bind(small).grades(torch.from_numpy(grid).double()).numpy()
            factors.append(DiscreteFactor(list(rule.inputs), sizes, 1 - rule.degree * (1 - holds)))
            network.add_edges_from((a, b) for a in rule.inputs for b in rule.inputs if a < b)
        network.add_factors(*factors)
        self.elimination = VariableElimination(network)

    def _evidence(self, given: str) -> dict[str, int]:
        pairs = (part.split("=") for part in given.split(", "))
        return {name: int(self.model.world.variables[name].code(label)) for name, label in pairs}

    def probability(self, question: str, given: str) -> float:
        ((name, at),) = self._evidence(question).items()
        found = self.elimination.query([name], self._evidence(given), show_progress=False)
        return float(found.values[at] / found.values.sum())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    torch.set_num_threads(1)
    compared, wrong, inexact, worst, spent = 0, 0, 0, 0.0, list[float]()
    for number in range(wanted.models):
        draw = random.Random(wanted.seed * 1_000_003 + number)
        model = base(draw)
        names = list(model.world.names)

        def said(name: str, model: nbr.Reasoner = model, draw: random.Random = draw) -> str:
            return f"{name}={draw.choice(model.world.variables[name].labels)}"

        one, *others = draw.sample(names, 4)
        given = ", ".join(map(said, others[: draw.randint(1, 3)]))
        try:
            model.probability(names[0] + "=" + model.world.variables[names[0]].labels[0])  # the first question
            began = time.perf_counter()
            question = said(one)
            found = model.probability(question, given)
            spent.append(time.perf_counter() - began)
        except nbr.NbrError:  # the rules that must hold, or the condition, leave nothing
            continue
        second: Listed | Peer = Listed(model) if len(names) <= LISTED else Peer(model)
        began = time.perf_counter()
        best, table = model.best(given), model.marginals(given)
        spent.append((time.perf_counter() - began) / 2)
        inexact += (not found.exact) + (not best.exact)
        point = model.world.point(best.point)[None]
        score = model.model.base.log_prob(point)
        assert score is not None
        offs = [abs((found.value or 0.0) - second.probability(question, given))]
        if isinstance(second, Listed):
            offs.append(abs(float(score + log_keep(model.model, point)) - second.best(given)))
        free = [name for name in names if name not in given.replace("=", " ").replace(",", " ").split()]
        for name in draw.sample(free, 3):
            rows = table[table["variable"] == name]
            label = draw.choice(model.world.variables[name].labels)
            value = float(rows[rows["value"] == label]["probability"].iloc[0])
            offs.append(abs(value - second.probability(f"{name}={label}", given)))
        compared, wrong = compared + len(offs), wrong + sum(not off <= OFF for off in offs)
        worst = max(worst, *offs)
    told = f"{wrong} wrong, at most {worst:.1e} off, {inexact} not exact"
    print(f"{wanted.models} models, {compared} answers compared: {told}")
    print(f"median {1e3 * statistics.median(spent):.1f} ms a question after the first of a model")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
