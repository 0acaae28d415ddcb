"""One point at a time, in closed form."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from nbr.calculus.problem import ExactEngine, Problem
from nbr.calculus.selectors import Presence, Selectors
from nbr.ways import Cost

CHUNK = 1 << 14  # grades sorted at a time: they stay in a fast cache, and torch in one thread


def keep_probability(grades: Tensor, beliefs: Presence) -> Tensor:
    """E_Y[mu_Y(z)] for points with grades of shape (..., rules): shape (...).

    Beliefs are (rules,), or (..., rules) where each point has its own; or selectors, where rules share some.

    By the layer-cake formula, with the rules sorted by grade, r_(0) = 0 and r_(K+1) = 1,

        E = sum over j = 0..K of (r_(j+1) - r_(j)) * product over i <= j of (1 - b_(i)):

    mu_Y(z) reaches t exactly when no rule with a grade below t is present. O(K log K).

    >>> keep_probability(torch.tensor([0.5, 0.2]), torch.tensor([0.5, 0.0]))
    tensor(0.7500)
    """
    if isinstance(beliefs, Selectors):
        return beliefs.keep(grades)
    *batch, rules = grades.shape
    if not rules:
        return grades.new_ones(batch)
    size = max(1, CHUNK // rules)
    rows = grades.reshape(-1, rules).split(size)
    if beliefs.dim() == 1:
        return torch.cat([_keep_rows(chunk, (1 - beliefs).expand(chunk.shape)) for chunk in rows]).reshape(batch)
    absent = (1 - beliefs).expand(grades.shape).reshape(-1, rules).split(size)
    return torch.cat([_keep_rows(*chunk) for chunk in zip(rows, absent, strict=True)]).reshape(batch)


def _keep_rows(grades: Tensor, absent: Tensor) -> Tensor:
    order = _ascending(grades)
    ordered, absent = grades.gather(1, order), absent.gather(1, order)
    steps = torch.diff(ordered, dim=1, append=torch.ones_like(ordered[:, :1]))
    return ordered[:, 0] + (steps * absent.cumprod(dim=1)).sum(dim=1)


def keep_probability_and_slopes(grades: Tensor, beliefs: Tensor) -> tuple[Tensor, Tensor]:
    """`keep_probability` of points with grades of shape (points, rules), and its slope by each belief, (points, rules).

    E is linear in each belief: what the layer cake has from rule i on carries a factor 1 - b_(i). No belief is 1.

    >>> keep_probability_and_slopes(torch.tensor([[0.5, 0.2]]), torch.tensor([0.5, 0.0]))
    (tensor([0.7500]), tensor([[-0.5000, -0.5500]]))
    """
    order = _ascending(grades)
    ordered, absent = grades.gather(1, order), (1 - beliefs).expand(grades.shape).gather(1, order)
    layers = torch.diff(ordered, dim=1, append=torch.ones_like(ordered[:, :1])) * absent.cumprod(dim=1)
    above = layers.flip(1).cumsum(1).flip(1)
    slopes = torch.zeros_like(grades).scatter(1, order, -above / absent)
    return ordered[:, 0] + layers.sum(dim=1), slopes


def _ascending(grades: Tensor) -> Tensor:
    """The order of each row by size; numpy sorts long rows about twice as fast as torch does."""
    if grades.device.type == "cpu":
        return torch.from_numpy(np.argsort(grades.detach().numpy(), axis=1))
    return grades.argsort(dim=1)


class SinglePoint(ExactEngine):
    """Exact for any number of rules, if every set is a single point."""

    name, shared = "point", True

    def unfit(self, problem: Problem) -> str | None:
        most = max(problem.size(union) for union in problem.unions)
        return None if most <= 1 else f"it takes one point, and this question has {most}"

    def cost(self, problem: Problem) -> Cost:
        return Cost(0.0, sure=True)

    def expectation(self, grades: Tensor, beliefs: Presence) -> Tensor:
        if grades.shape[-2] == 0:
            return grades.new_zeros(grades.shape[:-2])
        return keep_probability(grades[..., 0, :], beliefs)
