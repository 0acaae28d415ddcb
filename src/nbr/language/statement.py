"""Words about a world, read and checked: what a question or a condition says."""

from __future__ import annotations

from nbr.errors import NbrError
from nbr.language.expressions import Expression
from nbr.language.linear import resolved
from nbr.language.parser import parse
from nbr.world import World


def as_statement(words: object, world: World, what: str) -> Expression:
    """A statement about a world, from text or as it is; `what` says whose error it is.

    >>> print(as_statement("x0, x1", World.bits(2), "condition"))
    x0 & x1
    >>> as_statement(0.8, World.bits(2), "condition")
    Traceback (most recent call last):
        ...
    nbr.errors.NbrError: condition: it is a statement in the query language, not a float
    """
    try:
        if not isinstance(words, str | Expression):
            raise NbrError(f"it is a statement in the query language, not a {type(words).__name__}")
        found = parse(words, world) if isinstance(words, str) else resolved(words, world)
        found.check(world)
    except NbrError as error:
        raise NbrError(f"{what}: {error}", error.at) from None
    return found
