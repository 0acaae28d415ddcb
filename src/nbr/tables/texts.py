"""What single cells of a table spell: numbers, truth values, dates, and cells that say that nothing is known."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from nbr import dates

# Cells that mean "not observed"; those of MAYBE only where a column has no labels: "none" may well be one.
HOLES = frozenset({"", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "?", "-", "--", ".", "<na>", "missing"})
MAYBE = frozenset({"none", "missing"})
TRUTH = {
    **dict.fromkeys(("1", "1.0", "true", "t", "yes", "y", "on"), 1.0),
    **dict.fromkeys(("0", "0.0", "false", "f", "no", "n", "off"), 0.0),
}
GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?\Z")


def hole(cell: str) -> bool:
    """Whether a cell says that nothing was observed.

    >>> [cell for cell in ("NA", "?", "n/a", "", "no") if hole(cell)]
    ['NA', '?', 'n/a', '']
    """
    return cell.lower() in HOLES


def number(cell: str) -> float | None:
    """The finite number that a cell spells, a per cent sign and thousands' commas left out.

    >>> number("12%"), number("1,234.5"), number("1e3"), number("1,2"), number("nan")
    (12.0, 1234.5, 1000.0, None, None)
    """
    text = cell.removesuffix("%").rstrip()
    if GROUPED.match(text):
        text = text.replace(",", "")
    if "_" in text:
        return None
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def infinite(cell: str) -> bool:
    """Whether a cell spells a number that is not finite, which is no label either.

    >>> infinite("inf"), infinite("-Infinity"), infinite("info")
    (True, True, False)
    """
    try:
        return math.isinf(float(cell))
    except ValueError:
        return False


def truth(cell: str) -> float | None:
    return TRUTH.get(cell.lower())


def moments(cells: Iterable[str], day_first: bool = False) -> tuple[dict[str, float], str] | None:
    """All cells as dates or times of one unit, or None if some is not.

    3/4/2021 is in March if 13/4 never occurs, unless the day is said to stand first.
    """
    cells = list(cells)
    months = [match.groups()[:2] for cell in cells if (match := dates.SLASHED.match(cell.strip()))]
    month_first = bool(months) and all(int(first) <= 12 for first, _ in months) and not day_first
    found = {}
    for cell in cells:
        each = dates.read(cell, month_first)
        if each is None:  # most columns are no dates: the first cell says so
            return None
        found[cell] = each
    units = {unit for _, unit in found.values()}
    if not units:
        return None
    if units == {"date", "time"}:
        return {cell: value * 86400 if unit == "date" else value for cell, (value, unit) in found.items()}, "time"
    if units == {"time"} and all(value % 86400 == 0 for value, _ in found.values()):
        return {cell: value / 86400 for cell, (value, _) in found.items()}, "date"
    return ({cell: value for cell, (value, _) in found.items()}, units.pop()) if len(units) == 1 else None
