"""A few points, any number of rules."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.calculus.point import keep_probability
from nbr.calculus.problem import Estimate, ExactEngine, Problem
from nbr.calculus.selectors import Presence
from nbr.ways import Cost, Limits

MOST = 16  # points: 2^16 subsets, and the alternating sum still has ten digits
TRUSTED = 1e-10  # relative error up to which the sum counts as exact
CHUNK = 1 << 22  # numbers held at a time


class Few(ExactEngine):
    """Inclusion-exclusion over subsets T of the points, exact for any number of rules.

    max over z = sum over T of (-1)^(|T|+1) min over T, and the minimum of mu_y over points is mu_y
    of the componentwise minimum of their grades, whose expectation is the one-point formula:
    O(2^N K log K). Grades are (..., points, rules), beliefs (rules,) or (..., rules).
    """

    name, shared = "few", True

    def unfit(self, problem: Problem) -> str | None:
        most = max(problem.size(union) for union in problem.unions)
        return None if most <= MOST else f"it takes up to {MOST} points, and this question has {most}"

    def cost(self, problem: Problem) -> Cost:
        subsets = sum(1 << problem.size(union) for union in problem.unions)
        return Cost(3e-8 * subsets * (problem.rules + 1), sure=True)

    def solve(self, problem: Problem, limits: Limits) -> Estimate:
        """The alternating sum, with bounds where cancellation has eaten its digits."""
        estimate = super().solve(problem, limits)
        terms = max(1 << problem.size(union) for union in problem.unions)
        slack = terms * torch.finfo(estimate.low.dtype).eps
        if slack <= TRUSTED * float(estimate.low.detach().max()):
            return estimate
        return Estimate((estimate.low - slack).clamp(min=0), (estimate.high + slack).clamp(max=1), self.name)

    def expectation(self, grades: Tensor, beliefs: Presence) -> Tensor:
        *batch, points, _ = grades.shape
        if isinstance(beliefs, Tensor) and beliefs.dim() > 1:
            beliefs = beliefs[..., None, :]
        # Fix the first points outside the vectorised part when all subsets at once would not fit.
        inner = points
        while inner and grades[..., 0, :].numel() << inner > CHUNK:
            inner -= 1
        lowest, sign = minima(grades[..., points - inner :, :]), subset_signs(inner, grades)
        total = grades.new_zeros(batch)
        for subset in range(1 << (points - inner)):
            chosen = [point for point in range(points - inner) if subset >> point & 1]
            cap = grades[..., chosen, :].amin(dim=-2, keepdim=True) if chosen else None
            terms = keep_probability(lowest if cap is None else torch.minimum(lowest, cap), beliefs)
            total = total + (-1) ** len(chosen) * (terms * sign).sum(dim=-1)
        # The empty subset stands for 1: E max = 1 - the sum over all subsets with sign (-1)^|T|.
        return 1 - total


def minima(grades: Tensor) -> Tensor:
    """The smallest grade of each subset of the points in each rule: (..., 2^points, rules), a subset as a bit mask."""
    *batch, points, rules = grades.shape
    lowest = grades.new_ones((*batch, 1, rules))
    for point in range(points):
        lowest = torch.cat([lowest, torch.minimum(lowest, grades[..., point, None, :])], dim=-2)
    return lowest


def subset_signs(points: int, like: Tensor) -> Tensor:
    """(-1)^|T| for every subset T of the points."""
    sign = like.new_ones(1)
    for _ in range(points):
        sign = torch.cat([sign, -sign])
    return sign
