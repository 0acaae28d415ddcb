"""Shares of time and of error: by a clock that stands still, or goes on when somebody looks at it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nbr import clock
from nbr.calculus import Problem
from nbr.calculus.problem import Estimate
from nbr.calculus.sampled import Sampled
from nbr.ways import Limits


def test_a_share_is_a_part_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: 100.0)
    limits = Limits.within(10.0, tolerance=0.25, seed=7)
    assert (limits.deadline, limits.left) == (110.0, 10.0)
    assert limits.share(0.3) == Limits(103.0, 0.25, 7)
    monkeypatch.setattr(clock, "now", lambda: 106.0)
    assert limits.share(0.5).deadline == 108.0
    monkeypatch.setattr(clock, "now", lambda: 120.0)
    assert limits.left == -10.0
    assert limits.share(0.5).deadline == 120.0  # of nothing, nothing


def test_all_looks_at_drawn_worlds_together_miss_5_times_in_100() -> None:
    """Each round may be the last: its share of the error allows for having looked at the earlier ones."""
    shares = []

    class Watched(Sampled):
        def estimate(self, total: Tensor, product: Tensor, count: int, scale: float, miss: float) -> Estimate:
            shares.append(miss)
            return super().estimate(total, product, count, scale, miss)

    grades = torch.tensor([[0.2, 0.9], [0.7, 0.4]], dtype=torch.float64)
    problem = Problem((grades[:1], grades[1:]), ((0,), (1,), (0, 1)), torch.tensor([0.5, 0.6], dtype=torch.float64))
    Watched().solve(problem, Limits(tolerance=0.02))
    assert len(shares) > 3
    assert all(share > 0 for share in shares)
    assert sum(shares) <= 0.05
