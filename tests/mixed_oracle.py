"""Models with words, numbers, sources, possibilities, closed variables and soft evidence together, written out.

Every world of every selector, every value of every open variable, the least model of what is closed, and the grade of
every statement as min, max and 1 minus.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

import nbr
import selectors_oracle

Point = dict[str, object]
Graded = tuple[str, Callable[[Mapping[str, object]], float]]  # a statement, and its grade at a point
WORDS = {"hot": {"t": [1, 3]}, "cold": {"t": [2, 0]}, "muddy": {"ground": {"wet": 1, "damp": 0.4}}}
GROUND = ("dry", "damp", "wet")
VARIABLES = {
    "t": nbr.Real(0, 3, step=1),
    "ground": nbr.Choice(*GROUND),
    **{name: nbr.Bit() for name in ("a", "b", "c", "d")},
}
LAYERS = {"b": 0, "c": 1, "d": 1}  # what may be closed; nothing needs a later one to be false
MUDDY = {"wet": 1.0, "damp": 0.4, "dry": 0.0}
CRISP: tuple[Graded, ...] = (
    ("a", lambda z: float(bool(z["a"]))),
    ("t>=2", lambda z: float(z["t"] >= 2)),  # type: ignore[operator]
    ("ground=wet", lambda z: float(z["ground"] == "wet")),
    ("ground in {dry, damp}", lambda z: float(z["ground"] != "wet")),
)
DEGREES: tuple[Graded, ...] = (
    ("hot", lambda z: min(1.0, max(0.0, (z["t"] - 1) / 2))),  # type: ignore[operator]
    ("cold", lambda z: min(1.0, max(0.0, (2 - z["t"]) / 2))),  # type: ignore[operator]
    ("muddy", lambda z: MUDDY[str(z["ground"])]),
)


@dataclass(frozen=True)
class Said:
    """A rule as the oracle reads it: a body and a closed head, or a statement that is a constraint."""

    grade: Callable[[Mapping[str, object]], float]
    head: str | None = None


@dataclass(frozen=True)
class Case:
    """A model, a question under a condition, and what each of them says of a point."""

    model: nbr.Reasoner
    said: tuple[Said, ...]
    question: Graded
    certain: Graded
    soft: tuple[Graded, float] | None

    @property
    def given(self) -> str:
        """The condition as one writes it."""
        return self.certain[0] if self.soft is None else f"({self.certain[0]}), ({self.soft[0][0]}) @ {self.soft[1]}"


def _literal(draw: random.Random, atoms: tuple[Graded, ...], denied: float = 0.4) -> Graded:
    words, grade = draw.choice(atoms)
    if draw.random() >= denied:
        return words, grade
    return f"~({words})", lambda z: 1 - grade(z)


def _bit(name: str) -> Graded:
    return name, lambda z: float(bool(z[name]))


def _statement(draw: random.Random, atoms: tuple[Graded, ...]) -> Graded:
    (one, first), (two, second) = _literal(draw, atoms), _literal(draw, atoms)
    kind = draw.choice(["one", "and", "or", "implies"])
    if kind == "one" or one == two:
        return one, first
    if kind == "and":
        return f"{one} & {two}", lambda z: min(first(z), second(z))
    if kind == "or":
        return f"{one} | {two}", lambda z: max(first(z), second(z))
    return f"{one} -> {two}", lambda z: max(1 - first(z), second(z))


def drawn(seed: int) -> Case:
    """A random case; about half of them have closed variables, and most have words."""
    draw = random.Random(seed)
    closed = [name for name in LAYERS if draw.random() < 0.4]
    words = DEGREES if draw.random() < 0.8 else ()
    bits = tuple(_bit(name) for name in LAYERS)
    everything = (*CRISP, *words, *bits)
    rules: list[nbr.Clause] = []
    said: list[Said] = []
    known: set[tuple[object, str]] = set()
    while len(rules) < 6:
        source = None if draw.random() < 0.4 else draw.choice(selectors_oracle.SOURCES)
        several = draw.random() < 0.2 and (source is None or source.rules == "distinct")
        told = [_defining(draw, closed) or (*_statement(draw, everything), None) for _ in range(2 if several else 1)]
        if len({text for text, *_ in told}) < len(told) or any((source, text) in known for text, *_ in told):
            continue
        if any(head is None and _defines(text, closed) for text, _, head in told):
            continue
        known.update((source, text) for text, *_ in told)
        told = [(text, grade, head if head is not None else _made(text, closed)) for text, grade, head in told]
        said += [Said(grade if text not in closed else _always, head) for text, grade, head in told]
        if several:
            share = draw.uniform(0.3, 0.95)
            rules += nbr.one_of({told[0][0]: share * 0.6, told[1][0]: share * 0.4}, source=source)
        else:
            rules.append(nbr.Clause(told[0][0], draw.choice([draw.uniform(0.1, 0.95), 0.7]), source=source))
    world = nbr.World(VARIABLES).with_words(WORDS)
    asked = (*CRISP, *bits) if closed or draw.random() < 0.5 else everything
    soft = (_statement(draw, everything), round(draw.uniform(0.1, 0.9), 2)) if draw.random() < 0.4 else None
    certain = _statement(draw, (*CRISP, *bits))
    return Case(nbr.Reasoner(world, rules, closed=closed), tuple(said), _statement(draw, asked), certain, soft)


def _always(z: Mapping[str, object]) -> float:
    return 1.0


def _defines(text: str, closed: list[str]) -> bool:
    """Whether a statement that was drawn as a constraint makes closed variables true."""
    body, _, head = text.rpartition(" -> ")
    several = all(part in closed for part in head.split(" & "))
    return several and (bool(body) or " & " in head) and not any(word in body for word in WORDS)


def _made(text: str, closed: list[str]) -> str | None:
    """The closed variable that a bare statement makes true."""
    return text if text in closed else None


def _defining(draw: random.Random, closed: list[str]) -> tuple[str, Callable[..., float], str] | None:
    """A rule that makes a closed variable true; its body reads closed ones of its layer only as they are."""
    if not closed or draw.random() < 0.4:
        return None
    head = draw.choice(closed)
    before = tuple(_bit(name) for name in LAYERS if LAYERS[name] < LAYERS[head] or name not in closed)
    one, first = _literal(draw, (*CRISP, *before))
    beside = [name for name in closed if LAYERS[name] == LAYERS[head] and name != head]
    if not beside or draw.random() < 0.5:
        return f"{one} -> {head}", first, head
    name = draw.choice(beside)
    return f"{one} & {name} -> {head}", lambda z: min(first(z), float(bool(z[name]))), head


def points(case: Case, present: np.ndarray) -> Iterator[Point]:
    """The points of a world: all values of what is open, and of what is closed the least ones."""
    closed = case.model.model.closed
    open_ = [name for name in ("a", *LAYERS) if name not in closed]
    for t, ground, *values in itertools.product(range(4), GROUND, *([(False, True)] * len(open_))):
        point: Point = {
            "t": t,
            "ground": ground,
            **dict(zip(open_, values, strict=True)),
            **dict.fromkeys(closed, False),
        }
        for layer in (0, 1):
            for _ in range(3):
                for there, rule in zip(present, case.said, strict=False):
                    if there and rule.head is not None and LAYERS[rule.head] == layer and rule.grade(point) == 1:
                        point[rule.head] = True
        yield point


def answer(case: Case) -> tuple[float, float, float, float] | None:
    """Belief, plausibility, conflict, and how often under a uniform prior; None where the condition cannot hold."""
    rules, said = case.model.rules, case.said
    if case.soft is not None:
        (words, grade), degree = case.soft
        rules, said = (*rules, nbr.Clause(words, degree)), (*said, Said(grade))
    worlds, chances = selectors_oracle.worlds(rules)
    whole = yes = no = often = weight = 0.0
    for present, chance in zip(worlds, chances, strict=True):
        if not chance:
            continue
        shape, member = [], []
        for point in points(case, present):
            grades = [
                rule.grade(point) for there, rule in zip(present, said, strict=True) if there and rule.head is None
            ]
            shape.append(min([case.certain[1](point), *grades]))
            member.append(case.question[1](point))
        mu, q = np.array(shape), np.array(member)
        height = mu.max()
        if height > 0:
            whole += chance * height
            yes += chance * height * np.minimum(mu / height, q).max()
            no += chance * height * np.minimum(mu / height, 1 - q).max()
            often, weight = often + chance * float(mu @ q), weight + chance * float(mu.sum())
    if whole < 1e-9:
        return None
    return 1 - no / whole, yes / whole, 1 - whole, often / weight
