"""Monte Carlo over worlds, with intervals that hold at least 95 times in 100."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from nbr.calculus import selectors
from nbr.calculus.point import keep_probability
from nbr.calculus.problem import Engine, Estimate, Interval, Problem
from nbr.calculus.selectors import Presence
from nbr.ways import Limits

CHUNK = 1 << 20  # grades held at a time
FIRST_ROUND = 1 << 10  # worlds in the first round; each round doubles the total
MOST_WORLDS = 1 << 26
LEAST = 4  # worlds, even when time is up
MISS_PROBABILITY = 0.05


@dataclass(frozen=True)
class SampledEstimate(Estimate):
    """Bounds from the mean and covariance of bounded values, by the empirical Bernstein inequality."""

    mean: Tensor = field(kw_only=True)
    covariance: Tensor = field(kw_only=True)
    deviations: float = field(kw_only=True)  # standard deviations on either side
    slack: float = field(kw_only=True)  # and this much more

    def ratio(self, union: int, of: int) -> Interval:
        """An interval for mean / mean of two paired values: all q for which value - q * other can have mean 0.

        With d deviations and slack s these q satisfy |A - qC| <= d sqrt(V(q)) + s, where V(q) is the
        variance of the difference: the ends are roots of two quadratics (Fieller's argument).
        """
        a, c = float(self.mean[union]), float(self.mean[of])
        v = self.deviations**2 * self.covariance
        vaa, vac, vcc = float(v[union, union]), float(v[union, of]), float(v[of, of])
        square = c * c - vcc
        ends = []
        for sign in (-1, 1):
            near = a + sign * self.slack
            root = max((near * c - vac) ** 2 - square * (near * near - vaa), 0.0)
            ends.append((near * c - vac + sign * math.sqrt(root)) / square if square > 0 else math.nan)
        low = ends[0] if a > self.slack and square > 0 else 0.0
        high = ends[1] if square > 0 else 1.0
        return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)


class Sampled(Engine):
    """Draws worlds, the same for every union, until the bounds are narrow or the time is up.

    Worlds are drawn from the beliefs; or, when expectations are small, in pairs with a point that is
    alive in them (Karp and Luby), weighted by how many points are. The first has a relative variance of
    at most 1 / E, the second of at most Z / E with Z the sum over points of E[mu], so Z < 1 decides.
    """

    name, shared = "sampled", True
    proves = False

    def unfit(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, limits: Limits) -> Estimate:
        grades = torch.cat(problem.groups)
        sizes = [len(group) for group in problem.groups]
        generator = torch.Generator().manual_seed(limits.seed)
        each = keep_probability(grades, problem.beliefs)
        rare = 0 < float(each.sum()) < 1
        scale = float(each.sum()) if rare else 1.0
        draw = _pairs if rare else _worlds
        batch = max(1, min(FIRST_ROUND, CHUNK // max(1, grades.numel() // max(1, problem.rules))))
        size = len(problem.unions)
        total, product, count, rounds = each.new_zeros(size), each.new_zeros(size, size), 0, 0
        while True:
            goal = FIRST_ROUND << rounds
            while count < goal and (count < LEAST or limits.left > 0):
                alive = draw(grades, problem.beliefs, each, min(batch, goal - count), generator)
                values = _unions(alive, sizes, problem.unions)
                total, product = total + values.sum(dim=0), product + values.T @ values
                count += len(values)
            rounds += 1
            estimate = self.estimate(total, product, count, scale, MISS_PROBABILITY / (rounds * (rounds + 1)))
            if limits.left <= 0 or count >= MOST_WORLDS or estimate.width <= limits.tolerance:
                return estimate

    def estimate(self, total: Tensor, product: Tensor, count: int, scale: float, miss: float) -> Estimate:
        """Bounds from the sums of values and of their products over drawn worlds, wrong with a chance of `miss`."""
        # Maurer and Pontil (2009), theorem 4, on both sides; a round's share of the error allows for
        # having looked at the earlier ones.
        mean = total / count
        covariance = (product - count * mean[:, None] * mean) / (count - 1)
        logarithm = math.log(4 / miss)
        deviations, slack = math.sqrt(2 * logarithm / count), 7 * logarithm / (3 * (count - 1))
        width = deviations * covariance.diagonal().clamp(min=0).sqrt() + slack
        low, high = scale * (mean - width), scale * (mean + width)
        return SampledEstimate(
            low.clamp(0, 1),
            high.clamp(0, 1),
            self.name,
            "95%",
            mean=mean,
            covariance=covariance,
            deviations=deviations,
            slack=slack,
        )


def _worlds(grades: Tensor, beliefs: Presence, each: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """mu of every point in worlds drawn from the beliefs: (count, points)."""
    return _smallest(grades, selectors.draw_worlds(beliefs, count, generator))


def _pairs(grades: Tensor, beliefs: Presence, each: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Which points are alive at a level of a world, each counted 1 / (how many are): (count, points).

    A point is drawn by its E[mu], a level t by its share of that expectation, and the world given that the
    point reaches t: no rule that grades it below t is present.
    """
    rules = len(beliefs)
    point = torch.multinomial(each, count, replacement=True, generator=generator)
    ordered, order = grades[point].sort(dim=1)
    edges = torch.cat([torch.zeros_like(ordered[:, :1]), ordered, torch.ones_like(ordered[:, :1])], dim=1)
    passed = (1 - beliefs)[order].cumprod(dim=1) if isinstance(beliefs, Tensor) else beliefs.passed(order)
    absent = torch.cat([torch.ones_like(ordered[:, :1]), passed], dim=1)
    layer = torch.multinomial(edges.diff(dim=1) * absent, 1, generator=generator)
    uniform = 1 - torch.rand(count, 1, generator=generator, dtype=grades.dtype)
    low, high = edges.gather(1, layer), edges.gather(1, layer + 1)
    level = torch.minimum(low + uniform * (high - low), high)
    reaching = grades[point] >= level
    if isinstance(beliefs, Tensor):
        present = (torch.rand(count, rules, generator=generator, dtype=beliefs.dtype) < beliefs) & reaching
    else:
        present = beliefs.draw(count, generator, ~reaching)
    alive = (_smallest(grades, present) >= level).to(grades.dtype)
    return alive / alive.sum(dim=1, keepdim=True)


def _smallest(grades: Tensor, present: Tensor) -> Tensor:
    smallest = grades.new_ones(len(present), len(grades))
    for rule in range(grades.shape[1]):
        smallest = torch.where(present[:, rule, None], smallest.minimum(grades[:, rule]), smallest)
    return smallest


def _unions(values: Tensor, sizes: list[int], unions: tuple[tuple[int, ...], ...]) -> Tensor:
    """The best value within each union of groups: (worlds, unions)."""
    zero = values.new_zeros(len(values))
    best = [part.amax(dim=1) if part.shape[1] else zero for part in values.split(sizes, dim=1)]
    return torch.stack([torch.stack([best[group] for group in union]).amax(dim=0) for union in unions], dim=1)
