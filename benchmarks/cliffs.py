"""Questions that used to fall off a cliff: many networks of which one matters, and many rules along a line.

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


if __name__ == "__main__":
    main()
