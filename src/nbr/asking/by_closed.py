"""Closed variables in small worlds: the least model of every world over every value of the open variables."""

from __future__ import annotations

import torch
from torch import Tensor

from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome, of_formula
from nbr.calculus import Estimate, detached, world_probabilities
from nbr.density import least_model, reached_grade
from nbr.errors import NbrError
from nbr.language import Expression
from nbr.model import Model
from nbr.ways import Cost, Limits, Way

RULES = 14
CANNOT = "the condition cannot hold: no rules that may be there together make it so"
POINTS = 1 << 18  # of open variables, in all worlds together


class Least(Way[AskedPart, Outcome]):
    """Rule by rule from what is open, until nothing more becomes true; a fuzzy rule is no definition."""

    name = "least"

    def unfit(self, asked: AskedPart) -> str | None:
        model = asked.folded.model
        if model.codec is not None:
            return "rules speak of codes"
        if asked.grid is not None or not isinstance(asked.part.proposition, Expression):
            return "a grid was requested" if asked.grid is not None else "the question is fuzzy"
        if len(model.rules) > RULES or _size(model) << len(model.rules) > POINTS:
            return f"it takes up to {RULES} rules, and few open variables"
        return None

    def cost(self, asked: AskedPart) -> Cost:
        model = asked.folded.model
        return Cost(1e-7 * (_size(model) << len(model.rules)) * (len(model.rules) + 1), sure=True)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome:
        question, condition = asked.stated
        model, world = asked.folded.model, asked.folded.model.world
        chance, count = world_probabilities(detached(model.presence)), len(model.rules)
        points, present = _started(model)
        least_model(model, points, present)
        grades = reached_grade(model, points, present)
        if condition is not None:
            grades = torch.where(condition.holds(world, points), grades, 0.0)
        holds = question.holds(world, points)
        sides = [torch.where(side, grades, 0.0).view(1 << count, -1).amax(dim=1) for side in (holds, ~holds)]
        values = torch.stack([chance @ side for side in (*sides, torch.maximum(*sides))])
        if float(values[2]) == 0:
            raise NbrError(CANNOT)
        return of_formula(Estimate(values, values, self.name), why="worlds and open variables are few enough to list")


def _size(model: Model) -> int:
    """How many combinations open variables have; beyond all limits where one is a number."""
    size = 1
    for name, variable in model.world.variables.items():
        size *= 1 if name in model.closed else variable.size or POINTS + 1
    return size


def _started(model: Model) -> tuple[Tensor, Tensor]:
    """All points of open variables in each world, closed ones 0; and which rules are there."""
    names = [name for name in model.world.names if name not in model.closed]
    open_ = torch.zeros(1, 0, dtype=torch.float64)
    for name in names:
        variable = model.world.variables[name]
        codes = torch.arange(variable.size or 0, dtype=torch.float64)
        codes = variable.low + variable.step * codes if variable.numeric else codes
        open_ = torch.cat([open_.repeat_interleave(len(codes), dim=0), codes.repeat(len(open_))[:, None]], dim=1)
    count = len(model.rules)
    present = (torch.arange(1 << count)[:, None] >> torch.arange(count)) % 2 == 1
    points = torch.zeros(len(open_) << count, len(model.world), dtype=torch.float64)
    points[:, [model.world.column(name) for name in names]] = open_.repeat(1 << count, 1)
    return points, present.repeat_interleave(len(open_), dim=0)
