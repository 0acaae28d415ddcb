"""How long a way may take, and what share of the time each phase gets."""

from __future__ import annotations

from dataclasses import dataclass

from nbr import clock

SHARES = {
    "glance": 0.1,  # for a first try of a way that does not know what it will cost, where there are others
    "proof": 0.5,  # for ways that prove, before others estimate ...
    "proof alone": 0.8,  # ... and where those others came to nothing at first sight
}


@dataclass(frozen=True)
class Limits:
    """How long something may take, how narrow bounds should be, and where its randomness comes from."""

    deadline: float = float("inf")  # of nbr.clock
    tolerance: float = 1e-3
    seed: int = 0

    @classmethod
    def within(cls, seconds: float, tolerance: float = 1e-3, seed: int = 0) -> Limits:
        return cls(clock.now() + seconds, tolerance, seed)

    @property
    def left(self) -> float:
        return self.deadline - clock.now()

    def share(self, fraction: float) -> Limits:
        """The same limits with a part of the time that is left."""
        return Limits(clock.now() + fraction * max(self.left, 0.0), self.tolerance, self.seed)
