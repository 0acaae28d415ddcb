"""Sources, possibilities, soft evidence and closed variables against enumeration, and how long large bases take.

    python benchmarks/sources_oracle.py                       # 1,000 random models, every way that fits; then the speed
    python benchmarks/sources_oracle.py --models 100 --seed 5000 --no-speed

A third of the models has sources of both kinds and possibilities, a third closed variables, and a third all of it with
words and numbers beside; every other condition has a part with a degree. The oracle goes through every value of every
source and choice, every world and every point.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch

import nbr

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import closed_oracle
import mixed_oracle
import selectors_oracle

BYS = ("auto", "few", "lattice", "counting", "boxes", "elimination", "least")
UNFIT = ("does not fit", "nothing in time", "only a statement without degrees")  # all that an error may say
POINTS = torch.cartesian_prod(*[torch.tensor([0.0, 1.0]).double()] * 3, torch.arange(3).double())
Numbers = tuple[float, ...]


def shared(seed: int) -> tuple[nbr.Reasoner, str, str, Numbers] | None:
    """A model with sources and possibilities, a question, a condition, and the answer; None where that cannot hold."""
    model, draw = selectors_oracle.drawn(seed, fuzzy=seed % 2 == 0), np.random.default_rng(seed + 10**6)
    question, certain, soft = (selectors_oracle.statement(draw) for _ in range(3))
    degree, holds = round(float(draw.uniform(0.1, 0.9)), 2), seed % 4 < 2
    told = model if not holds else nbr.Reasoner(model.world, [*model.rules, nbr.Clause(soft, degree)])
    member, inside = (nbr.Clause(s, 1.0).bind(model.world).grades(POINTS).numpy() for s in (question, certain))
    present, chance = selectors_oracle.worlds(told.rules)
    mu = selectors_oracle.memberships(told.grades(POINTS).numpy(), present) * inside
    if chance @ mu.max(axis=1) < 1e-9:
        return None
    given = f"({certain}), ({soft}) @ {degree}" if holds else certain
    return model, question, given, selectors_oracle.answer(told, POINTS, member, inside)


def closed(seed: int) -> tuple[nbr.Reasoner, str, str, Numbers] | None:
    model, said = closed_oracle.drawn(seed)
    draw = np.random.default_rng(seed + 7)
    question, condition = (
        ("" if draw.random() < 0.5 else "~") + str(each) for each in draw.choice(closed_oracle.NAMES, 2, replace=False)
    )
    wanted = closed_oracle.answer(model, said, question, condition)
    return None if wanted is None else (model, question, condition, wanted)


def mixed(seed: int) -> tuple[nbr.Reasoner, str, str, Numbers] | None:
    case = mixed_oracle.drawn(seed)
    wanted = mixed_oracle.answer(case)
    return None if wanted is None else (case.model, case.question[0], case.given, wanted)


def compared(models: int, seed: int) -> None:
    """How often each way fitted, and how far it was off at worst."""
    count: dict[str, int] = {}
    worst: dict[str, float] = {}
    impossible = 0
    for number in range(seed, seed + models):
        told = (shared, mixed, closed)[number % 3](number)
        if told is None:
            impossible += 1
            continue
        model, question, given, wanted = told
        for by in (*BYS, "probability"):
            try:
                if by == "probability":
                    often = model.probability(question, given)
                    found, right = ((often.value or 0.0,) if often.exact else None), wanted[3:]
                else:
                    answer = model.ask(question, given, engine=by)
                    found = (answer.belief, answer.plausibility, answer.conflict) if answer.exact else None
                    right = wanted[:3]
            except nbr.NbrError as error:
                assert any(said in str(error) for said in UNFIT), (number, by, error)
                continue
            if found is not None:
                count[by] = count.get(by, 0) + 1
                off = max(abs(a - b) for a, b in zip(found, right, strict=True))
                worst[by] = max(worst.get(by, 0.0), off)
                if off > 1e-9:
                    print(f"wrong: {number} {by} {found} {right}")
    print(f"{models} models from {seed}, {impossible} whose condition cannot hold")
    for by, exact in count.items():
        print(f"  {by:<12} {exact:>5} exact answers, worst error {worst[by]:.1e}")


def base(seed: int, sources: int, variables: int = 100, rules: int = 150) -> nbr.Reasoner:
    """A rule base of the size that the issue names."""
    draw = random.Random(seed)
    told = [
        nbr.Source(f"s{at}", draw.choice([0.6, 0.8, 0.9, 0.95]), draw.choice(["distinct", "nested"]))
        for at in range(sources)
    ]
    found: dict[tuple[object, str], nbr.Clause] = {}
    while len(found) < rules:
        one, two, three = draw.sample(range(variables), 3)
        head, kind = draw.choice(["", "~"]) + f"x{three}", draw.random()
        body = f"x{one} & {draw.choice(['', '~'])}x{two} -> " if kind < 0.5 else f"x{one} -> " if kind < 0.85 else ""
        source = draw.choice(told) if told else None
        belief = round(draw.uniform(0.3, 0.95), 2)
        found.setdefault((source, body + head), nbr.Clause(body + head, belief, **({"source": source} if told else {})))
    return nbr.Reasoner(nbr.World.bits(variables), list(found.values()))


def speed(bases: int) -> None:
    """Questions and explanations of 100 variables and 150 rules, with 12 sources and without."""
    for sources in (12, 0):
        asked, explained, exact = [], [], 0
        for seed in range(bases):
            model = base(seed, sources)
            start = time.perf_counter()
            answer = model.ask("x1", given="x2, ~x3")
            asked.append(time.perf_counter() - start)
            start = time.perf_counter()
            why = model.explain("x1", given="x2, ~x3", budget=3.0)
            explained.append(time.perf_counter() - start)
            exact += answer.exact and why.supports_complete and all(each.without.exact for each in why.rules)
        ask, explain = (f"median {np.median(each):.2f} s, most {max(each):.2f} s" for each in (asked, explained))
        print(f"{sources} sources: a question {ask}; an explanation {explain}; all exact in {exact} of {bases}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bases", type=int, default=5)
    parser.add_argument("--no-speed", action="store_true")
    told = parser.parse_args()
    if told.models:
        compared(told.models, told.seed)
    if not told.no_speed:
        speed(told.bases)


if __name__ == "__main__":
    main()
