"""Dates and times as numbers, and back: days since 1970, seconds since 1970, seconds since midnight.

>>> read("2021-03-05")
(18691.0, 'date')
>>> show(18691.0, "date"), show(52200.0, "clock")
('2021-03-05', '14:30')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

UNITS = ("date", "time", "clock")
EXAMPLE = {"date": "2021-03-05", "time": "2021-03-05T14:30", "clock": "14:30"}
EPOCH = datetime(1970, 1, 1)
CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?\Z")
# Day first unless a column has a day above 12 in second place: see `tables.texts`.
WORDED = (
    *(f"%d{gap}{month}{gap}%Y" for month in ("%b", "%B") for gap in (" ", "-", "/")),
    *(f"{month} %d{comma} %Y" for month in ("%b", "%B") for comma in (",", "")),
    *(f"{name}, %d {month} %Y" for name in ("%a", "%A") for month in ("%b", "%B")),
    *(f"{name}, {month} %d, %Y" for name in ("%a", "%A") for month in ("%b", "%B")),
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
)
WRITTEN = ("%Y-%m-%d", *WORDED, "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y")  # by which a column may spell all days
LOOKED = 200  # cells of a column, to see which it is
DAYTIME = re.compile(r"(.+?),?[ T]+(\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?) ?([AaPp]\.?[Mm]\.?)?\Z")
SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:[ T](.+))?\Z")


def number(value: date | datetime | time) -> tuple[float, str]:
    """The number and unit of a date, a time, or a time of day; zones are turned to UTC."""
    if isinstance(value, datetime):
        plain = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return (plain - EPOCH).total_seconds(), "time"
    if isinstance(value, date):
        return float((value - EPOCH.date()).days), "date"
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6, "clock"


def read(text: str, month_first: bool = False) -> tuple[float, str] | None:
    """The number and unit that a text spells, or None."""
    text = text.strip()
    if not text[:1].isalnum() or not any(character.isdigit() for character in text) or len(text) > 40:
        return None
    clock = CLOCK.match(text)
    if clock:
        hours, minutes, seconds = clock.groups()
        return int(hours) * 3600.0 + int(minutes) * 60 + float(seconds or 0), "clock"
    if re.match(r"\d{4}-\d\d-\d\d", text):
        try:
            return number(date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text))
        except ValueError:
            return None
    slashed = SLASHED.match(text)
    if slashed and not slashed[4]:
        first, second, year, _ = slashed.groups()
        day, month = (second, first) if month_first else (first, second)
        return read(f"{year}-{int(month):02}-{int(day):02}")
    if (both := DAYTIME.match(text)) is not None:
        return _at(read(both[1], month_first), read(both[2]), (both[3] or "").lower())
    if text.isdigit():  # 20210305 is rather a number
        return None
    for form in WORDED:
        try:
            return number(datetime.strptime(text, form).date())
        except ValueError:
            continue
    return None


def _at(day: tuple[float, str] | None, clock: tuple[float, str] | None, half: str) -> tuple[float, str] | None:
    """A day and a time of day, before or after noon if that is said."""
    if day is None or clock is None or day[1] != "date" or clock[1] != "clock":
        return None
    seconds = clock[0]
    if half:
        if not 3600 <= seconds < 13 * 3600:
            return None
        seconds = seconds % (12 * 3600) + 12 * 3600 * half.startswith("p")
    return day[0] * 86400 + seconds, "time"


Form = tuple[str, bool]  # a form of `WRITTEN`, and whether days and months go without a leading 0


def form(cells: Mapping[str, float]) -> Form | None:
    """The form in which texts spell their days; None if they have none in common.

    >>> form({"Jun 12 1998": 10389.0, "Jul 3 1998": 10410.0})
    ('%b %d %Y', True)
    """
    some = list(islice(cells.items(), LOOKED))
    forms = [(each, bare) for each in WRITTEN for bare in (False, True)]
    return next((each for each in forms if some and all(spelt(day, each) == cell for cell, day in some)), None)


def spelt(value: float, how: Form) -> str:
    """A day in a form.

    >>> spelt(10410.0, ("%d.%m.%Y", True)), spelt(10410.0, ("%d.%m.%Y", False))
    ('3.7.1998', '03.07.1998')
    """
    written = (EPOCH + timedelta(days=round(value))).strftime(how[0])
    return re.sub(r"\b0(?=\d\b)", "", written) if how[1] else written


def ambiguous(text: str) -> bool:
    """Whether a text alone does not say which part is the day.

    >>> ambiguous("3/4/2021"), ambiguous("4/4/2021"), ambiguous("25/3/2021")
    (True, False, False)
    """
    slashed = SLASHED.match(text.strip())
    return slashed is not None and slashed[1] != slashed[2] and max(int(slashed[1]), int(slashed[2])) <= 12


def show(value: float, unit: str) -> str:
    """The text of a number of a unit, in ISO form; what lies outside the calendar stays a number."""
    try:
        if unit == "date":
            return (EPOCH + timedelta(days=round(value))).date().isoformat()
        moment = EPOCH + timedelta(seconds=round(value, 3))
    except OverflowError:
        return f"{value:g}"
    seconds = "" if moment.second == moment.microsecond == 0 else ":%S" + (".%f" if moment.microsecond else "")
    return moment.strftime(("%Y-%m-%dT" if unit == "time" else "") + "%H:%M" + seconds)
