"""What an engine is asked, and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus.selectors import Presence, Selectors
from nbr.ways import Limits, Way

Interval = tuple[float, float]


@dataclass(frozen=True)
class Problem:
    """Groups of points, and the unions of groups over which a maximum is wanted.

    A question has two groups, the points for and those against it, and three unions: each alone and
    both. Engines share work among unions where they can.
    """

    groups: tuple[Tensor, ...]  # each (points, rules): grades
    unions: tuple[tuple[int, ...], ...]
    beliefs: Presence  # (rules,), or selectors where rules share some
    scale: float = 1.0  # what all expectations are to be multiplied by; ratios do not feel it

    @property
    def rules(self) -> int:
        return len(self.beliefs)

    @property
    def alone(self) -> Tensor:
        """The beliefs, for engines that take only rules that are there each for itself."""
        assert isinstance(self.beliefs, Tensor)
        return self.beliefs

    def size(self, union: Sequence[int]) -> int:
        """How many points a union has."""
        return sum(len(self.groups[group]) for group in union)

    def points(self, union: Sequence[int]) -> Tensor:
        return torch.cat([self.groups[group] for group in union])


@dataclass(frozen=True)
class Estimate:
    """Proved bounds on the expectation of each union."""

    low: Tensor
    high: Tensor
    engine: str
    kind: str = "proved"
    scale: float = 1.0  # see Problem

    @property
    def exact(self) -> bool:
        return self.kind == "proved" and bool(torch.equal(self.low, self.high))

    def bounds(self, union: int) -> Interval:
        return self.scale * float(self.low[union]), self.scale * float(self.high[union])

    def narrowed(self, other: Estimate) -> Estimate:
        """What both prove."""
        low, high = torch.maximum(self.low, other.low), torch.minimum(self.high, other.high)
        middle = (low + high) / 2  # of bounds that only rounding has put in the wrong order
        crossed = low > high
        low, high = torch.where(crossed, middle, low), torch.where(crossed, middle, high)
        return Estimate(low, high, self.engine if self.width <= other.width else other.engine, scale=self.scale)

    def beside(self, proved: Estimate) -> Estimate:
        return self

    @property
    def width(self) -> float:
        """The widest ratio to the largest union, which is what questions ask for."""
        whole = int(self.high.argmax())
        ratios = [self.ratio(union, whole) for union in range(len(self.high))]
        return max(high - low for low, high in ratios)

    def ratio(self, union: int, of: int) -> Interval:
        """Bounds on E_union / E_of, where `of` contains `union`."""
        low, high = float(self.low[union]), float(self.high[union])
        least, most = float(self.low[of]), float(self.high[of])
        return (min(low / most, 1.0) if most > 0 else 0.0), (min(high / least, 1.0) if least > 0 else 1.0)


class Engine(Way[Problem, Estimate]):
    """A way to the expectations of a problem."""

    shared = False  # whether it takes rules that share selectors

    def takes(self, problem: Problem) -> str | None:
        """Why it cannot take a problem, shared selectors too; None if it can."""
        if isinstance(problem.beliefs, Selectors) and not self.shared:
            return "rules share a source, or exclude each other"
        return self.unfit(problem)


class ExactEngine(Engine, ABC):
    """An engine with a closed, differentiable expression for the expectation over one set of points."""

    @abstractmethod
    def expectation(self, grades: Tensor, beliefs: Presence) -> Tensor:
        """E max over the points, for grades of shape (..., points, rules): shape (...)."""

    def solve(self, problem: Problem, limits: Limits) -> Estimate:
        values = [self.expectation(problem.points(union), problem.beliefs) for union in problem.unions]
        value = torch.stack(values).clamp(0, 1)
        return Estimate(value, value, self.name)
