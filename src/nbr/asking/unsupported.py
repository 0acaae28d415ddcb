"""What no rule can ever support: rules that lead from causes to symptoms alone say nothing for a cause."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from nbr.language import And, Atom, Count, Expression, Implies, Majority, Not, Or
from nbr.model import Model
from nbr.rules import heads

Values = frozenset[int]
EITHER = (True, False)


def unsupported(model: Model) -> list[str]:
    """The bits that no rules can ever make likely, and the choices of which they can none of the labels.

    What a rule says of a variable is that it is among some values. A value can be supported only where it is all that
    such sets have in common. What is there to be observed needs no support, and what makes closed variables so is
    supported by these.
    """
    said: dict[str, set[Values]] = {}
    skipped = {*model.closed, *(model.aims.observable or ())}
    for position, rule in enumerate(model.rules):
        statement = rule.at_least(1.0) if rule.levels() == [1.0] else None
        if statement is None or position in model.program.defining:
            skipped.update(rule.inputs)
            continue
        for atom, holds in _literals(statement, True):
            if atom is None or model.world.variables[atom.name].numeric:
                skipped.update(statement.names() if atom is None else (atom.name,))
            else:
                said.setdefault(atom.name, set()).add(_values(model, atom, holds))
    found = []
    for name, sets in said.items():
        variable = model.world.variables[name]
        values = [1] if variable.boolean else range(len(variable.labels))
        if name not in skipped and not any(_left({value}, sets) for value in values):
            found.append(name)
    return found


def brought_about(model: Model, cause: str) -> frozenset[str] | None:
    """All that rules make true from a cause on; None where rules say anything else of these, or nothing follows."""
    found, before = {cause}, set[str]()
    while before != found:
        before = set(found)
        for rule in model.rules:
            if not found & set(rule.inputs):
                continue
            statement = rule.at_least(1.0) if rule.levels() == [1.0] else None
            told = None if statement is None else heads(statement)
            if told is None or not all(model.world.variables[name].boolean for name in told[1]):
                return None
            found.update(told[1])
    return frozenset(found - {cause}) or None


def _values(model: Model, atom: Atom, holds: bool) -> Values:
    codes = torch.arange(len(model.world.variables[atom.name].labels), dtype=torch.float64)
    return frozenset((atom.holds_among(model.world, codes) == holds).nonzero()[:, 0].tolist())


def _left(value: set[int], sets: set[Values]) -> bool:
    mine = [each for each in sets if value <= each]
    return bool(mine) and frozenset.intersection(*mine) == value


def _literals(statement: Expression, sign: bool) -> Iterator[tuple[Atom | None, bool]]:
    """The atoms of a statement and whether it needs them to hold; both where it may be either, None where unknown."""
    match statement:
        case Atom():
            yield statement, sign
        case Not():
            yield from _literals(statement.part, not sign)
        case And() | Or() | Majority():
            for part in statement.parts:
                yield from _literals(part, sign)
        case Implies():
            yield from _literals(statement.premise, not sign)
            yield from _literals(statement.conclusion, sign)
        case Count():
            rising = {">=": (sign,), ">": (sign,), "<=": (not sign,), "<": (not sign,)}.get(statement.operator, EITHER)
            for part in statement.parts:
                for each in rising:
                    yield from _literals(part, each)
        case _:
            if not statement.parts and statement.names():
                yield None, sign  # a comparison, say
            for part in statement.parts:
                for each in EITHER:
                    yield from _literals(part, each)
