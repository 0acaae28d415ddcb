"""Names and labels with spaces or signs in them, written without quotes where that is clear."""

from __future__ import annotations

import re

from nbr.language.expressions import PLAIN, quoted
from nbr.world import World

QUOTES = r"\"[^\"]*\"|'[^']*'"  # what is quoted stays


def spaced(text: str, world: World) -> str:
    """A text with quotes around the names and labels of a world that need them; the longest one that fits.

    >>> from nbr.world import Choice, Real
    >>> world = World({"blood pressure": Real(60, 220), "city": Choice("New York", "York")})
    >>> spaced("blood pressure>=140 & city=New York", world)
    '"blood pressure">=140 & city="New York"'
    """
    known = {word for name, variable in world.variables.items() for word in (name, *variable.labels)}
    found = sorted((word for word in known if not PLAIN.match(word) and word.strip()), key=len, reverse=True)
    if not found:
        return text
    words = "|".join(re.escape(word) for word in found)
    return re.sub(rf"({QUOTES})|(?<!\w)({words})(?!\w)", lambda each: each[1] or quoted(each[2]), text)
