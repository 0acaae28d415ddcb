"""Public networks, and random ones: is every frequency right, does every stated error hold, and how fast is it?

    python benchmarks/networks.py marginals [NAME ...] [--checked N]
    python benchmarks/networks.py coverage [--budget SECONDS ..] [--questions N] [--without contracted counted]

`marginals` reads the BIF files that pgmpy ships. Every entry p of a table becomes a rule, `parents -> variable!=value`
with belief 1 - p, so that P_keep is the product of the tables. All marginals under random conditions on three variables
are compared with those of pgmpy's variable elimination, and the time for each with that and with belief propagation,
all in one run. `coverage` asks `probability` for what is known exactly: how many stated intervals of 95% hold the
truth, how many questions get one, and how wide they are; also without contraction and
counting, where draws are all there is. Writes docs/results/networks.json, coverage.json and coverage-draws.json.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import itertools
import json
import random
import re
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

import nbr
from nbr.density import single
from nbr.factors import Network
from nbr.language.expressions import And, Atom, Expression

RESULTS = Path(__file__).parents[1] / "docs" / "results"
NAMES = ("asia", "alarm", "insurance", "hailfinder", "win95pts", "andes")
CHECKED = {"andes": 10}  # conditions that are compared; 100 for all others
CONDITIONS = 1000
PATIENCE = 30  # seconds for belief propagation
FIXED = 3  # variables that a condition fixes


class Bif:
    """Variables with their labels, and tables: a child, its parents, and P(child | parents), the child first."""

    def __init__(self, text: str) -> None:
        self.labels: dict[str, list[str]] = {}
        self.tables: dict[str, tuple[list[str], np.ndarray]] = {}
        for name, labels in re.findall(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}", text):
            self.labels[name] = [label.strip() for label in labels.split(",")]
        for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
            child, _, rest = (part.strip() for part in head.partition("|"))
            parents = [part.strip() for part in rest.split(",") if part.strip()]
            table = np.zeros([len(self.labels[name]) for name in (child, *parents)])
            if not parents:
                table[:] = _numbers(body.replace("table", ""))
            for row, numbers in re.findall(r"\(([^)]*)\)([^;]*);", body):
                place = tuple(
                    self.labels[name].index(label.strip()) for name, label in zip(parents, row.split(","), strict=True)
                )
                table[(slice(None), *place)] = _numbers(numbers)
            self.tables[child] = parents, table

    @classmethod
    def shipped(cls, name: str) -> Bif:
        spec = importlib.util.find_spec("pgmpy")
        if spec is None or spec.origin is None:
            sys.exit("this benchmark reads the networks that pgmpy ships: pip install pgmpy")
        file = Path(spec.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"
        return cls(gzip.decompress(file.read_bytes()).decode())

    def reasoner(self) -> nbr.Reasoner:
        """Each entry of each table a rule."""
        world = nbr.World({name: nbr.Choice(*labels) for name, labels in self.labels.items()})
        rules = []
        for child, (parents, table) in self.tables.items():
            for place in itertools.product(*map(range, table.shape)):
                read = zip((child, *parents), place, strict=True)
                said = [Atom(name, "=", (self.labels[name][at],)) for name, at in read]
                rules.append(nbr.Clause("~(" + " & ".join(map(str, said)) + ")", 1 - float(table[place])))
        return nbr.Reasoner(world, rules, prior=nbr.priors.uniform(world))


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.replace(";", " ").split(",")]


def conditions(bif: Bif, count: int, seed: int) -> list[dict[str, int]]:
    """Some variables of points drawn from the network, so that no condition is impossible."""
    draw, found = random.Random(seed), []
    for _ in range(count):
        point: dict[str, int] = {}
        while len(point) < len(bif.tables):
            for child, (parents, table) in bif.tables.items():
                if child not in point and all(parent in point for parent in parents):
                    row = table[(slice(None), *(point[parent] for parent in parents))]
                    point[child] = draw.choices(range(len(row)), row)[0]
        found.append({name: point[name] for name in draw.sample(sorted(point), FIXED)})
    return found


def told(bif: Bif, condition: dict[str, int]) -> Expression:
    return And(tuple(Atom(name, "=", (bif.labels[name][at],)) for name, at in condition.items()))


def marginals(names: list[str], checked: int | None) -> None:
    from pgmpy.inference import BeliefPropagation, VariableElimination
    from pgmpy.utils import get_example_model

    file = RESULTS / "networks.json"
    report = json.loads(file.read_text()) if file.exists() else {}
    for name in names:
        bif = Bif.shipped(name)
        start = time.perf_counter()
        reasoner = bif.reasoner()
        network = Network.of(reasoner.world, reasoner.prior, [reasoner.rules], [])
        network.marginals([None])
        compiled = time.perf_counter() - start
        asked = conditions(bif, CONDITIONS, 1)
        said = [told(bif, each) for each in asked]
        start = time.perf_counter()
        found = network.marginals(said)
        ours = (time.perf_counter() - start) / (CONDITIONS * (len(bif.labels) - FIXED))
        model = get_example_model(name)
        elimination, far, peers, count = VariableElimination(model), 0.0, 0.0, 0
        for row, each in enumerate(asked[: checked or CHECKED.get(name, 100)]):
            evidence = {key: bif.labels[key][at] for key, at in each.items()}
            for variable in bif.labels:
                if variable in evidence:
                    continue
                start = time.perf_counter()
                wanted = elimination.query([variable], evidence, show_progress=False)
                peers, count = peers + time.perf_counter() - start, count + 1
                numbers = [wanted.get_value(**{variable: label}) for label in bif.labels[variable]]
                far = max(far, float((found[variable][row] - torch.tensor(numbers)).abs().max()))
        propagated = _propagated(BeliefPropagation, model, bif, asked[:2])
        report[name] = {
            "variables": len(bif.labels),
            "rules": len(reasoner.rules),
            "products": network.compiled.order.cost,
            "widest": network.compiled.order.width,
            "compiled_seconds": round(compiled, 3),
            "largest_difference": far,
            "compared": count,
            "microseconds": round(1e6 * ours, 2),
            "elimination_microseconds": round(1e6 * peers / count, 1),
            "times_as_fast": round(peers / count / ours),
            "propagation_microseconds": None if propagated is None else round(1e6 * propagated, 1),
        }
        print(name, json.dumps(report[name]), flush=True)
        file.write_text(json.dumps(report, indent=1) + "\n")  # after each: a run that is stopped keeps what it has


def _propagated(kind: type, model: object, bif: Bif, asked: list[dict[str, int]]) -> float | None:
    """Seconds for each marginal by belief propagation, on a calibrated tree of cliques; None if it cannot be had."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(PATIENCE)
    spent, count = 0.0, 0
    try:
        method = kind(model)
        method.calibrate()
        for each in asked:
            evidence = {key: bif.labels[key][at] for key, at in each.items()}
            for variable in [variable for variable in bif.labels if variable not in evidence][:10]:
                start = time.perf_counter()
                method.query([variable], evidence, show_progress=False)
                spent, count = spent + time.perf_counter() - start, count + 1
    except (MemoryError, TimeoutError, ValueError):  # it makes no tree of andes
        pass
    finally:
        signal.alarm(0)
    return spent / count if count else None


def _late(*_: object) -> None:
    raise TimeoutError


def random_network(variables: int, seed: int) -> Bif:
    """Each variable has up to three parents among the ten before it, and two or three values."""
    draw, chance = random.Random(seed), np.random.default_rng(seed)
    found = Bif("")
    for place in range(variables):
        found.labels[f"v{place}"] = ["a", "b", "c"][: draw.choice([2, 2, 3])]
        before = [f"v{each}" for each in range(max(0, place - 10), place)]
        parents = draw.sample(before, min(len(before), draw.choice([1, 2, 3])))
        shape = [len(found.labels[name]) for name in (f"v{place}", *parents)]
        table = chance.dirichlet([0.5] * shape[0], size=shape[1:])  # often near 0 and 1
        found.tables[f"v{place}"] = parents, np.moveaxis(table, -1, 0)
    return found


def known() -> dict[str, Bif]:
    public = {name: Bif.shipped(name) for name in ("alarm", "insurance", "win95pts")}
    return public | {f"random {n}": random_network(n, n) for n in (20, 25, 30, 40)}


def questions(bif: Bif, count: int, seed: int) -> list[tuple[Expression, Expression]]:
    """A value of one variable, under values of up to three others that go together."""
    draw, found = random.Random(seed), []
    for each in conditions(bif, count, seed):
        given = dict(list(each.items())[: draw.randint(0, FIXED)]) or dict(list(each.items())[:1])
        asked = draw.choice([name for name in bif.labels if name not in given])
        found.append((Atom(asked, "=", (draw.choice(bif.labels[asked]),)), told(bif, given)))
    return found


def truth(bif: Bif, asked: Expression, given: Expression) -> float:
    """By pgmpy's variable elimination, or contraction of the tables themselves for networks that it does not have."""
    import opt_einsum

    held = {atom.name: bif.labels[atom.name].index(atom.values[0]) for atom in given.atoms()}
    (atom,) = asked.atoms()
    number = {name: place for place, name in enumerate(bif.labels)}
    parts: list[object] = []
    for child, (parents, table) in bif.tables.items():
        parts += [table, [number[name] for name in (child, *parents)]]
    for name, at in held.items():
        parts += [np.eye(len(bif.labels[name]))[at], [number[name]]]
    sums = opt_einsum.contract(*parts, [number[atom.name]], optimize="greedy")
    return float(sums[bif.labels[atom.name].index(atom.values[0])] / sums.sum())


def coverage(budgets: list[float], count: int, contracting: bool) -> None:
    networks, report = known(), {}
    for budget in budgets:
        lines = []
        for name, bif in networks.items():
            reasoner = bif.reasoner()
            for asked, given in questions(bif, -(-count // len(networks)), 5):
                wanted, start = truth(bif, asked, given), time.perf_counter()
                found = reasoner.probability(asked, given, budget=budget)
                lines.append((name, wanted, found.value, found.error, found.method, time.perf_counter() - start))
        stated = [line for line in lines if line[2] is not None]
        held = [line for line in stated if abs(line[1] - line[2]) <= line[3] + 1e-9]
        narrow = [line for line in stated if 2 * line[3] < 0.2]
        report[f"{budget:g}"] = {
            "questions": len(lines),
            "stated": len(stated),
            "hold_the_truth": len(held),
            "narrower_than_0.2": len(narrow),
            "exact": sum(line[3] == 0 for line in stated),
            "methods": {method: sum(line[4] == method for line in lines) for method in {line[4] for line in lines}},
            "missed": [line[:5] for line in stated if line not in held],
            "seconds": round(sum(line[5] for line in lines), 1),
            "longest": round(max(line[5] for line in lines), 2),
        }
        print(budget, json.dumps(report[f"{budget:g}"]), flush=True)
    file = RESULTS / ("coverage.json" if contracting else "coverage-draws.json")
    file.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["marginals", "coverage"])
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--checked", type=int, help="conditions that are compared; 100, and 10 for andes")
    parser.add_argument("--budget", nargs="*", type=float, default=[1.0, 10.0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--without", nargs="*", default=[], choices=["contracted", "counted"])
    options = parser.parse_args()
    if options.what == "marginals":
        marginals(list(options.names), options.checked)
    else:
        with ExitStack() as stack:
            for way in options.without:
                stack.enter_context(patch.object(single, way, lambda *_: None))
            coverage(options.budget, options.questions, not options.without)
