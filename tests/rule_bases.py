"""Random rule bases over bits, choices and reals, with statements of every kind."""

from __future__ import annotations

import random

import nbr

LABELS = ("red", "green", "blue", "grey")


def world(draw: random.Random, bits: int, choices: int = 0, reals: int = 0) -> nbr.World:
    variables: dict[str, nbr.Bit | nbr.Choice | nbr.Real] = {f"x{i}": nbr.Bit() for i in range(bits)}
    variables |= {f"c{i}": nbr.Choice(*LABELS[: draw.randint(2, 4)]) for i in range(choices)}
    variables |= {f"r{i}": nbr.Real(0, 10, step=draw.choice([0, 1])) for i in range(reals)}
    return nbr.World(variables)


def atom(draw: random.Random, among: nbr.World) -> str:
    name = draw.choice(among.names)
    match among.variables[name]:
        case nbr.Bit():
            return draw.choice(["", "~"]) + name
        case nbr.Choice() as choice:
            if draw.random() < 0.3:
                return f"{name} in {{{', '.join(draw.sample(choice.labels, 2))}}}"
            return f"{name}{draw.choice(['=', '!='])}{draw.choice(choice.labels)}"
    return f"{name}{draw.choice(['>=', '<=', '>', '<', '='])}{draw.choice([0, 2, 5, 5, 7.5, 10])}"


def statement(draw: random.Random, among: nbr.World, depth: int = 2) -> str:
    kind = draw.choice(["atom", "or", "or", "implies", "and", "iff", "count", "majority", "not"])
    if depth == 0 or kind == "atom":
        return atom(draw, among)
    parts = [statement(draw, among, depth - 1) for _ in range(draw.randint(2, 3))]
    match kind:
        case "or":
            return " | ".join(f"({part})" for part in parts)
        case "and":
            return " & ".join(f"({part})" for part in parts)
        case "implies":
            return f"({parts[0]}) -> ({parts[1]})"
        case "iff":
            return " <-> ".join(f"({part})" for part in parts)
        case "not":
            return f"~({parts[0]})"
        case "majority":
            return f"majority({', '.join(parts)})"
    return f"count({', '.join(parts)}){draw.choice(['>=', '<=', '=', '!=', '<'])}{draw.randint(0, 3)}"


def clause(draw: random.Random, bits: int, width: int) -> str:
    chosen = draw.sample(range(bits), width)
    return " | ".join(draw.choice(["", "~"]) + f"x{i}" for i in chosen)


def mixed(seed: int, rules: int = 8) -> tuple[nbr.Reasoner, str, str]:
    """A small base with statements of every kind, a question and a condition."""
    draw = random.Random(seed)
    among = world(draw, draw.randint(2, 6), draw.randint(0, 2), draw.randint(0, 1))
    beliefs = [draw.choice([0.0, 1.0, 0.5, draw.random(), draw.random(), draw.random()]) for _ in range(rules)]
    said = [nbr.Clause(statement(draw, among), belief) for belief in beliefs]
    return nbr.Reasoner(among, said), statement(draw, among), statement(draw, among, 1)


def clauses(seed: int, bits: int, rules: int, units: int) -> nbr.Reasoner:
    """Clauses of one to three literals; the units make them quarrel."""
    draw = random.Random(seed)
    widths = [1] * units + [draw.choice([2, 2, 3]) for _ in range(rules - units)]
    return nbr.Reasoner(
        nbr.World.bits(bits), [nbr.Clause(clause(draw, bits, width), draw.uniform(0.3, 0.95)) for width in widths]
    )
