"""Ways to find out a quantity, and the scheduler that `auto` is: it names none of them.

There are four quantities: the expectation behind belief and plausibility, the sum behind a frequency, the maximum that
is the best point, and samples. Each has a list of ways; one more entry there is tried by `auto`.
"""

from nbr.ways.limits import SHARES, Limits
from nbr.ways.scheduler import Result, auto
from nbr.ways.way import NEVER, Attempt, Cost, Found, Unfit, Way

__all__ = ["NEVER", "SHARES", "Attempt", "Cost", "Found", "Limits", "Result", "Unfit", "Way", "auto"]
