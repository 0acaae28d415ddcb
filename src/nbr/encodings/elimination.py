"""Thin graphs of rules: the best point of a world by eliminating one variable after the other.

max over z of min over rules is taken variable by variable: the tables that read a variable are joined by their minimum,
and their maximum over it is a table of the others. As long as no joined table is large this is exact, for many worlds
at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus import (
    FIRST_ROUND,
    MISS_PROBABILITY,
    MOST_WORLDS,
    Estimate,
    Sampled,
    detached,
    draw_worlds,
    world_probabilities,
)
from nbr.encodings.source import Set
from nbr.language import Expression, conjuncts
from nbr.model import Model
from nbr.points import world_cells
from nbr.rules import Rule
from nbr.ways import Limits
from nbr.world import World

WIDEST = 1 << 12  # entries of a joined table
HELD = 1 << 22  # numbers of joined tables at a time
EVERY = 12  # rules up to which all worlds are gone through


@dataclass(frozen=True)
class Factor:
    """Grades for every combination of the values of some variables; the first axis is the world, or 1 for all."""

    names: tuple[str, ...]
    grades: Tensor


class Elimination:
    """The rules, the question and each part of the condition as tables."""

    def __init__(self, model: Model, proposition: Expression, condition: Expression | None) -> None:
        self.world, self.presence = model.world, detached(model.presence)
        self.rules = [_table(rule, self.world) for rule in model.rules]
        given = [] if condition is None else list(conjuncts(condition))
        self.fixed = [_table(part, self.world) for part in given]
        yes = _table(proposition, self.world)
        self.sides = (yes, Factor(yes.names, 1 - yes.grades))
        self.order = _order([each.names for each in (*self.rules, *self.fixed, yes)], self.world)[0]

    @staticmethod
    def unfit(model: Model, proposition: Set, condition: Set | None) -> str | None:
        """Why a question cannot be answered this way, in words for a user."""
        if model.codec is not None or not isinstance(proposition, Expression) or isinstance(condition, Rule):
            return "only statements can be asked of tables"
        given = [] if condition is None else list(conjuncts(condition))
        parts: list[Set] = [*model.rules, *given, proposition]
        scopes = [_names(part) for part in parts]
        if any(model.world.variables[name].numeric for scope in scopes for name in scope):
            return "a rule reads a number"
        if any(_size(scope, model.world) > WIDEST for scope in scopes):
            return f"a rule reads more than {WIDEST:,} combinations of values"
        if _order(scopes, model.world)[1] > WIDEST:
            return "too many rules share variables"
        return None

    def reach(self, present: Tensor) -> Tensor:
        """The best grade of points for and against the question in worlds (worlds, rules): (worlds, 2)."""
        rules = []
        for position, factor in enumerate(self.rules):
            there = present[:, position].view(-1, *[1] * len(factor.names))
            rules.append(Factor(factor.names, torch.where(there, factor.grades, 1.0)))
        found = [self._eliminated([*rules, *self.fixed, side]) for side in self.sides]
        return torch.stack([each.expand(len(present)) for each in found], dim=1)

    def _eliminated(self, factors: list[Factor]) -> Tensor:
        for name in self.order:
            joined = [factor for factor in factors if name in factor.names]
            if joined:
                rest = [factor for factor in factors if name not in factor.names]
                factors = [*rest, _without(name, joined)]
        best = torch.ones(1, dtype=torch.float64)
        for factor in factors:
            best = torch.minimum(best, factor.grades)
        return best

    def solve(self, limits: Limits) -> Estimate:
        """Expectations of points for the question, against it, and all: exact for few rules, else from drawn worlds."""
        batch = max(1, min(FIRST_ROUND, HELD // WIDEST))
        if len(self.rules) <= EVERY:
            return self._every(batch)
        generator = torch.Generator().manual_seed(limits.seed)
        total, product, count, rounds = torch.zeros(3).double(), torch.zeros(3, 3).double(), 0, 0
        while True:
            goal = FIRST_ROUND << rounds
            while count < goal and (not count or limits.left > 0):
                values = _unions(self.reach(draw_worlds(self.presence, batch, generator)))
                total, product, count = total + values.sum(dim=0), product + values.T @ values, count + len(values)
            rounds += 1
            estimate = Sampled().estimate(total, product, count, 1.0, MISS_PROBABILITY / (rounds * (rounds + 1)))
            if limits.left <= 0 or count >= MOST_WORLDS or estimate.width <= limits.tolerance:
                return estimate

    def _every(self, batch: int) -> Estimate:
        number, total = torch.arange(1 << len(self.rules)), torch.zeros(3, dtype=torch.float64)
        chance = world_probabilities(self.presence)
        for some in number.split(batch):
            present = (some[:, None] >> torch.arange(len(self.rules))) % 2 == 1
            total = total + chance[some] @ _unions(self.reach(present))
        return Estimate(total, total, "elimination")


def _unions(reached: Tensor) -> Tensor:
    return torch.cat([reached, reached.amax(dim=1, keepdim=True)], dim=1)


def _names(part: Rule | Expression) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.inputs)) if isinstance(part, Rule) else tuple(sorted(part.names()))


def _size(names: Iterable[str], world: World) -> int:
    return math.prod(world.variables[name].size or 1 for name in names)


def _table(part: Rule | Expression, world: World) -> Factor:
    names = _names(part)
    if not names:  # a statement such as "true"
        assert isinstance(part, Expression)
        return Factor((), part.holds(world, torch.zeros(1, len(world), dtype=torch.float64)).double())
    small = World({name: world.variables[name] for name in names})
    points = torch.cat([chunk for chunk, _ in world_cells(small, {}, (), 1).chunks()])
    grades = part.bind(small).grades(points) if isinstance(part, Rule) else part.holds(small, points).double()
    return Factor(names, grades.reshape(1, *[_size([name], world) for name in names]))


def _order(scopes: Sequence[tuple[str, ...]], world: World) -> tuple[list[str], int]:
    """Variables, always the one next whose joined table is smallest, and the size of the largest.

    It ends with the first table that is too large: then the order is of no use.
    """
    open_ = [frozenset(scope) for scope in scopes if scope]
    order: list[str] = []
    largest = 1
    joined: dict[str, frozenset[str]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    changed = frozenset().union(*open_)
    while changed or sizes:
        for each in changed:
            joined[each] = frozenset().union(*(scope for scope in open_ if each in scope))
            sizes[each] = _size(joined[each], world), world.column(each)
        name = min(sizes, key=lambda each: sizes[each])
        largest = max(largest, sizes.pop(name)[0])
        order.append(name)
        if largest > WIDEST:
            break
        changed = joined[name] - {name}
        open_ = [scope for scope in open_ if name not in scope] + ([changed] if changed else [])
    return order, largest


def _without(name: str, factors: Sequence[Factor]) -> Factor:
    """The tables joined by their minimum, and the maximum of that over a variable."""
    names = (name, *sorted({other for factor in factors for other in factor.names} - {name}))
    joined: Tensor | None = None
    for factor in factors:
        axes = sorted(range(len(factor.names)), key=lambda axis, own=factor.names: names.index(own[axis]))  # type: ignore[misc]
        placed = factor.grades.permute(0, *(axis + 1 for axis in axes))
        sizes = iter(placed.shape[1:])
        placed = placed.reshape(len(placed), *(next(sizes) if other in factor.names else 1 for other in names))
        joined = placed if joined is None else torch.minimum(joined, placed)
    assert joined is not None
    return Factor(names[1:], joined.amax(dim=1))
