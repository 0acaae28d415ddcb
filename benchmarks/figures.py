"""Figures that any version can give, by the public surface alone: CPU seconds by name as JSON, for compare.py.

CPU seconds of one thread, and of processes that it started and waited for: others on the machine disturb them least.
"""

from __future__ import annotations

import inspect
import json
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

REPEATS, ENOUGH = 7, 2.0  # calls and seconds for a figure
EXAMPLES = Path(__file__).parents[1] / "examples"


def used() -> float:
    """CPU seconds so far, of this process and its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def best(call: Callable[[], object]) -> float:
    """CPU seconds of the best of several calls, after one that warms up."""
    call()
    seconds = []
    while len(seconds) < REPEATS and sum(seconds) < ENOUGH:
        start = used()
        call()
        seconds.append(used() - start)
    return min(seconds)


def startup() -> dict[str, Callable[[], object]]:
    def run(*words: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True)

    return {"import": run("-c", "import nbr; nbr.Reasoner; nbr.load"), "nbr --help": run("-m", "nbr", "--help")}


def asking() -> dict[str, Callable[[], object]]:
    import torch

    import nbr

    majority = nbr.load(EXAMPLES / "majority.toml")
    dice = torch.Generator().manual_seed(0)

    def network(size: int) -> torch.nn.Sequential:
        torch.manual_seed(int(torch.randint(1000, (1,), generator=dice)))
        return torch.nn.Sequential(torch.nn.Linear(size, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

    bits = nbr.World.bits(11)
    few = nbr.Reasoner(bits, [nbr.Neural(bits.names[i : i + 6], network(6), 0.3 + 0.05 * i) for i in range(6)])
    many = nbr.Reasoner(bits, [nbr.Neural(bits.names[i % 6 : i % 6 + 6], network(6), 0.5) for i in range(14)])
    wide = nbr.World.bits(16)
    chain = nbr.Reasoner(wide, [nbr.Clause(f"x{i} -> x{i + 1}", 0.9) for i in range(15)])
    rows = few.sample(2000, seed=0)
    return {
        "ask, crisp, 11 bits": lambda: majority.ask("x5", given="x0=1, x1..x4=0, x6..x10=1"),
        "ask, 6 networks": lambda: few.ask("x0 & x9", given="x3 | x4"),
        "ask, 14 networks": lambda: many.ask("x0 & x9", given="x3 | x4"),
        "ask, 15 clauses, 16 bits": lambda: chain.ask("x15", given="x0"),
        "sample 10,000 rows": lambda: few.sample(10_000, seed=0),
        "log_prob of 2,000 rows": lambda: few.log_prob(rows),
        "fit, 100 steps": lambda: nbr.fit(rows.iloc[:, :6], rules=2, steps=100, seed=0),
    }


def classifying() -> dict[str, Callable[[], object]]:
    import numpy as np

    import nbr

    shipped = nbr.load("mnist-4-9")
    X = np.random.default_rng(0).random((500, 28, 28))
    points = np.random.default_rng(0).normal(size=(300, 20))
    labels = (points[:, 0] > 0).astype(int)
    small: dict[str, object] = {
        "networks": 2,
        "width": 32,
        "depth": 2,
        "head": 8,
        "epochs": 5,
        "batch_size": 64,
        "random_state": 0,
    }
    if "linear" in inspect.signature(nbr.RobustClassifier).parameters:
        small["linear"] = False  # networks alone, as in versions that compare them with nothing
    return {
        "load mnist-4-9": lambda: nbr.load("mnist-4-9"),
        "predict 500 pictures": lambda: shipped.predict(X),
        "belief of 500 pictures": lambda: shipped.belief(X),
        "radius of 100 pictures": lambda: shipped.certified_radius(X[:100]),
        "train a small classifier": lambda: nbr.RobustClassifier(1.0, **small).fit(points, labels),
    }


def combining() -> dict[str, Callable[[], object]]:
    import torch

    from nbr import evidence

    generator = torch.Generator().manual_seed(0)
    subsets = torch.randint(1, 3, (2632,), generator=generator)
    support = torch.rand(500, 2632, generator=generator, dtype=torch.float64) * 0.01
    return {"combine 2,632 sources, 500 times": lambda: evidence.separable_support(subsets, support, labels=2)}


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, float | str] = {}
    for group in (startup, asking, classifying, combining):
        try:
            calls = group()
        except Exception as error:  # a version that lacks something is compared in the rest
            found[f"{group.__name__} could not be prepared"] = f"{type(error).__name__}: {error}"
            continue
        for name, call in calls.items():
            try:
                found[name] = best(call)
            except Exception as error:
                found[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
