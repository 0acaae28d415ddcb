"""Questions that used to fall off a cliff: many networks of which one matters, many rules along a line, and
frequencies where a few rules among many compare numbers with each other.

python benchmarks/cliffs.py    prints a table; a minute or two
"""

from __future__ import annotations

import random
import time

import torch
from torch import nn

import nbr


def networks(count: int, kind: nbr.Bit | nbr.Choice | nbr.Real) -> nbr.Reasoner:
    """Networks that each read a bit in common and a variable of their own, and one that reads two bits."""
    torch.manual_seed(0)
    world = nbr.World({"a": nbr.Bit(), "b": nbr.Bit(), **{f"v{place}": kind for place in range(count - 1)}})
    width = 1 + (len(kind.labels) if isinstance(kind, nbr.Choice) else 1)
    rules = [nbr.Neural(["a", f"v{place}"], _network(width), 0.5) for place in range(count - 1)]
    return nbr.Reasoner(world, [*rules, nbr.Neural(["a", "b"], _network(2), 0.7)])


def _network(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Linear(8, 1)).double()


def windows(form: str, rules: int, bits: int = 200, width: int = 8, seed: int = 0) -> nbr.Reasoner:
    """Rules that each read some of `width` neighbours: implications, clauses of one to three literals, definitions."""
    draw = random.Random(seed)

    def literal(place: int) -> str:
        return ("~" if draw.random() < 0.5 else "") + f"x{place}"

    def statement() -> str:
        start = draw.randrange(bits - width + 1)
        size = {"implications": 2, "clauses": draw.choice([1, 2, 2, 3]), "definitions": 3}[form]
        words = [literal(place) for place in draw.sample(range(start, start + width), size)]
        if form == "definitions":
            return f"{words[0]} <-> {words[1]} & {words[2]}"
        return " -> ".join(words) if form == "implications" else " | ".join(words)

    made = [nbr.Clause(statement(), round(draw.uniform(0.3, 0.95), 2)) for _ in range(rules)]
    return nbr.Reasoner(nbr.World.bits(bits), made)


NUMBERS = {
    "dbp": nbr.Real(30, 130),
    "sbp": nbr.Real(60, 240),
    "ldl": nbr.Real(0, 300),
    "cholesterol": nbr.Real(50, 400),
    "resting": nbr.Real(30, 120),
    "peak": nbr.Real(60, 220),
    "onset": nbr.Real(0, 100),
    "age": nbr.Real(0, 100),
}
APART = ("dbp < sbp", "s3 -> ldl < cholesterol", "resting < peak - 20", "onset <= age")
TIED = ("dbp < sbp", "sbp < cholesterol", "resting < peak - 20", "s3 -> peak < sbp")


def clinic(comparisons: tuple[str, ...], rules: int = 110, seed: int = 0) -> nbr.Reasoner:
    """80 variables with base rates: 60 bits, 12 choices, 8 numbers; rules on neighbours, some of which compare."""
    draw = random.Random(seed)
    bits = {f"s{place}": nbr.Bit() for place in range(60)}
    world = nbr.World({**NUMBERS, **bits, **{f"c{place}": nbr.Choice("low", "mid", "high") for place in range(12)}})
    order = draw.sample(world.names, len(world))

    def literal(name: str) -> str:
        if name in NUMBERS:
            low, high = NUMBERS[name].low, NUMBERS[name].high
            return f"{name} {draw.choice(['<', '>='])} {round(low + (high - low) * draw.choice([0.3, 0.5, 0.7]))}"
        return draw.choice(["", "~"]) + (name if name in bits else f"{name}={draw.choice(['low', 'mid', 'high'])}")

    made = []
    while len(made) < rules - len(comparisons):
        start = draw.randrange(len(order) - 8)
        *premise, end = map(literal, draw.sample(order[start : start + 8], draw.choice([2, 2, 3])))
        made.append(nbr.Clause(f"{' & '.join(premise)} -> {end}", round(draw.uniform(0.3, 0.95), 2)))
    made += [nbr.Clause(words, 0.99) for words in comparisons]
    rates = torch.Generator().manual_seed(seed)
    shares = [torch.rand(len(each.labels), generator=rates, dtype=torch.float64) for each in world.variables.values()]
    return nbr.Reasoner(world, made, prior=nbr.priors.Independent(world, shares))


def frequency(name: str, model: nbr.Reasoner, question: str, given: str) -> None:
    start = time.monotonic()
    found = model.probability(question, given)
    spent = time.monotonic() - start
    asked = f"P({question} | {given})"
    print(f"{name:<44} {asked:<36} {found.words:<18} {spent:6.2f} s  {found.method}", flush=True)


def report(name: str, model: nbr.Reasoner, question: str, given: str) -> None:
    start = time.monotonic()
    answer = model.ask(question, given)
    spent = time.monotonic() - start
    low, high = answer.bounds.belief[0], answer.bounds.plausibility[1]
    width = max(end - begin for begin, end in (answer.bounds.belief, answer.bounds.plausibility))
    how = "exact" if answer.exact else f"{answer.bounds.kind} {width:.4f} wide"
    sure = (
        "" if answer.sure is None else f"  proved: belief {answer.sure.belief}, plausibility {answer.sure.plausibility}"
    )
    print(f"{name:<44} [{low:.4f}, {high:.4f}]  {how:<22} {spent:6.2f} s  {answer.engine}{sure}", flush=True)


def main() -> None:
    for count in (9, 10, 40):
        for kind in (nbr.Bit(), nbr.Choice(*"pqrst"), nbr.Real(0, 9, step=1)):
            report(f"{count} networks, own {type(kind).__name__.lower()} each", networks(count, kind), "b", "a")
    for form in ("implications", "clauses", "definitions"):
        for rules in (300, 600):
            report(f"200 bits, {rules} {form} in windows of 8", windows(form, rules), "x100", "x20, ~x150")
    for how, comparisons in (("apart", APART), ("tied together", TIED)):
        model = clinic(comparisons)
        for question, given in (("s5", "sbp>=140, s7"), ("sbp - dbp > 60", "s1"), ("c3=high", "onset<20")):
            frequency(
                f"{len(model.world)} variables, {len(model.rules)} rules, 4 compare, {how}", model, question, given
            )


if __name__ == "__main__":
    main()
