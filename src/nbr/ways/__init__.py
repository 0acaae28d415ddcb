"""Ways to find out a quantity, and the scheduler that `auto` is: it names none of them.

There are four quantities: the expectation behind belief and plausibility, the sum behind a frequency, the maximum that
is the best point, and samples. Each has a list of ways; one more entry there is tried by `auto`.
"""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
