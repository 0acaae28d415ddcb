"""Conditions that are believed to some degree only, part by part."""

from __future__ import annotations

from nbr.errors import NbrError
from nbr.language.expressions import Expression, conjunction, conjuncts
from nbr.language.graded import Graded
from nbr.language.parser import parse
from nbr.language.statement import as_statement
from nbr.world import World


def split_condition(words: object, world: World) -> tuple[Expression | None, tuple[Graded, ...]]:
    """A condition in two: what holds for certain, None if nothing does, and what is believed to some degree only.

    >>> certain, graded = split_condition("x0, (x1 | x2) @ 0.8", World.bits(3))
    >>> print(certain, "and", *graded)
    x0 and (x1 | x2) @ 0.8
    """
    if isinstance(words, str) and "@" not in words:
        return as_statement(words, world, "condition"), ()
    try:
        found = parse(words, world) if isinstance(words, str) else words
    except NbrError as error:
        raise NbrError(f"condition: {error}", error.at) from None
    if not isinstance(found, Expression):
        return as_statement(found, world, "condition"), ()
    certain, graded = list[Expression](), list[Graded]()
    for part in conjuncts(found):
        if not isinstance(part, Graded) or part.degree == 1:
            certain.append(as_statement(part.part if isinstance(part, Graded) else part, world, "condition"))
            continue
        if not 0 <= part.degree <= 1:
            raise NbrError(f"condition: a degree must be a number from 0 to 1, not {part.degree:g}", part.at + 1)
        as_statement(part.part, world, "condition")
        graded.append(part)
    if not graded and not any(isinstance(part, Graded) for part in conjuncts(found)):
        return found, ()
    return conjunction(certain), tuple(graded)
