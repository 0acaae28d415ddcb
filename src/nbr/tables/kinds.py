"""What a column is, from its cells: a bit, a choice, a number, a count, a date; or nothing to learn from.

Each inference is told in a line, and each can be said otherwise: `columns={"age": "real:0:120"}`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nbr import dates
from nbr.errors import NbrError
from nbr.tables import texts
from nbr.world import Bit, Choice, Real, Variable

FEW = 12  # whole numbers far apart, often repeated, that take no more values than this are codes
MANY = 20  # different whole numbers that are multiples of another by no chance
MOST_LABELS = 1000
SURE = 30  # rows from which a column that never repeats is taken for names or numbers of rows
KEY = re.compile(r"(^|[\W_])(id|key|index|uuid|nr|no|number|rownames?|unnamed|column)([\W_]|\d|$)", re.IGNORECASE)
CODE = re.compile(
    r"(^|[\W_])(id|code|zip|postcode|class|type|kind|category|cat|group|label|target|region|species)([\W_]|$)",
    re.IGNORECASE,
)
WORDS = ("bit", "choice", "real", "count", "date", "time", "clock")


@dataclass(frozen=True)
class Kind:
    """What a column is, or None if it is left out; the line that says so; cells that do not fit."""

    variable: Variable | None
    note: str = ""
    wrong: tuple[str, ...] = ()


def infer(name: str, cells: Counter[str], rows: int) -> Kind:
    """The kind of a column, from how often each text occurs in it; holes are left out before."""
    cells = without_maybe(cells)
    values = sorted(cells)
    if not values:
        return Kind(None, "empty, left out")
    if all(texts.truth(value) is not None for value in values):
        return _bit(values)
    if len(values) == 1:
        return Kind(Choice(values[0]), f"always {values[0]!r}: nothing to learn from it")
    dated = texts.moments(values)
    if dated is not None:
        doubt = next((value for value in values if dates.ambiguous(value)), None)
        told = "" if doubt is None else f", {doubt} read as {dates.show(dated[0][doubt], dated[1])}"
        return _real(dated[0].values(), dated[1], f"{dated[1]}s, as numbers{told}")
    numbers = {value: found for value in values if (found := texts.number(value)) is not None}
    words = [value for value in values if value not in numbers and not texts.infinite(value)]
    if len(numbers) > len(words):
        wrong = tuple(value for value in values if value not in numbers)
        return _number(name, numbers, cells, rows) if not wrong else Kind(None, wrong=wrong)
    return _labels(name, cells)


def without_maybe(cells: Counter[str]) -> Counter[str]:
    """Without the words that mean a hole among numbers, and a label among labels."""
    rest = Counter({cell: count for cell, count in cells.items() if cell.lower() not in texts.MAYBE})
    labels = [cell for cell in rest if texts.number(cell) is None and texts.truth(cell) is None]
    return cells if labels and texts.moments(labels) is None else rest


def told(name: str, wanted: str, cells: Counter[str]) -> Kind:
    """The kind that a user says: bit, choice, real, real:0:120, count, count:0:9, date, time, clock."""
    kind, _, rest = wanted.partition(":")
    bounds = rest.split(":", 1) if kind not in ("time", "clock", "date") else re.split(r"\s+to\s+", rest)
    if kind not in WORDS or (rest and len(bounds) != 2 and kind != "choice"):
        raise NbrError(f"column {name!r}: {wanted!r} is not a kind; write one of {', '.join(WORDS)}, or real:0:120")
    if kind == "bit":
        return Kind(Bit(), wrong=tuple(cell for cell in sorted(cells) if texts.truth(cell) is None))
    if kind == "choice":
        return Kind(Choice(*(rest.split(":") if rest else sorted(cells))))
    cells = without_maybe(cells)
    if kind in ("real", "count"):
        found: dict[str, float | None] = {cell: texts.number(cell) for cell in cells}
        unit = ""
    else:
        dated = texts.moments(cells)
        found = dict.fromkeys(cells) | (dict(dated[0]) if dated is not None else {})
        unit = dated[1] if dated is not None else kind
    wrong = tuple(sorted(cell for cell, value in found.items() if value is None))
    if wrong or not (found or rest):
        return Kind(None, "empty, left out", wrong)
    numbers = [value for value in found.values() if value is not None]
    step = 1.0 if kind == "count" else 0.0
    if rest:
        return Kind(Real(bounds[0], bounds[1], step))  # type: ignore[arg-type]
    return _real(numbers, unit, "", step)


def _bit(values: list[str]) -> Kind:
    plain = sorted({value for value in values if value not in ("0", "1", "0.0", "1.0")})
    told = [(code, ", ".join(value for value in plain if texts.truth(value) == code)) for code in (1, 0)]
    note = "; ".join(f"{words} as {code}" for code, words in told if words)
    if len(values) == 1:
        note = f"always {values[0]!r}: nothing to learn from it"
    return Kind(Bit(), note)


def _number(name: str, numbers: dict[str, float], cells: Counter[str], rows: int) -> Kind:
    values = sorted(set(numbers.values()))
    whole = all(value.is_integer() for value in values)
    seen = sum(cells.values())
    if len(values) == 1:
        text = min(numbers, key=len)
        return Kind(Choice(text), f"always {text!r}: nothing to learn from it")
    padded = any(re.match(r"0\d", cell) for cell in numbers)
    running = values[0] in (0, 1) and values[-1] - values[0] == seen - 1
    if whole and len(values) == seen == rows and seen >= SURE and (KEY.search(name) or running):
        return Kind(None, "a different whole number in each row, left out as an identifier")
    sparse = 3 * len(values) <= seen and len(values) <= FEW and values[-1] - values[0] > 20 * len(values)
    coded = CODE.search(name) or sparse
    if whole and (padded or len(values) == 2 or (coded and len(values) <= MOST_LABELS)):
        words = sorted(numbers) if padded else [f"{value:.0f}" for value in values]
        return Kind(Choice(*words), f"{len(words)} whole numbers, as codes without order")
    marks = ["per cent signs left out"] if any(cell.endswith("%") for cell in numbers) else []
    marks += ["commas between thousands left out"] if any("," in cell for cell in numbers) else []
    step = math.gcd(*map(int, values)) if whole and len(values) >= MANY else 1
    kind = [f"whole numbers in steps of {step}" if step > 1 else "whole numbers"] * whole
    return _real(values, "", ", ".join(kind + marks), float(whole * step))


def _real(numbers: Iterable[float], unit: str, note: str, step: float = 0.0) -> Kind:
    numbers = list(numbers)
    low, high = min(numbers), max(numbers)
    if unit in ("time", "clock"):
        step = next((float(size) for size in (86400, 3600, 60, 1) if all(n % size == 0 for n in numbers)), 0.0)
    if low == high:
        high = low + (step or max(1.0, abs(low)))
    variable = Real(low, high, step, unit)
    return Kind(variable, f"{note}, from {variable.show(low)} to {variable.show(high)}" if note else "")


def _labels(name: str, cells: Counter[str]) -> Kind:
    seen, most = sum(cells.values()), max(cells.values())
    long = sum(len(cell) * count for cell, count in cells.items()) / seen
    if len(cells) >= SURE and (most == 1 or (long > 40 and len(cells) > seen / 2)):
        what = "free text" if long > 40 else "an identifier"
        return Kind(None, f"{len(cells)} different texts in {seen} rows, left out as {what}")
    if len(cells) > MOST_LABELS:
        return Kind(None, f"{len(cells)} different labels, more than {MOST_LABELS}, left out")
    rare = sum(count < 5 for count in cells.values())
    note = f"{len(cells)} labels, {rare} of them in fewer than 5 rows" if len(cells) > 24 else ""
    return Kind(Choice(*sorted(cells)), note)
