"""What settings of a classifier must be for its proofs to mean anything, by whatever road they came."""

from __future__ import annotations

import math
from numbers import Real

from nbr.errors import NbrError


def is_number(value: object) -> bool:
    """Whether this is a finite number that float64 can hold.

    >>> [is_number(value) for value in (1, 0.5, True, "1", float("nan"), 10**400)]
    [True, True, False, False, False, False]
    """
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def check_box(box: object) -> None:
    """Raise an error unless this says what values inputs may have."""
    pair = isinstance(box, (tuple, list)) and len(box) == 2 and all(is_number(end) for end in box)
    if box is not None and not (isinstance(box, (tuple, list)) and pair and box[0] < box[1]):
        raise NbrError(f"box must be the lowest and the highest value of an input, such as (0, 1), not {box!r:.60}")


def check_epsilon(epsilon: object) -> float:
    """A radius to be robust at."""
    if not isinstance(epsilon, Real) or not is_number(epsilon) or not float(epsilon) > 0:
        raise NbrError(f"epsilon must be a finite number above 0, or for RobustClassifier 'auto', not {epsilon!r:.60}")
    return float(epsilon)
