"""What a way is: it says its name, why it does not fit, what it will cost, and makes an attempt that can go on."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

from nbr.errors import NbrError
from nbr.ways.limits import Limits


@dataclass(frozen=True)
class Cost:
    """Roughly how many seconds until all is known, and whether that is sure; else it is a guess for a good case."""

    seconds: float
    sure: bool = False


class Unfit(NbrError):
    """An attempt that finds out that it cannot take what was asked, or not in any time, and why."""


NEVER = Cost(math.inf)  # not worth a try unless it is asked for by name


class Found(Protocol):
    """What is known of a quantity so far: bounds that are proved, or that hold 95 times in 100."""

    @property
    def kind(self) -> str:
        """Either "proved" or "95%"."""

    @property
    def width(self) -> float:
        """How far the bounds are apart."""

    @property
    def exact(self) -> bool:
        """Whether nothing is left to find out."""

    def narrowed(self, other: Self) -> Self:
        """What both say, where both are proved."""

    def beside(self, proved: Self) -> Self:
        """An estimate, with what is proved beside it."""


A = TypeVar("A")
F = TypeVar("F", bound=Found)
Attempt = Callable[[Limits], F | None]  # called again, it goes on; None where nothing is known yet


class Way(ABC, Generic[A, F]):
    """One way to find out a quantity of whatever is asked."""

    name: str  # which an answer prints and a user may type
    proves: bool = True  # whether its bounds are certain, or hold 95 times in 100

    def unfit(self, asked: A) -> str | None:
        """Why it cannot take this, in words for a user; None if it can."""
        return None

    def missing(self) -> str | None:
        """What has to be installed for it, in words for a user."""
        return None

    def cost(self, asked: A) -> Cost:
        return Cost(1.0)

    @abstractmethod
    def solve(self, asked: A, limits: Limits) -> F | None:
        """What can be known within limits; None if nothing."""

    def attempt(self, asked: A) -> Attempt[F]:
        """What to call for a while, and again; from the beginning each time, unless a way knows better.

        It may find out that it does not fit after all: `Unfit`.
        """
        return partial(self.solve, asked)


AnyWay = Way[Any, Any]
