"""Shares of images, and how sure they are: 20 of 20 is not 100% for certain."""

from __future__ import annotations

from nbr.errors import NbrError, install


def wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share of so many images.

    >>> low, high = wilson(1.0, 20)
    >>> round(low, 3), high
    (0.839, 1.0)
    """
    try:
        from scipy.stats import binomtest
    except ModuleNotFoundError:
        raise NbrError(f"intervals of shares need scipy: {install('classify')}") from None
    low, high = binomtest(round(share * count), count).proportion_ci(method="wilson")
    return float(low), float(high)


def percent_interval(share: float, count: int) -> str:
    """The same in per cent, for reading.

    >>> percent_interval(1.0, 20)
    '83.9 to 100.0'
    """
    low, high = wilson(share, count)
    return f"{100 * low:.1f} to {100 * high:.1f}"
