"""Rules that share selectors, written out: every value of every source, choice and rule in turn, every world, point."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import torch

import nbr
from nbr.rules import Rule

SOURCES = (
    nbr.Source("handbook", 0.9),
    nbr.Source("witness", 0.6, "nested"),
    nbr.Source("oracle", 1.0, "nested"),
    nbr.Source("paper"),
    nbr.Source("rumour", 0.35),
)
ATOMS = ("a", "b", "c", "d=red", "d in {red, green}")


def selectors(rules: tuple[Rule, ...]) -> Iterator[list[tuple[float, frozenset[int]]]]:
    """For each independent selector its values: how likely each is, and which rules it keeps from being there."""
    everyone = dict(enumerate(rules))
    by_source: dict[nbr.Source, list[int]] = {}
    by_choice: dict[object, list[int]] = {}
    for number, rule in everyone.items():
        if rule.source is not None:
            by_source.setdefault(rule.source, []).append(number)
        if rule.choice is not None:
            by_choice.setdefault(rule.choice, []).append(number)
        elif rule.source is None or rule.source.rules == "distinct":
            yield [(rule.degree, frozenset()), (1 - rule.degree, frozenset([number]))]
    for source, own in by_source.items():
        yield [(source.reliability, frozenset()), (1 - source.reliability, frozenset(own))]
        if source.rules == "nested":  # u lies between two neighbours among the beliefs
            edges = sorted({0.0, 1.0, *(rules[number].degree for number in own)})
            yield [
                (high - low, frozenset(number for number in own if rules[number].degree < high))
                for low, high in itertools.pairwise(edges)
            ]
    for own in by_choice.values():
        rest = 1 - sum(rules[number].degree for number in own)
        yield [(rest, frozenset(own)), *((rules[one].degree, frozenset(own) - {one}) for one in own)]


def worlds(rules: tuple[Rule, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The worlds that are possible, (worlds, rules), and how likely each is."""
    found: dict[frozenset[int], float] = {}
    for values in itertools.product(*selectors(rules)):
        out = frozenset[int]().union(*(kept for _, kept in values))
        found[out] = found.get(out, 0.0) + float(np.prod([chance for chance, _ in values]))
    present = np.array([[number not in out for number in range(len(rules))] for out in found], dtype=bool)
    return present.reshape(len(found), len(rules)), np.array(list(found.values()))


def memberships(grades: np.ndarray, present: np.ndarray) -> np.ndarray:
    """mu_y(z) for every world and point."""
    return np.where(present[:, None, :], grades[None], 1.0).min(axis=2, initial=1.0)


def answer(
    model: nbr.Reasoner, points: torch.Tensor, member: np.ndarray, condition: np.ndarray
) -> tuple[float, float, float, float]:
    """Belief, plausibility, conflict, and how often under a uniform prior, of classical sets of points."""
    present, chance = worlds(model.rules)
    mu = memberships(model.grades(points).numpy(), present) * condition
    whole = chance @ mu.max(axis=1)
    yes, no = ((chance @ (mu * side).max(axis=1)) / whole for side in (member, 1 - member))
    weight = chance @ mu
    return 1 - no, yes, 1 - whole, float(weight @ member / weight.sum())


def drawn(seed: int, fuzzy: bool = False, most: int = 7) -> nbr.Reasoner:
    """A random model with rules from sources of both kinds, possibilities, and rules without a source."""
    draw = np.random.default_rng(seed)
    world = nbr.World(a=nbr.Bit(), b=nbr.Bit(), c=nbr.Bit(), d=nbr.Choice("red", "green", "blue"))
    rules: list[Rule] = []
    said: set[tuple[object, str]] = set()
    while len(rules) < most:
        source = None if draw.random() < 0.25 else SOURCES[draw.integers(len(SOURCES))]
        kind = draw.random()
        some = [statement(draw) for _ in range(1 if kind > 0.3 else draw.integers(2, 4))]
        if len(set(some)) < len(some) or any((source, each) in said for each in some):
            continue
        said.update((source, each) for each in some)
        if len(some) > 1 and (source is None or source.rules == "distinct"):
            masses = draw.dirichlet(np.ones(len(some) + (draw.random() < 0.8)))[: len(some)]
            rules += nbr.one_of(dict(zip(some, map(float, masses), strict=True)), source=source)
        elif fuzzy and kind > 0.8:
            weights = torch.from_numpy(draw.uniform(0, 0.5, size=2))
            soft = nbr.Fuzzy(lambda points, w=weights: points[:, :2] @ w, 0.6, name=f"soft {len(rules)}")
            rules.append(soft.from_source(source))
        else:
            firm = 1.0 if source is not None and source.reliability < 1 else 0.7
            rules.append(nbr.Clause(some[0], float(draw.choice([draw.uniform(0.1, 0.95), 0.5, firm])), source=source))
    return nbr.Reasoner(world, rules[:most] if not any(rule.choice for rule in rules[most:]) else rules)


def statement(draw: np.random.Generator) -> str:
    parts = [("" if draw.random() < 0.5 else "~") + str(part) for part in draw.choice(ATOMS, size=2, replace=False)]
    parts = [f"~({part[1:]})" if part.startswith("~d") else part for part in parts]
    return parts[0] if draw.random() < 0.3 else f"{parts[0]} {draw.choice(['->', '|', '&'])} {parts[1]}"
