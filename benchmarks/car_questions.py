"""10,000 questions under 10,000 different conditions to examples/car.toml with base rates: probabilities, then belief.

python benchmarks/car_questions.py [COUNT]    time counts after loading; a few answers are asked again one by one
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

import nbr
from nbr.density.many import probabilities

CAR = Path(__file__).parents[1] / "examples" / "car.toml"
AGAIN = 30


def rated(model: nbr.Reasoner) -> nbr.Reasoner:
    """The same rules with a base rate for every variable."""
    draw, world = torch.Generator().manual_seed(0), model.world
    columns = []
    for variable in world.variables.values():
        size = len(variable.labels)
        columns.append(torch.rand(size, generator=draw, dtype=torch.float64) + 0.1 if size else torch.zeros(0))
    return nbr.Reasoner(world, model.rules, prior=nbr.priors.Independent(world, columns))


def asked(model: nbr.Reasoner, count: int) -> list[tuple[str, str]]:
    """A value of a variable, given values of three others; all conditions differ."""
    draw, world = random.Random(0), model.world
    found: dict[str, str] = {}
    names = [name for name, variable in world.variables.items() if not variable.numeric]

    def said(name: str) -> str:
        return f'"{name}"="{draw.choice(world.variables[name].labels)}"'

    while len(found) < count:
        one, *others = draw.sample(names, 4)
        found[", ".join(map(said, sorted(others)))] = said(one)
    return [(question, given) for given, question in found.items()]


def main() -> None:
    torch.set_num_threads(1)
    model = rated(nbr.load(CAR))
    questions = asked(model, int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    began, used = time.perf_counter(), time.process_time()
    often = probabilities(model.model, questions, 10.0, 0)
    spent, used = time.perf_counter() - began, time.process_time() - used
    print(f"{len(questions):,} probabilities in {spent:.1f} s, {used:.1f} s of a core", flush=True)
    places = random.Random(1).sample(range(len(questions)), AGAIN)
    worst = 0.0
    for place in places:
        alone, here = model.probability(*questions[place]), often[place]
        assert here is not None
        assert alone.value is not None
        assert alone.exact
        worst = max(worst, abs(alone.value - here[0]))
    print(f"{AGAIN} of them asked alone: at most {worst:.1e} off")
    rules = nbr.Reasoner(model.world, model.rules)
    possible = [pair for pair, here in zip(questions, often, strict=True) if here is not None]
    began, used = time.perf_counter(), time.process_time()
    found = rules.ask_many(possible)
    spent, used = time.perf_counter() - began, time.process_time() - used
    print(f"{len(possible):,} times belief and plausibility in {spent:.1f} s, {used:.1f} s of a core")
    print(f"exact: {found['exact'].mean():.1%}")


if __name__ == "__main__":
    main()
