"""Seconds taken beside the budget: questions, checks and rankings that are too large for it.

python benchmarks/budgets.py                       every case, with budgets of 2 and 10 s
python benchmarks/budgets.py --budgets 2 --only reals

An answer may take 1.2 times its budget and a second more. What a case prints last is how wide its bounds are: a case
that finishes early is exact, or knows nothing more. A base of 100,000 rules takes its time to be written down; that is
told apart, and no part of the budget.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import torch
from torch import nn

import nbr

Act = Callable[[float], object]
MOST, MORE = 1.2, 1.0  # times the budget, and seconds beside it


def network(inputs: int, width: int, seed: int, layers: int = 2) -> nn.Sequential:
    """Weights at random, large enough for grades near 0 and near 1."""
    torch.manual_seed(seed)
    sizes = [inputs, *[width] * layers]
    parts: list[nn.Module] = []
    for a, b in pairwise(sizes):
        parts += [nn.Linear(a, b), nn.ReLU()]
    found = nn.Sequential(*parts, nn.Linear(width, 1))
    with torch.no_grad():
        for each in found:
            if isinstance(each, nn.Linear):
                each.weight.mul_(2.5)
    return found


def reals(count: int, bits: int = 0) -> nbr.World:
    variables: dict[str, nbr.Real | nbr.Bit] = {f"r{i}": nbr.Real(0, 10) for i in range(count)}
    return nbr.World({**variables, **{f"b{i}": nbr.Bit() for i in range(bits)}})


def ask(reasoner: nbr.Reasoner, question: object, given: object = None, **settings: object) -> Act:
    return lambda budget: reasoner.ask(question, given, budget=budget, **settings)  # type: ignore[arg-type]


def of_reals() -> Iterator[tuple[str, Callable[[], Act]]]:
    """Fuzzy rules on reals, of every kind."""

    def neural(count: int, rules: int, width: int) -> Callable[[], Act]:
        names = [f"r{i}" for i in range(count)]
        return lambda: ask(
            nbr.Reasoner(reals(count), [nbr.Neural(names, network(count, width, s), 0.8) for s in range(rules)]),
            "r0 > 7 & r1 < 4",
            "r0 + r1 > 5" if rules == 2 else None,
        )

    def functions(count: int, rules: int, lipschitz: float | None, bits: int = 0) -> Callable[[], Act]:
        def build() -> Act:
            dice = torch.Generator().manual_seed(rules)
            made = []
            for _ in range(rules):
                at = torch.rand(count, generator=dice, dtype=torch.float64) * 10
                names = [f"r{i}" for i in range(count)]
                made.append(
                    nbr.Fuzzy(
                        lambda points, at=at: (1 - (points - at).abs().sum(dim=1) / 30).clamp(0, 1),
                        0.7,
                        inputs=names,
                        lipschitz=lipschitz,
                    )
                )
            said = [nbr.Clause(f"b{i} -> r{i % count} > 5", 0.9) for i in range(bits)]
            return ask(nbr.Reasoner(reals(count, bits), [*made, *said]), "r0 > 3", "r1 < 8")

        return build

    def memories(count: int, rules: int) -> Callable[[], Act]:
        def build() -> Act:
            draw = random.Random(rules)
            points = [{f"r{i}": round(draw.uniform(0, 10), 3) for i in range(count)} for _ in range(rules)]
            return ask(nbr.Reasoner(reals(count), [nbr.Memory(p, 0.3, 0.7) for p in points]), "r0 > 5")

        return build

    def fuzzy_question(rules: int) -> Callable[[], Act]:
        names = ["r0", "r1", "r2"]
        made = [nbr.Neural(names, network(3, 16, s), 0.8) for s in range(rules)]
        warm = nbr.Fuzzy(lambda points: points[:, 0] / 10, inputs="r0", lipschitz=0.1)
        return lambda: ask(nbr.Reasoner(reals(3), made), warm)

    for count in (2, 3, 4, 6):
        yield f"{count} reals, 3 networks", neural(count, 3, 32)
    yield "2 reals, 2 networks of 256, r0 + r1 > 5", neural(2, 2, 256)
    yield "3 reals, 12 networks", neural(3, 12, 32)
    yield "4 reals, 30 networks", neural(4, 30, 32)
    for count in (2, 4):
        yield f"{count} reals, 4 functions, lipschitz", functions(count, 4, 1 / 30)
        yield f"{count} reals, 4 functions", functions(count, 4, None)
        yield f"{count} reals, 20 functions, lipschitz", functions(count, 20, 1 / 30)
    yield "3 reals, 12 bits, 3 functions, lipschitz", functions(3, 3, 1 / 30, bits=12)
    yield "3 reals, 40 bits, 3 functions", functions(3, 3, None, bits=40)
    yield "3 reals, 8 memories", memories(3, 8)
    yield "5 reals, 40 memories", memories(5, 40)
    yield "3 reals, 4 networks, a fuzzy question", fuzzy_question(4)
    yield "3 reals, 10 networks, a fuzzy question", fuzzy_question(10)


def of_grids() -> Iterator[tuple[str, Callable[[], Act]]]:
    """A grid that the user sets, larger than the time."""
    names = ["r0", "r1", "r2"]
    for grid in (200, 2000):
        rules = [nbr.Neural(names, network(3, 32, s), 0.8) for s in range(3)]
        yield (
            f"3 reals, grid {grid}",
            lambda rules=rules, grid=grid: ask(nbr.Reasoner(reals(3), rules), "r0 > 7", grid=grid),
        )
    warm = nbr.Fuzzy(lambda points: points[:, 0] / 10, inputs="r0")
    yield (
        "2 reals, grid 3000, a fuzzy question",
        lambda: ask(
            nbr.Reasoner(reals(2), [nbr.Neural(["r0", "r1"], network(2, 32, s), 0.8) for s in range(3)]),
            warm,
            grid=3000,
        ),
    )


def base(rules: int, bits: int, seed: int = 1, units: float = 0.02) -> nbr.Reasoner:
    draw = random.Random(seed)
    said = []
    for _ in range(rules):
        width = 1 if draw.random() < units else draw.choice([2, 3, 3])
        words = " | ".join(draw.choice(["", "~"]) + f"x{i}" for i in draw.sample(range(bits), width))
        said.append(nbr.Clause(words, round(draw.uniform(0.3, 0.95), 3)))
    return nbr.Reasoner(nbr.World.bits(bits), said)


def implications(rules: int, bits: int, seed: int = 1) -> nbr.Reasoner:
    draw = random.Random(seed)
    said = []
    for _ in range(rules):
        a, b, c = draw.sample(range(bits), 3)
        said.append(nbr.Clause(f"x{a} & x{b} -> {draw.choice(['', '~'])}x{c}", round(draw.uniform(0.3, 0.95), 3)))
    return nbr.Reasoner(nbr.World.bits(bits), said)


def of_rules() -> Iterator[tuple[str, Callable[[], Act]]]:
    """Very many rules, one knot of them or many small ones."""
    for rules, bits in ((10_000, 5_000), (10_000, 200), (100_000, 50_000), (100_000, 1_000)):
        yield f"{rules:,} clauses over {bits:,} bits", lambda r=rules, b=bits: ask(base(r, b), "x0", "x1")
    yield "100,000 clauses in 20,000 knots", lambda: ask(_knots(20_000), "x0_1", "x0_0")


def _knots(count: int) -> nbr.Reasoner:
    names = [f"x{i}_{j}" for i in range(count) for j in range(4)]
    said = []
    for i in range(count):
        said += [nbr.Clause(f"x{i}_{j} -> x{i}_{(j + 1) % 4}", 0.8) for j in range(4)] + [nbr.Clause(f"x{i}_0", 0.6)]
    return nbr.Reasoner(nbr.World({name: nbr.Bit() for name in names}), said)


def of_counts() -> Iterator[tuple[str, Callable[[], Act]]]:
    """Long counts: many parts in one statement."""

    def counted(words: str, bits: int) -> Callable[[], Act]:
        rules = [nbr.Clause(f"x{i} -> x{i + 1}", 0.9) for i in range(0, bits - 1, 2)]
        return lambda: ask(nbr.Reasoner(nbr.World.bits(bits), [*rules, nbr.Clause(words, 0.9)]), "x0", "x2")

    for bits in (200, 1_000, 2_000):
        names = ", ".join(f"x{i}" for i in range(bits))
        yield f"majority of {bits:,} bits", counted(f"majority({names})", bits)
    names = ", ".join(f"x{i}" for i in range(1_000))
    yield "count of 1,000 bits = 500", counted(f"count({names})=500", 1_000)
    yield (
        "a question about the majority of 1,000 bits",
        lambda: ask(
            nbr.Reasoner(nbr.World.bits(1_000), [nbr.Clause(f"x{i}", 0.7) for i in range(1_000)]), f"majority({names})"
        ),
    )


def of_verbs() -> Iterator[tuple[str, Callable[[], Act]]]:
    """Checks, rankings, explanations and best points of large bases."""

    def act(verb: str, build: Callable[[], nbr.Reasoner], *words: object) -> Callable[[], Act]:
        def built() -> Act:
            reasoner = build()
            return lambda budget: getattr(reasoner, verb)(*words, budget=budget)

        return built

    for rules, bits in ((1_000, 300), (10_000, 2_000), (100_000, 20_000)):
        yield f"check {rules:,} clauses", act("check", lambda r=rules, b=bits: base(r, b))
    yield "check 2,000 implications", act("check", lambda: implications(2_000, 400))
    yield "check 20,000 implications", act("check", lambda: implications(20_000, 4_000))
    yield "rank 50 labels, 2,000 rules", act("rank", lambda: _labelled(50, 2_000), "label")
    yield "rank 500 labels, 10,000 rules", act("rank", lambda: _labelled(500, 10_000), "label")
    yield (
        "rank a real, 3 networks",
        act(
            "rank",
            lambda: nbr.Reasoner(reals(3), [nbr.Neural(["r0", "r1", "r2"], network(3, 32, s), 0.8) for s in range(3)]),
            "r0",
        ),
    )
    yield "explain, 10,000 clauses", act("explain", lambda: base(10_000, 2_000), "x0", "x1")
    yield (
        "explain, 3 networks",
        act(
            "explain",
            lambda: nbr.Reasoner(reals(3), [nbr.Neural(["r0", "r1", "r2"], network(3, 32, s), 0.8) for s in range(3)]),
            "r0 > 7",
        ),
    )
    yield "most plausible, 10,000 clauses", act("most_plausible", lambda: base(10_000, 2_000))
    yield (
        "most plausible, 3 networks",
        act(
            "most_plausible",
            lambda: nbr.Reasoner(reals(3), [nbr.Neural(["r0", "r1", "r2"], network(3, 32, s), 0.8) for s in range(3)]),
        ),
    )


def _labelled(labels: int, rules: int) -> nbr.Reasoner:
    draw = random.Random(labels)
    names = [f"l{i}" for i in range(labels)]
    world = nbr.World({"label": nbr.Choice(*names), **{f"x{i}": nbr.Bit() for i in range(rules // 5)}})
    said = []
    for _ in range(rules):
        a, b = draw.sample(range(rules // 5), 2)
        words = f"x{a} & x{b} -> label={draw.choice(names)}" if draw.random() < 0.5 else f"x{a} -> ~x{b}"
        said.append(nbr.Clause(words, round(draw.uniform(0.3, 0.95), 3)))
    return nbr.Reasoner(world, said)


GROUPS = {"reals": of_reals, "grids": of_grids, "rules": of_rules, "counts": of_counts, "verbs": of_verbs}


def told(found: object) -> str:
    """How wide the bounds of an answer are, or what else there is to say."""
    if isinstance(found, nbr.Answer):
        ends = (found.bounds.belief, found.bounds.plausibility)
        return "exact" if found.exact else f"{found.bounds.kind}, {max(b - a for a, b in ends):.3f} wide"
    complete = getattr(found, "complete", getattr(found, "exact", None))
    return f"{type(found).__name__}{'' if complete is None else ', complete' if complete else ', not complete'}"


def main(chosen: argparse.Namespace) -> int:
    late = 0
    for group, cases in GROUPS.items():
        for name, build in cases():
            if chosen.only and not any(word in f"{group} {name}" for word in chosen.only):
                continue
            began = time.monotonic()
            act = build()
            built = time.monotonic() - began
            for budget in chosen.budgets:
                began = time.monotonic()
                try:
                    said = told(act(budget))
                except nbr.NbrError as error:
                    said = f"ERROR {str(error)[:90]}"
                took = time.monotonic() - began
                holds = took <= MOST * budget + MORE and not said.startswith("ERROR")
                late += not holds
                mark = "    " if holds else "LATE"
                print(f"{mark} {took:7.2f} of {budget:4g} s  (built in {built:5.1f})  {name:<46} {said}", flush=True)
    print(f"{late} too late or refused")
    return int(late > 0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budgets", nargs="+", type=float, default=[2.0, 10.0])
    parser.add_argument("--only", nargs="+", help="cases with one of these words in their group or name")
    sys.exit(main(parser.parse_args()))
