"""The clock of every budget: one place, so that tests can set it.

Work that has limits of its own looks at their deadline. Work that has none, since it is a small step of something
larger (writing a rule down as clauses, say), calls `check` now and then: it ends with `OutOfTime` where the answer
that it is for, begun with `until`, is late.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class OutOfTime(Exception):
    """The deadline has passed."""


def now() -> float:
    """Seconds since some moment that never changes; only differences mean something."""
    return time.monotonic()


@contextmanager
def until(deadline: float) -> Iterator[None]:
    """Within, `check` ends what is late; where one stands in another, the earlier deadline counts."""
    before = _deadline.set(min(deadline, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(before)


def check() -> None:
    """Raise OutOfTime where it is late."""
    if now() > _deadline.get():
        raise OutOfTime
