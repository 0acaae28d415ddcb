"""Crisp rules along a line of variables, as the steps that `calculus.frontier` walks.

A variable takes a place in the frontier when it is first read, and leaves it after the last rule that reads it; the
place then serves another variable with as many values. What matters is how many points the frontier has at its widest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from nbr.calculus import Estimate, frontier
from nbr.language import Expression, compares_numbers, conjuncts
from nbr.model import Model
from nbr.points import world_cells
from nbr.ways import Limits
from nbr.world import World

WIDEST = 1 << 12  # points of the frontier


class Path:
    """The steps of a question: rules as tables over the values that statements tell apart, in a good order."""

    def __init__(self, steps: list[frontier.Step], points: int) -> None:
        self.steps, self.points = steps, points

    @classmethod
    def of(cls, model: Model, proposition: Expression, condition: Expression | None) -> Path | None:
        """None where rules are fuzzy, numbers are compared with each other, or the frontier would be too wide."""
        if model.codec is not None or any(rule.levels() != [1.0] for rule in model.rules):
            return None
        said = [(rule.at_least(1.0), rule.degree) for rule in model.rules]
        rules = [(statement, belief) for statement, belief in said if statement is not None and belief > 0]
        rules += [(part, 1.0) for part in (() if condition is None else conjuncts(condition))]
        statements = [proposition, *(statement for statement, _ in rules)]
        if len(rules) < len([belief for _, belief in said if belief > 0]) or compares_numbers(statements):
            return None
        values = _values(model.world, statements)
        scopes = [[name for name in values if name in statement.names()] for statement in statements]
        order = _order(list(values), scopes, {name: len(each) for name, each in values.items()})
        places = _Places(order, scopes, values)
        if places.points > WIDEST:
            return None
        tables = [
            _holds(statement, scope, model.world, values) for statement, scope in zip(statements, scopes, strict=True)
        ]
        return cls(_steps(order, scopes, tables, [belief for _, belief in rules], places), places.points)

    def exact(self, limits: Limits) -> Estimate | None:
        return frontier.exact(self.steps, self.points, limits)

    def bounded(self, limits: Limits) -> Estimate:
        return frontier.bounded(self.steps, self.points, limits)


def _values(world: World, statements: Sequence[Expression]) -> dict[str, torch.Tensor]:
    """For each variable that is read, one value of each class that statements can tell apart."""
    cuts: dict[str, set[float]] = {}
    for statement in statements:
        for name, numbers in statement.cuts(world).items():
            cuts.setdefault(name, set()).update(numbers)
    read = set().union(*(statement.names() for statement in statements))
    return {
        name: each
        for name, each in zip(world.names, world_cells(world, cuts, (), 1).centres, strict=True)
        if name in read
    }


def _order(names: list[str], scopes: Sequence[Sequence[str]], sizes: dict[str, int]) -> list[str]:
    """The order of the world, or that of reverse Cuthill and McKee, whichever has the narrower frontier."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    number = {name: place for place, name in enumerate(names)}
    pairs = sorted({(number[a], number[b]) for scope in scopes for a in scope for b in scope})
    rows, columns = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(names), len(names)))
    banded = [names[place] for place in reverse_cuthill_mckee(graph, symmetric_mode=True)]
    return min((names, banded), key=lambda order: _cost(order, scopes, sizes))


def _spans(order: Sequence[str], scopes: Sequence[Sequence[str]]) -> dict[str, tuple[int, int]]:
    """For each variable the first and the last place in the order at which it is in the frontier."""
    place = {name: at for at, name in enumerate(order)}
    last = dict(place)
    for scope in scopes:
        end = max((place[name] for name in scope), default=0)
        for name in scope:
            last[name] = max(last[name], end)
    return {name: (place[name], last[name]) for name in order}


def _cost(order: Sequence[str], scopes: Sequence[Sequence[str]], sizes: dict[str, int]) -> float:
    change = np.zeros(len(order) + 1)
    for name, (start, end) in _spans(order, scopes).items():
        change[start] += math.log2(sizes[name])
        change[end + 1] -= math.log2(sizes[name])
    return float(np.exp2(np.minimum(change.cumsum(), 1000.0)).sum())


class _Places:
    """A place in the frontier for each variable: its stride; variables that never meet may share one."""

    def __init__(self, order: Sequence[str], scopes: Sequence[Sequence[str]], values: dict[str, torch.Tensor]) -> None:
        self.spans = _spans(order, scopes)
        taken: list[tuple[int, int]] = []  # of each place: its size, and the last variable's end
        chosen: dict[str, int] = {}
        for name in order:
            start, end = self.spans[name]
            size = len(values[name])
            free = [at for at, (have, until) in enumerate(taken) if have == size and until < start]
            at = free[0] if free else len(taken)
            taken[at : at + 1] = [(size, end)]
            chosen[name] = at
        sizes = [size for size, _ in taken]
        strides = [math.prod(sizes[:at]) for at in range(len(sizes))]
        self.points = math.prod(sizes)
        self.stride = {name: strides[at] for name, at in chosen.items()}
        self.size = {name: sizes[at] for name, at in chosen.items()}

    def mask(self, names: Sequence[str], holds: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """The points of the frontier at which a table over some variables holds."""
        number = np.zeros(self.points, dtype=np.int64)
        for name in names:
            number = number * self.size[name] + np.arange(self.points) // self.stride[name] % self.size[name]
        bits = np.zeros(-(-self.points // 64) * 64, dtype=np.uint8)
        bits[: self.points] = holds[number]
        return np.packbits(bits, bitorder="little").view(np.uint64)


def _holds(
    statement: Expression, scope: Sequence[str], world: World, values: dict[str, torch.Tensor]
) -> NDArray[np.bool_]:
    """Where a statement holds, for every combination of the values of its variables, the last one fastest."""
    points = torch.zeros(math.prod(len(values[name]) for name in scope), len(world), dtype=torch.float64)
    if scope:
        grid = torch.cartesian_prod(*(values[name] for name in scope)).reshape(len(points), len(scope))
        points[:, [world.column(name) for name in scope]] = grid
    found: NDArray[np.bool_] = statement.holds(world, points).numpy()
    return found


def _steps(
    order: Sequence[str],
    scopes: Sequence[Sequence[str]],
    tables: Sequence[NDArray[np.bool_]],
    beliefs: Sequence[float],
    places: _Places,
) -> list[frontier.Step]:
    """Each statement when the last of its variables has come, then the variables that nobody needs any longer."""
    place = {name: at for at, name in enumerate(order)}
    found: list[list[frontier.Step]] = [[] for _ in order]
    for number, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
        mask = places.mask(scope, table)
        at = max((place[name] for name in scope), default=0)
        found[at].append(frontier.RuleStep(mask, beliefs[number - 1]) if number else frontier.FrontierSplit(mask))
    for name, (_, end) in places.spans.items():
        found[end].append(frontier.Drop(places.stride[name], places.size[name]))
    return [step for steps in found for step in steps]
