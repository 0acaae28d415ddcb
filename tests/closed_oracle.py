"""Models with closed variables, written out: the least model of every world over every value of open variables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

import nbr
import selectors_oracle as oracle

Truth = dict[str, bool]
Body = Callable[[Truth], bool]
NAMES = ("a", "b", "c", "d", "e", "f")


def drawn(seed: int) -> tuple[nbr.Reasoner, list[tuple[Body, str | None]]]:
    """A random model over six bits; of each rule its body, and its head, or None where it is a constraint.

    Heads of layers never need what comes later to be false; needing it true makes cycles.
    """
    draw = np.random.default_rng(seed)
    closed = [name for name in NAMES if draw.random() < 0.6]
    rules: list[nbr.Clause] = []
    said: list[tuple[Body, str | None]] = []
    while len(rules) < 7:
        source = None if draw.random() < 0.5 else oracle.SOURCES[draw.integers(len(oracle.SOURCES))]
        head = str(draw.choice(NAMES))
        size = int(draw.integers(0, 3))
        body = [(str(name), draw.random() < 0.65) for name in draw.choice(NAMES, size=size, replace=False)]
        if head in closed:
            layer = NAMES.index(head) // 2
            body = [
                (name, kept or (name in closed and NAMES.index(name) // 2 >= layer))
                for name, kept in body
                if name not in closed or NAMES.index(name) // 2 <= layer
            ]
        either = draw.random() < 0.3 and len(body) == 2
        literals = [name if kept else f"~{name}" for name, kept in body]
        turned = head in closed or draw.random() < 0.5
        text = f"({' | '.join(literals)})" if either else " & ".join(literals)
        text = f"{text} -> {'' if turned else '~'}{head}" if literals else ("" if turned else "~") + head
        if any(rule.source == source and rule.text == text for rule in rules if source is not None):
            continue
        rules.append(nbr.Clause(text, float(draw.uniform(0.2, 0.95)), source=source))
        said.append((_body(body, either), head if head in closed else None))
    world = nbr.World(**{name: nbr.Bit() for name in NAMES})
    return nbr.Reasoner(world, rules, closed=closed), said


def _body(literals: list[tuple[str, bool]], either: bool) -> Body:
    def holds(point: Truth) -> bool:
        truths = [point[name] == kept for name, kept in literals]
        return any(truths) if either and truths else all(truths)

    return holds


def worlds(
    model: nbr.Reasoner, said: list[tuple[Body, str | None]]
) -> Iterator[tuple[tuple[bool, ...], float, list[Truth]]]:
    """Every world: which rules are there, how likely that is, and the points that it allows."""
    closed = model.model.closed
    open_ = [name for name in NAMES if name not in closed]
    for present, chance in zip(*oracle.worlds(model.rules), strict=True):
        allowed = []
        for values in itertools.product([False, True], repeat=len(open_)):
            point = dict(zip(open_, values, strict=True)) | dict.fromkeys(closed, False)
            for layer in range(3):
                names = [name for name in NAMES[2 * layer : 2 * layer + 2] if name in closed]
                for _ in range(len(names) + 1):
                    for there, (body, head) in zip(present, said, strict=True):
                        if there and head in names and body(point):
                            point[head] = True
            broken = any(
                there and head is None and not _constraint(rule, body, point)
                for there, (body, head), rule in zip(present, said, model.rules, strict=True)
            )
            if not broken:
                allowed.append(point)
        yield tuple(map(bool, present)), float(chance), allowed


def answer(
    model: nbr.Reasoner, said: list[tuple[Body, str | None]], question: str, condition: str
) -> tuple[float, float, float, float] | None:
    """Belief, plausibility, conflict, and how often under a uniform prior; None where the condition cannot hold."""
    yes = no = whole = often = weight = 0.0
    q, c = _literal(question), _literal(condition)
    for _, chance, allowed in worlds(model, said):
        sides = {q(point) for point in allowed if c(point)}
        weight += chance * sum(c(point) for point in allowed)
        often += chance * sum(c(point) and q(point) for point in allowed)
        yes, no, whole = yes + chance * (True in sides), no + chance * (False in sides), whole + chance * bool(sides)
    if whole < 1e-9:
        return None
    return 1 - no / whole, yes / whole, 1 - whole, often / weight


def _constraint(rule: nbr.Rule, body: Body, point: Truth) -> bool:
    head = rule.describe().split("->")[-1].strip()
    return not body(point) or (not point[head[1:]] if head.startswith("~") else point[head])


def _literal(text: str) -> Body:
    return lambda point: (not point[text[1:]]) if text.startswith("~") else point[text]
