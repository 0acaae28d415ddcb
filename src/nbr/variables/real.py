"""Variables that are numbers between two bounds, dates and times among them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from typing import ClassVar, Self

from nbr import dates
from nbr.errors import NbrError
from nbr.variables.base import COMPARED, Variable

FINEST = 1e15  # steps: beyond, a number cannot tell one from the next


@dataclass(frozen=True)
class Real(Variable):
    """A variable that is a number between two bounds, both included.

    Args:
        low: The lower bound: a number, or a text such as "2021-01-01", "2021-01-01 08:30" or "08:30".
        high: The upper bound, written in the same way.
        step: The distance between values, such as 1 for counts; 0 for all numbers.
        unit: "date", "time" or "clock" for numbers that are written so; taken from the bounds where these are texts.

    >>> Real("2021-01-01", "2021-12-31").show(18691)
    '2021-03-05'
    """

    kind: ClassVar[str] = "real"
    noun: ClassVar[str] = "a number"
    numeric: ClassVar[bool] = True
    adds: ClassVar[bool] = True
    operators: ClassVar[frozenset[str]] = COMPARED
    low: float
    high: float
    step: float = 0.0
    unit: str = ""

    def __post_init__(self) -> None:
        (low, unit), (high, other) = _bound(self.low), _bound(self.high)
        unit = self.unit or unit
        if (other and other != unit) or unit not in ("", *dates.UNITS):
            raise NbrError(f"a real must be a number, a date, a time or a clock throughout, not {unit!r} and {other!r}")
        step = _bound(self.step)[0] or (1.0 if unit == "date" else 0.0)
        if not (math.isfinite(low) and math.isfinite(high) and low < high and math.isfinite(high - low)):
            raise NbrError(f"a real needs finite bounds, the lower one first, not {low} and {high}")
        count = [b / step for b in (low, high)] if step else []
        if not 0 <= step < math.inf or any(abs(each) > FINEST or abs(each - round(each)) > 1e-6 for each in count):
            raise NbrError(f"the bounds of a real are multiples of its step, not {low:g} and {high:g} of {step:g}")
        for name, value in {"low": low, "high": high, "step": step, "unit": unit}.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int | None:
        """How many values it has, if it has a step."""
        return round((self.high - self.low) / self.step) + 1 if self.step else None

    @property
    def spec(self) -> object:
        low, high = (self.show(b) if self.unit else b for b in (self.low, self.high))
        step = {"step": self.step} if self.step and self.unit != "date" else {}
        return {"from": low, "to": high, **step}

    @classmethod
    def read(cls, item: object) -> Self | None:
        if isinstance(item, Mapping) and {"from", "to"} <= set(item) <= {"from", "to", "step"}:
            return cls(item["from"], item["to"], item.get("step", 0.0))
        return None

    def code(self, value: object) -> float:
        number, unit = _bound(value, self.unit)
        if unit and unit != self.unit:
            wanted = f"a {self.unit}, such as {dates.EXAMPLE[self.unit]}" if self.unit else "a number"
            raise NbrError(f"{value!r} is not {wanted}")
        if not math.isfinite(number):
            raise NbrError(f"{number} is not a finite number")
        return number

    def show(self, code: float) -> str:
        if self.unit:
            return dates.show(code, self.unit)
        return str(round(code)) if self.step and self.step.is_integer() else f"{code:g}"

    def said(self) -> str:
        step = f" in steps of {self.step:g}" if self.step and self.unit != "date" else ""
        return f"from {self.show(self.low)} to {self.show(self.high)}{step}"


def _bound(value: object, unit: str | None = None) -> tuple[float, str]:
    """A number and its unit; with a unit given, an error says what a value of it looks like."""
    if isinstance(value, date | time):
        return dates.number(value)
    try:
        return float(value), ""  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = dates.read(value) if isinstance(value, str) else None
        if found is not None and dates.ambiguous(str(value)):
            other = dates.read(str(value), month_first=True) or found
            first, last = sorted(dates.show(*each) for each in (found, other))
            raise NbrError(f"{value!r} may be two days: write {first} or {last}") from None
        if found is not None:
            return (found[0] * 86400, "time") if (found[1], unit) == ("date", "time") else found
        if unit is None:
            raise NbrError("the bounds of a real are two numbers that are not too large") from None
        wanted = f"a {unit}, such as {dates.EXAMPLE[unit]}" if unit else "a number"
        raise NbrError(f"{value!r} is not {wanted}") from None
