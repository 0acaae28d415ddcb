"""Many statements read at once: parts that several of them have in common are read once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nbr.errors import NbrError
from nbr.language.expressions import Expression, conjunction
from nbr.language.ranges import QUOTED
from nbr.language.statement import as_statement
from nbr.world import World

PARTS = re.compile(r"(?:[^,\"']|\"[^\"]*\"|'[^']*')+")  # between commas that stand in no quotation marks
BRACKETS = re.compile(r"[(){}\[\]]")


def as_statements(texts: Iterable[str], world: World, what: str) -> dict[str, Expression]:
    """Each text as a statement, as `as_statement` reads it; parts between commas are read once.

    >>> found = as_statements(["x0, x1", "x0, ~x1", "count(x0, x1)=1"], World.bits(2), "condition")
    >>> [str(each) for each in found.values()]
    ['x0 & x1', 'x0 & ~x1', 'count(x0, x1)=1']
    """
    parts: dict[str, Expression | None] = {}

    def read(part: str) -> Expression | None:
        if part not in parts:
            try:
                parts[part] = as_statement(part, world, what)
            except NbrError:  # the place of an error is counted in the whole text
                parts[part] = None
        return parts[part]

    found = {}
    for text in dict.fromkeys(texts):
        pieces = [] if BRACKETS.search(QUOTED.sub("", text)) else PARTS.findall(text)
        said = [read(piece) for piece in pieces] if ",".join(pieces) == text else [None]
        known = [part for part in said if part is not None]
        whole = conjunction(known) if len(known) == len(said) else None
        found[text] = as_statement(text, world, what) if whole is None else whole
    return found
