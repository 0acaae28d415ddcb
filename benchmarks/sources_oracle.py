"""Sources, possibilities, soft evidence and closed variables against enumeration, and how long large bases take.

    python benchmarks/sources_oracle.py                       # 1,000 random models, every way that fits; then the speed
    python benchmarks/sources_oracle.py --models 100 --seed 5000 --no-speed

A third of the models has sources of both kinds and possibilities, a third closed variables, and a third all of it with
words and numbers beside; every other condition has a part with a degree. The oracle goes through every value of every
source and choice, every world and every point. Each model is asked by every way of computing that fits: exact answers
must be the oracle's, proved bounds must hold it, and of 95% intervals it is told how many do. It is taken apart into
three overlapping ones too, which `&` joins in two orders; where every rule has a source, `r & r` must answer as `r`
does. The best point is compared with all points.
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
from nbr.asking import ways

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import closed_oracle
import mixed_oracle
import selectors_oracle

DRAWING = ("sampled", "drawn", "frontier", "elimination")  # which state 95% intervals, and take their time
BYS = tuple(name for name in ways.names() if name not in DRAWING)
BUDGET = 0.3  # seconds, of those
ROUND = 1e-9
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


def joined(model: nbr.Reasoner, seed: int) -> list[nbr.Reasoner]:
    """The model again, from three parts of it in two orders; and from itself twice, where every rule has a source."""
    draw, parts = random.Random(seed), [list[nbr.Rule]() for _ in range(3)]
    units: dict[object, list[nbr.Rule]] = {}
    for rule in model.rules:
        units.setdefault(rule.choice or rule, []).append(rule)
    for rules in units.values():
        own = draw.sample(parts, draw.choice([1, 2, 3]) if rules[0].source is not None else 1)
        for part in own:
            part += rules
    one, two, three = (nbr.Reasoner(model.world, part, closed=model.model.closed) for part in parts)
    twice = [model & model] if all(rule.source is not None for rule in model.rules) else []
    return [(one & two) & three, three & (two & one), *twice]


def most(model: nbr.Reasoner, kind: str, said: object, given: str) -> float:
    """The largest P_keep of a point inside a condition."""
    if kind == "closed":
        kept: dict[tuple[bool, ...], float] = {}
        for _, chance, allowed in closed_oracle.worlds(model, said):  # type: ignore[arg-type]
            for point in allowed:
                if point[given.removeprefix("~")] != given.startswith("~"):
                    key = tuple(point.values())
                    kept[key] = kept.get(key, 0.0) + chance
        return max(kept.values(), default=0.0)
    present, chance = selectors_oracle.worlds(model.rules)
    inside = nbr.parse(given).holds(model.world, POINTS).numpy()
    shape = selectors_oracle.memberships(model.grades(POINTS).numpy(), present)
    return float((chance @ shape)[inside].max(initial=0.0))


def compared(models: int, seed: int) -> None:
    """How often each way fitted, and how far it was off at worst."""
    count: dict[str, int] = {}
    worst: dict[str, float] = {}
    held: dict[str, list[bool]] = {}
    impossible = 0

    def known(by: str, number: int, found: Numbers, right: Numbers) -> None:
        count[by] = count.get(by, 0) + 1
        off = max(abs(a - b) for a, b in zip(found, right, strict=True))
        worst[by] = max(worst.get(by, 0.0), off)
        if off > ROUND:
            print(f"wrong: {number} {by} {found} {right}")

    for number in range(seed, seed + models):
        told = (shared, mixed, closed)[number % 3](number)
        if told is None:
            impossible += 1
            continue
        model, question, given, wanted = told
        for by in (*BYS, *(DRAWING if number % 10 < 3 else ()), "probability"):
            try:
                if by == "probability":
                    often = model.probability(question, given)
                    if often.exact:
                        known(by, number, (often.value or 0.0,), wanted[3:])
                    continue
                answer = model.ask(question, given, engine=by, **({"budget": BUDGET} if by in DRAWING else {}))
            except nbr.NbrError as error:
                assert any(said in str(error) for said in UNFIT), (number, by, error)
                continue
            if answer.exact:
                known(by, number, (answer.belief, answer.plausibility, answer.conflict), wanted[:3])
                continue
            bounds = (answer.bounds.belief, answer.bounds.plausibility, answer.bounds.conflict)
            holds = all(low - ROUND <= a <= high + ROUND for (low, high), a in zip(bounds, wanted[:3], strict=True))
            held.setdefault(f"{by}, {answer.bounds.kind}", []).append(holds)
            if answer.bounds.kind == "proved" and not holds:
                print(f"wrong: {number} {by} {bounds} {wanted[:3]}")
        for again in joined(model, number):
            answer = again.ask(question, given)
            if answer.exact:
                known("joined by &", number, (answer.belief, answer.plausibility, answer.conflict), wanted[:3])
        kind = ("shared", "mixed", "closed")[number % 3]
        bare = given.partition("), (")[0].removeprefix("(").removesuffix(")") if "@" in given else given
        if kind == "mixed" or (kind == "shared" and " @ " in given):
            continue
        best = model.best(given=bare)
        if best.exact:
            said = closed_oracle.drawn(number)[1] if kind == "closed" else None
            known("best point", number, (best.degree,), (most(model, kind, said, bare),))
    print(f"{models} models from {seed}, {impossible} whose condition cannot hold")
    for by, exact in count.items():
        print(f"  {by:<12} {exact:>5} exact answers, worst error {worst[by]:.1e}")
    for by, each in sorted(held.items()):
        print(f"  {by}: {sum(each)} of {len(each)} intervals hold the answer")


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
