"""How long learning may take: told before it begins, and kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nbr import clock
from nbr.errors import NbrError
from nbr.tables import Table

ROWS, COLUMNS = 10_000, 50  # of a table up to which a minute is enough
QUICK, LONG = 60.0, 240.0  # seconds


@dataclass(frozen=True)
class Budget:
    """The moment at which the best of what was found is taken."""

    deadline: float = math.inf

    @property
    def left(self) -> float:
        """Seconds; below 0 where it is late."""
        return self.deadline - clock.now()

    def part(self, share: float) -> Budget:
        """A budget of a share of what is left."""
        return self if self.deadline == math.inf else Budget(clock.now() + share * self.left)


def seconds(budget: float | str | None, table: Table) -> float:
    """What a user wants, or by default ("auto") at most a minute for tables that are not large; None is no limit."""
    if budget is None:
        return math.inf
    if budget == "auto":
        return QUICK if table.rows <= ROWS and len(table.world) <= COLUMNS else LONG
    if isinstance(budget, str | bool) or not budget > 0:
        raise NbrError(f"the budget must be a number of seconds above 0, 'auto', or None for no limit, not {budget!r}")
    return float(budget)


def begun(budget: float | str | None, table: Table) -> Budget:
    """A budget that runs from now."""
    return Budget(clock.now() + seconds(budget, table))


def told(limit: float) -> str:
    """A line on how long it may take.

    >>> told(60.0)
    'learning takes at most about 60 seconds'
    """
    return "learning has no time limit" if limit == math.inf else f"learning takes at most about {limit:g} seconds"
