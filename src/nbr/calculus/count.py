"""Many rules and many points, counted exactly while time lasts, bounded when it does not.

Ranking all (point, rule) grades and raising the level past them one at a time, the maximum is settled at the
grade of exactly one pair (z, i): z was the last point standing and rule i is what kills it. So

    E = sum over pairs of grade * P(killers of z so far absent, i present, every other point dead)

plus 1 * P(some point has no present rule graded below 1). Conditioning on z and i takes out z's killers and i's
victims, which leaves a far smaller problem than P(some point alive at a level) itself, and the events are
disjoint, so their probabilities add up to one. They are also the derivatives of E by the grades.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nbr.calculus.point import keep_probability
from nbr.calculus.problem import Engine, Estimate, Interval, Problem
from nbr.calculus.standing import Floats, all_killed
from nbr.clock import OutOfTime
from nbr.ways import Limits

FIRST_BEAM, LAST_BEAM, BEAM_GROWTH = 256, 1 << 17, 8
STATES_AT_ONCE = 1 << 17
PIECES_AT_ONCE = 128
MOST_PIECES = 50_000
SLACK = 4  # a piece may hold this many beams of states before it is cut back to one
ROUNDING = 1e-13


class CountBounds(Engine):
    """Proved bounds at any time; exact when it may finish, and then differentiable."""

    name = "count"

    def unfit(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, limits: Limits) -> Estimate:
        if any(part.requires_grad for part in (*problem.groups, problem.alone)):
            sets = [problem.points(union) for union in problem.unions]
            value = torch.stack([_Expectation.apply(grades, problem.alone) for grades in sets])  # type: ignore[no-untyped-call]
            return Estimate(value, value, self.name)
        alone: dict[int, Interval] = {}  # of groups that large unions share
        ends = []
        for done, union in enumerate(problem.unions):
            if problem.size(union) * problem.rules > MOST_PIECES:
                for group in union:
                    if group not in alone:
                        alone[group] = one_by_one(problem.groups[group], problem.alone)
                ends.append(
                    (max(alone[group][0] for group in union), min(1.0, sum(alone[group][1] for group in union)))
                )
                continue
            # A ratio of two expectations is as wide as both together.
            share = limits.share(1 / (len(problem.unions) - done))
            grades = problem.points(union).numpy()
            ends.append(bounds(grades, problem.alone.numpy(), share.deadline, limits.tolerance / 2))
        low, high = torch.tensor(ends, dtype=torch.float64).unbind(dim=1)
        return Estimate(low, high, self.name)


def bounds(grades: Floats, beliefs: Floats, deadline: float, tolerance: float) -> tuple[float, float]:
    """Low and high with low <= E <= high; stops early once high - low <= tolerance * high."""
    if not len(grades) or not len(beliefs):
        return float(len(grades) > 0), float(len(grades) > 0)
    if grades.size > MOST_PIECES:
        least, most = one_by_one(torch.from_numpy(grades), torch.from_numpy(beliefs))
        return least, min(1.0, most)
    pieces = DisjointEvents(grades, beliefs)
    low, high = pieces.expectation()
    try:
        while high - low > max(tolerance, ROUNDING) * high and pieces.refine(deadline):
            low, high = pieces.expectation()
    except OutOfTime:
        pass
    if high - low <= 10 * ROUNDING * high:
        low = high = (low + high) / 2
    return low, high


def one_by_one(grades: Tensor, beliefs: Tensor) -> Interval:
    """For points that are too many to set up: the best single one is a lower bound, their sum an upper one."""
    each = keep_probability(grades, beliefs)
    return (float(each.max()), float(each.sum())) if len(each) else (0.0, 0.0)


class _Expectation(torch.autograd.Function):
    """The exact expectation, however long it takes, with its derivatives."""

    @staticmethod
    def forward(ctx: Any, grades: Tensor, beliefs: Tensor) -> Tensor:
        ctx.save_for_backward(grades, beliefs)
        return grades.new_tensor(_exact(grades, beliefs))

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, Tensor]:
        grades, beliefs = ctx.saved_tensors
        by_grade, by_belief = torch.zeros_like(grades), torch.zeros_like(beliefs)
        if grades.numel():
            pieces = DisjointEvents(grades.numpy(), beliefs.numpy())
            while pieces.refine(float("inf")):
                pass
            mortal = pieces.rule >= 0
            settled = torch.from_numpy((pieces.low + pieces.high)[mortal] / 2)
            by_grade[pieces.point[mortal], pieces.rule[mortal]] = settled
            for rule in range(len(beliefs)):  # E is linear in each belief
                ends = beliefs.repeat(2, 1)
                ends[0, rule], ends[1, rule] = 0, 1
                by_belief[rule] = _exact(grades, ends[1]) - _exact(grades, ends[0])
        return slope * by_grade, slope * by_belief


def _exact(grades: Tensor, beliefs: Tensor) -> float:
    low, high = bounds(grades.detach().numpy(), beliefs.detach().numpy(), float("inf"), 0.0)
    return (low + high) / 2


class DisjointEvents:
    """The disjoint events "z is the last standing and i kills it" (i = -1: z is never killed)."""

    def __init__(self, table: Floats, chance: Floats) -> None:
        points, rules = table.shape
        self.chance = chance
        order = np.argsort(table, axis=None, kind="stable")
        self.rank = np.empty(points * rules, np.int64)
        self.rank[order] = np.arange(points * rules)
        self.rank = self.rank.reshape(points, rules)
        mortal = int((table < 1).sum())
        order = order[:mortal]

        by_grade = np.argsort(table, axis=1, kind="stable")
        survive = np.cumprod(1 - chance[by_grade], axis=1)
        before = np.empty_like(table)
        np.put_along_axis(before, by_grade, np.hstack([np.ones((points, 1)), survive[:, :-1]]), axis=1)
        immortal = np.where(table < 1, 1 - chance, 1.0).prod(1)

        # "z is never killed" is made disjoint as "... and all before z are"; likelier survivors come first.
        self.place = np.argsort(np.argsort(-immortal, kind="stable"))
        self.value = np.concatenate([table.ravel()[order], np.ones(points)])
        self.level = np.concatenate([np.arange(mortal), np.full(points, mortal)])
        self.point = np.concatenate([order // rules, np.arange(points)])
        self.rule = np.concatenate([order % rules, np.full(points, -1)])
        self.weight = np.concatenate([(before * chance).ravel()[order], immortal])
        # While some point has not met its first killer, no other can be the last one standing.
        started = self.rank.min(1).max()
        idle = (self.level < started) & (self.point != self.rank.min(1).argmax())
        self.low = np.zeros(len(self.value))
        self.high = np.where(idle, 0.0, self.weight)
        self.beam = np.zeros(len(self.value), np.int64)

    def expectation(self) -> tuple[float, float]:
        """Extremes of sum(value * p) over low <= p <= high with sum(p) = 1; values ascend."""
        room = np.maximum(self.high - self.low, 0)
        spare = max(0.0, 1.0 - float(self.low.sum()))
        base = float(self.value @ self.low)
        least = np.clip(spare - (np.cumsum(room) - room), 0, room)
        most = np.clip(spare - (np.cumsum(room[::-1]) - room[::-1]), 0, room[::-1])
        return base + float(self.value @ least), min(1.0, base + float(self.value[::-1] @ most))

    def refine(self, deadline: float) -> bool:
        """Count again, with more states, the pieces that promise most for the effort; False if none is left."""
        room = self.high - self.low
        # Grade 0 adds nothing, and what the other pieces leave over is its share.
        useful = (self.value > 0) & (self.beam <= LAST_BEAM) & (room > ROUNDING * self.high)
        promise = np.where(useful, room / (self.beam + FIRST_BEAM / 4), 0.0)
        beam = int(self.beam[promise.argmax()])
        at_once = max(1, min(PIECES_AT_ONCE, STATES_AT_ONCE // (SLACK * beam + 1)))
        promise[self.beam != beam] = 0.0
        chosen = np.argsort(-promise, kind="stable")[:at_once]
        chosen = chosen[promise[chosen] > 0]
        if len(chosen) == 0:
            return False
        level, point, rule = self.level[chosen], self.point[chosen], self.rule[chosen]
        each = np.arange(len(chosen))
        killers = self.rank < level[:, None, None]
        absent = killers[each, point]
        rivals = np.where(rule[:, None] >= 0, ~killers[each, :, rule], self.place < self.place[point][:, None])
        rivals[each, point] = False
        left = killers & ~absent[:, None, :] & rivals[:, :, None]
        low, high = all_killed(left, rivals, self.chance, beam=beam, most=SLACK * beam, deadline=deadline)
        weight = self.weight[chosen]
        self.low[chosen] = np.maximum(self.low[chosen], weight * low)
        self.high[chosen] = np.minimum(self.high[chosen], weight * high)
        self.beam[chosen] = max(FIRST_BEAM, beam * BEAM_GROWTH)
        return True
