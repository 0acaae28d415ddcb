"""What as many rows leave possible of P(Q | C), and what columns never seen together do: the range that is told.

A probability is no better known than it would be from the rows under its condition, n P(C) of them, of which the share
that the model says is yes: Wilson's interval. Refitting the model to rows weighed anew, a jackknife and draws of its
tables say only how far the model would move, not how far it is off; their ranges are narrower and hold the truth too
rarely (`benchmarks/ranges.py` has the figures).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from torch import Tensor

from nbr.tables import Together

Z95 = 1.959963984540054

Range = tuple[float, float]
ANYTHING: Range = (0.0, 1.0)


def wilson(low: float, high: float, rows: float) -> Range:
    """The 95% interval of a share that rows show to be between two ends: from Wilson's of one to that of the other.

    >>> [round(end, 4) for end in wilson(0.8, 0.8, 10)]
    [0.4902, 0.9433]
    >>> wilson(0.3, 0.3, 0)
    (0.0, 1.0)
    """
    return _end(low, rows, -1.0), _end(high, rows, 1.0)


def _end(share: float, rows: float, side: float) -> float:
    centre, half = share * rows + Z95**2 / 2, Z95 * math.sqrt(rows * share * (1 - share) + Z95**2 / 4)
    return min(1.0, max(0.0, (centre + side * half) / (rows + Z95**2)))


def wilsons(shares: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The same for many shares at once, of as many rows each: two tensors of the shape that both have together."""
    centre, half = shares * rows + Z95**2 / 2, Z95 * (rows * shares * (1 - shares) + Z95**2 / 4).sqrt()
    whole = rows + Z95**2
    return ((centre - half) / whole).clamp(0.0, 1.0), ((centre + half) / whole).clamp(0.0, 1.0)


def rows_of(seen: Together | None, names: Iterable[str]) -> int | None:
    """How many rows showed these columns; where none showed them together, the smallest number behind any part.

    None where that is not known.

    >>> seen = Together((("a", "b"), ("b", "c")), (500, 80))
    >>> rows_of(seen, ["a", "b"]), rows_of(seen, ["b"]), rows_of(seen, ["a", "c"])
    (500, 500, 80)
    """
    if seen is None or seen.rows is None or not seen.rows:
        return None
    wanted, counts = frozenset(names), dict(zip(map(frozenset, seen.views), seen.rows, strict=True))
    parts = {wanted & view for view in counts}
    behind = [
        [count for view, count in counts.items() if part <= view]
        for part in parts
        if not any(part < other for other in parts)
    ]
    if not wanted <= frozenset().union(*counts) or any(None in each for each in behind):
        return None
    return min(max(count for count in each if count is not None) for each in behind)


def told(
    found: tuple[float, float] | None, left: Range | None, widened: Range | None, rows: float | None
) -> Range | None:
    """The range of a value, from the ends of its error, with what stays open, alone and with its sampling error.

    None where the rows are not known; anything where the value is not.
    """
    if rows is None:
        return None
    if found is None:
        return ANYTHING
    low, high = wilson(*found, rows)
    if left is not None and left[0] < left[1]:
        ends = wilson(*left, rows) if widened is None else widened
        low, high = min(low, ends[0]), max(high, ends[1])
    return low, high
