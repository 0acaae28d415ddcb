"""The clock of every budget: one place, so that tests can set it."""

from __future__ import annotations

import time


def now() -> float:
    """Seconds since some moment that never changes; only differences mean something."""
    return time.monotonic()
