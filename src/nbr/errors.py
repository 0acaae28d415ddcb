"""The one exception that users see."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class NbrError(ValueError):
    """Says what is wrong, where, and what would work, in one line."""


def suggest(word: str, known: Iterable[str]) -> str:
    """Words to end an error message with: the known names closest to a wrong one.

    >>> suggest("rian", ["rain", "grass"])
    "; did you mean 'rain'?"
    >>> suggest("q", ["rain", "grass"])
    '; there are rain, grass'
    """
    names = list(known)
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(repr(name) for name in close)}?"
    if not names:
        return ""
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"; there are {shown}"
