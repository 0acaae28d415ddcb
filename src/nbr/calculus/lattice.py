"""All worlds at once, for up to about 22 rules."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.calculus.problem import Engine, Estimate, Problem
from nbr.calculus.selectors import Presence, Selectors
from nbr.ways import Cost, Limits

MOST = 22  # rules: an array of 4 million numbers


def best_grades(grades: Tensor) -> Tensor:
    """max over points of mu_y for every world y, shape (2^K,); bit i of the index is rule i.

    A point reaches its k-th largest grade in the world of its k best rules, and at least that in
    every smaller world; so one maximum over supersets of these N K entries gives all worlds:
    O(N K + K 2^K) instead of O(N 2^K).
    """
    points, rules = grades.shape
    worlds = grades.new_zeros(1 << rules)
    if not points:
        return worlds
    ordered, order = grades.sort(dim=1, descending=True)
    world = torch.cumsum(torch.ones_like(order) << order, dim=1)
    worlds = worlds.scatter_reduce(0, world.flatten(), ordered.flatten(), "amax")
    worlds = torch.cat([worlds.new_ones(1), worlds[1:]])
    return _supersets_differentiable(worlds, rules) if worlds.requires_grad else _supersets(worlds, rules)


def _supersets(worlds: Tensor, rules: int) -> Tensor:
    for bit in range(rules):
        halves = worlds.view(-1, 2, 1 << bit)
        torch.maximum(halves[:, 0], halves[:, 1], out=halves[:, 0])
    return worlds


def _supersets_differentiable(worlds: Tensor, rules: int) -> Tensor:
    for bit in range(rules):
        without, present = worlds.view(-1, 2, 1 << bit).unbind(dim=1)
        worlds = torch.stack([torch.maximum(without, present), present], dim=1).flatten()
    return worlds


def world_average(worlds: Tensor, beliefs: Presence) -> Tensor:
    """The expectation of an array over worlds, folding one rule at a time where each is there for itself."""
    if isinstance(beliefs, Selectors):
        return worlds @ beliefs.worlds()
    for belief in beliefs.flip(0):
        without, present = worlds.view(2, -1)
        worlds = torch.lerp(without, present, belief)
    return worlds[0]


class Lattice(Engine):
    """Exact for any number of points; groups are swept once, and a union is their maximum."""

    name, shared = "lattice", True

    def unfit(self, problem: Problem) -> str | None:
        return None if problem.rules <= MOST else f"it takes up to {MOST} rules, and this question has {problem.rules}"

    def cost(self, problem: Problem) -> Cost:
        sweep = 1e-9 * (1 << problem.rules) * (problem.rules * len(problem.groups) + 3)
        return Cost(sweep + 1e-7 * sum(map(len, problem.groups)) * problem.rules, sure=True)

    def solve(self, problem: Problem, limits: Limits) -> Estimate:
        worlds = [best_grades(group) for group in problem.groups]
        values = []
        for first, *others in problem.unions:
            joint = worlds[first]
            for group in others:
                joint = torch.maximum(joint, worlds[group])
            values.append(world_average(joint, problem.beliefs))
        value = torch.stack(values)
        return Estimate(value, value, self.name)
