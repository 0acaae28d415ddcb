"""Ranges of `probability` from n rows: candidates beside each other, by coverage and width.

python benchmarks/ranges.py [--seeds 10] [--rows 20 30 ...] [--models clauses trees] [--repeats 20]

The distributions and the twenty questions of `few_rows.py`, whose answers are known. Candidates:

counting   Jeffreys' 95% interval of the rows counted, no model at all
wilson     Wilson's around the model's value, as if n P(C) rows had been counted
jeffreys   Jeffreys' with n P(C) rows, as many of which hold as the model says
boot       percentiles of models refitted to rows weighted anew (Bayesian bootstrap): trees grow anew from their shares,
           clauses are learned anew from rows drawn with replacement
boot sd    twice the standard deviation of the same around the value
jack       a jackknife that leaves out one of ten groups in turn
both       the larger of wilson and boot sd on either side
half       the mean of the ends of wilson and boot sd
wider      wilson with 15% fewer rows, whatever the model
tables     posterior draws of every table of the trees (Laplace), from n and the model alone
range      what `probability` says: wilson with the rows divided by how far the model is off them (its dispersion)

Printed for each model and n: coverage and mean width over counting's. `--repeats 0` leaves out what refits.
"""

from __future__ import annotations

import argparse
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from scipy.stats import beta

import few_rows
import nbr
from nbr import priors
from nbr.density.many import probabilities
from nbr.language import parse
from nbr.learning.fitted import learned as of_rows
from nbr.priors import Trees
from nbr.tables import Table

Z95 = 1.959963984540054
GROUPS = 10
Interval = tuple[float, float]


def wilson(value: float, rows: float) -> Interval:
    centre, half = value * rows + Z95**2 / 2, Z95 * np.sqrt(rows * value * (1 - value) + Z95**2 / 4)
    return (centre - half) / (rows + Z95**2), (centre + half) / (rows + Z95**2)


def jeffreys(value: float, rows: float) -> Interval:
    low, high = beta.ppf((0.025, 0.975), value * rows + 0.5, (1 - value) * rows + 0.5)
    return low, high


def around(value: float, sd: float) -> Interval:
    return max(0.0, value - Z95 * sd), min(1.0, value + Z95 * sd)


def learned(table: Table, how: str, seed: int) -> nbr.Reasoner:
    if how == "clauses":
        return nbr.fit(table, "clauses", seed=seed)
    return of_rows(table, (), priors.trees(table, seed=seed))


def again(model: nbr.Reasoner, table: Table, counts: np.ndarray, how: str, seed: int) -> nbr.Reasoner:
    """The same learned from rows that count so often."""
    part = table.part(torch.from_numpy(np.repeat(np.arange(len(table)), counts)))
    if how == "clauses":
        return nbr.fit(part, "clauses", seed=seed)
    assert isinstance(model.prior, Trees)
    return nbr.Reasoner(table.world, prior=priors.relearned(model.prior, part))


def tables_drawn(prior: Trees, rows: int, random: np.random.Generator) -> Trees:
    """The same trees with tables drawn from their posterior, had each been counted from its share of the rows."""
    found = []
    for share, tree in zip(prior.weights.tolist(), prior.trees, strict=True):
        table, mass = tree.table.numpy().copy(), {}
        for column, parent in zip(tree.order.tolist(), tree.parent[tree.order].tolist(), strict=True):
            root = parent == column
            above = np.ones(1) if root else mass[parent]
            own = above @ table[column][: len(above)]
            for state, here in enumerate(above):
                chance = table[column, state]
                drawn = random.gamma(np.maximum(chance * (rows * share * here + 2.0), 1e-6)) * (chance > 0)
                if drawn.sum() > 0:
                    table[column, state] = drawn / drawn.sum()
            if root:
                table[column] = table[column, 0]
            mass[column] = own
        found.append(replace(tree, table=torch.from_numpy(table)))
    weights = random.dirichlet(prior.weights.numpy() * rows + 1)
    return Trees(prior.world, prior.columns, torch.from_numpy(weights), found, prior.starts)


def said(model: nbr.Reasoner, asked: list[tuple[str, str, float]]) -> np.ndarray:
    found = probabilities(model.model, [(question, given) for question, given, _ in asked], 10.0, 0)
    return np.array([np.nan if each is None else each[0] for each in found])


def candidates(how: str, kind: str, seed: int, rows: int, repeats: int) -> Iterator[tuple[str, Interval, float]]:
    """Every interval of one table, by name, and the truth."""
    random = np.random.default_rng([seed, list(few_rows.KINDS).index(kind)])
    world = few_rows.world_of(random)
    points = few_rows.points_of(world)
    log = few_rows.KINDS[kind](points, [variable.size or 0 for variable in world.variables.values()], random)
    chance = np.exp(log - np.logaddexp.reduce(log))
    asked = few_rows.questions(world, points, chance, random)
    codes = points[np.random.default_rng([seed, rows]).choice(len(points), rows, p=chance)]
    table = Table(world, torch.from_numpy(codes).double())
    model = learned(table, how, seed)
    values = said(model, asked)
    given = probabilities(model.model, [(condition, None) for _, condition, _ in asked], 10.0, 0)
    behind = [rows * (each or (0.0, 0.0))[0] for each in given]
    refits: dict[str, np.ndarray] = {}
    if repeats:
        drawn = [random.multinomial(rows, np.full(rows, 1 / rows)) for _ in range(repeats)]
        refits["boot"] = np.stack([said(again(model, table, each, how, seed), asked) for each in drawn])
        groups = np.random.default_rng(seed).permutation(rows) % GROUPS
        left = [(groups != group).astype(int) for group in range(GROUPS)]
        refits["jack"] = np.stack([said(again(model, table, each, how, seed), asked) for each in left])
        if isinstance(model.prior, Trees):
            refits["tables"] = np.stack(
                [
                    said(nbr.Reasoner(world, prior=tables_drawn(model.prior, rows, random)), asked)
                    for _ in range(repeats)
                ]
            )
    for at, (question, condition, truth) in enumerate(asked):
        met = parse(condition).holds(world, table.codes)
        held = int((met & parse(question).holds(world, table.codes)).sum())
        low, high = beta.ppf((0.025, 0.975), held + 0.5, int(met.sum()) - held + 0.5)
        yield "counting", (low, high), truth
        value = values[at]
        near = wilson(value, behind[at])
        yield "wilson", near, truth
        ends = model.probability(question, condition).range
        assert ends is not None
        yield "range", ends, truth
        yield "wider", wilson(value, behind[at] / 1.15), truth
        yield "jeffreys", jeffreys(value, behind[at]), truth
        if refits:
            boot = refits["boot"][:, at]
            sd = float(np.nanstd(boot, ddof=1))
            spread = around(value, sd)
            yield "boot", tuple(np.nanquantile(boot, (0.025, 0.975))), truth
            yield "boot sd", spread, truth
            jack = np.sqrt((GROUPS - 1) * np.nanvar(refits["jack"][:, at]))
            yield "jack", around(value, float(jack)), truth
            yield "both", (min(near[0], spread[0]), max(near[1], spread[1])), truth
            yield "half", tuple((a + b) / 2 for a, b in zip(near, spread, strict=True)), truth
        if "tables" in refits:
            yield "tables", around(value, float(np.nanstd(refits["tables"][:, at], ddof=1))), truth


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", nargs="+", default=["clauses", "trees"])
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--rows", type=int, nargs="+", default=[20, 30, 100, 300, 1000, 3000])
    options.add_argument("--repeats", type=int, default=20)
    given = options.parse_args()
    for how, rows in itertools.product(given.models, given.rows):
        found: dict[str, list[tuple[Interval, float]]] = defaultdict(list)
        for kind, seed in itertools.product(few_rows.KINDS, range(given.seeds)):
            for name, ends, truth in candidates(how, kind, seed, rows, given.repeats):
                found[name].append((ends, truth))
        wide = np.mean([high - low for (low, high), _ in found["counting"]])
        told = [
            f"{name} {np.mean([low <= truth <= high for (low, high), truth in each]):.3f}"
            f"/{np.mean([high - low for (low, high), _ in each]) / wide:.2f}"
            for name, each in found.items()
        ]
        print(f"{how} {rows:>5} rows: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
