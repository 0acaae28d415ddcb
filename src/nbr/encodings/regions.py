"""Variables that comparisons such as `income >= 3*rent` tie together: a point for each way that statements turn out.

Statements about a single number cut it into pieces. A comparison between numbers cuts their space into regions, and
asks for all of them at once: an SMT solver (z3) finds a point of each, until it proves that there are no more.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from nbr import clock
from nbr.errors import install
from nbr.language import Atom, Expression, Linear, linears, modulos
from nbr.points import world_cells
from nbr.world import World

SOLVER = f"comparisons between numbers need z3-solver to be exact: {install('solve')}"
MANY = "comparisons between numbers divide them into too many regions"
MOST = 4096  # regions
SECONDS = 3.0  # for finding them, at most
KEPT = 256  # groups whose regions are known
LISTED = 1 << 14  # combinations of values that are listed without a solver
DRAWN = 1 << 13  # points that are tried where no solver is there


_KNOWN: dict[tuple[World, tuple[Expression, ...]], tuple[float, Regions]] = {}  # with the seconds that it was given


@dataclass(frozen=True)
class Regions:
    """Some variables, and a point of each region that was found: (regions, variables)."""

    world: World  # of these variables alone
    points: Tensor
    complete: bool

    def truth(self, statement: Expression) -> Tensor:
        """Whether a statement about these variables holds in each region."""
        return statement.holds(self.world, self.points)


@cache
def available() -> bool:
    """Whether the solver is installed."""
    return importlib.util.find_spec("z3") is not None


def tied(
    world: World, statements: Iterable[Expression], whole: Iterable[str] = (), seconds: float | None = None
) -> list[Regions]:
    """The variables that comparisons tie together, each group with its regions; `whole` names need every value.

    What was found before is not looked for again, unless it was not all and there are more seconds now.
    """
    listed = list(statements)
    told_apart = {*whole, *(name for each in listed for one in modulos(each) for name in one.names())}
    groups: list[set[str]] = []
    compared: set[Linear] = set()
    for statement in listed:
        clock.check()
        compared.update(linears(statement))
    for each in compared:
        names = set(each.names())
        joined = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names] + [names.union(*joined)]
    found = []
    for group in groups:
        small = World({name: world.variables[name] for name in world.names if name in group})
        told = {part for statement in listed for part in _within(statement, group)}
        for name, variable in small.variables.items():
            if name in told_apart and variable.size is not None:
                low, step = (variable.low, variable.step) if variable.numeric else (0.0, 1.0)
                codes = [low + step * place for place in range(variable.size)]
                told.update(Atom(name, "=", (variable.show(code),)) for code in codes)
        found.append(_known(small, tuple(sorted(told, key=str)), seconds))
    return found


def _known(world: World, statements: tuple[Expression, ...], seconds: float | None) -> Regions:
    key = world, statements
    if key in _KNOWN:
        tried, regions = _KNOWN[key]
        if regions.complete or seconds is None or seconds <= 2 * tried:
            return regions
    if len(_KNOWN) >= KEPT:
        _KNOWN.clear()
    allowed = SECONDS if seconds is None else min(seconds, SECONDS)
    _KNOWN[key] = allowed, _regions(world, statements, allowed)
    return _KNOWN[key][1]


def _within(statement: Expression, names: set[str]) -> Iterator[Expression]:
    """The largest parts of a statement that speak of some variables alone: more need not be told apart."""
    if statement.names() and statement.names() <= names:
        yield statement
    elif statement.names() & names:
        for part in statement.parts:
            yield from _within(part, names)


def regions_missing(groups: Iterable[Regions]) -> str | None:
    """Why regions were not all found, in words for a user."""
    if all(group.complete for group in groups):
        return None
    return MANY if available() else SOLVER


def _regions(world: World, statements: tuple[Expression, ...], seconds: float) -> Regions:
    cuts: dict[str, set[float]] = {}
    for statement in statements:
        for name, numbers in statement.cuts(world).items():
            cuts.setdefault(name, set()).update(numbers)
    steps = {name for name, v in world.variables.items() if v.numeric and v.step}
    listed = world_cells(world, cuts, steps, LISTED)
    if not any(v.numeric and not v.step for v in world.variables.values()) and listed.count <= LISTED:
        points = torch.cat([chunk for chunk, _ in listed.chunks()])
        return Regions(world, _distinct(world, statements, points), not listed.boxes)
    if available() and _at_least(world, statements) <= MOST:
        return _solved(world, statements, seconds)
    listed = world_cells(world, cuts, world.names, 16)
    points, _ = next(listed.scattered(1 << 20 // DRAWN, torch.Generator().manual_seed(0)))
    return Regions(world, _distinct(world, statements, world.snap(points)), False)


def _at_least(world: World, statements: Iterable[Expression]) -> int:
    """How many regions there are at the least: statements about single variables turn out as they do elsewhere."""
    alone: dict[str, list[Expression]] = {}
    for statement in statements:
        if len(names := statement.names()) == 1:
            alone.setdefault(next(iter(names)), []).append(statement)
    found = 1
    for name, several in alone.items():
        small = World({name: world.variables[name]})
        cuts = {number for each in several for number in each.cuts(world).get(name, ())}
        points = torch.cat([chunk for chunk, _ in world_cells(small, {name: cuts}, (), 1).chunks()])
        found *= len(_distinct(small, several, points))
        if found > MOST:
            break
    return found


def _distinct(world: World, statements: Sequence[Expression], points: Tensor) -> Tensor:
    """One point for each way that the statements turn out."""
    truth = torch.stack([statement.holds(world, points) for statement in statements], dim=1)
    _, back = torch.unique(truth, dim=0, return_inverse=True)
    first = torch.full((int(back.max()) + 1,), len(points)).scatter_reduce(0, back, torch.arange(len(points)), "amin")
    return points[first]


def _solved(world: World, statements: tuple[Expression, ...], seconds: float) -> Regions:
    """Ask for a point that differs from all that are known in some statement, until there is none."""
    from nbr.encodings.smt import SmtOutcomes

    asked, until = SmtOutcomes(world, statements), clock.now() + seconds
    points: list[list[float]] = []
    right, found = True, asked.another(seconds)
    while not isinstance(found, bool) and len(points) < MOST:
        point, truth = found
        made = torch.tensor([point], dtype=torch.float64)
        if [bool(each.holds(world, made)[0]) for each in statements] == truth:
            points.append(point)
        else:  # thinner than numbers can tell
            right = False
        left = until - clock.now()
        found = asked.another(left) if left > 0 else True
    return Regions(world, torch.tensor(points, dtype=torch.float64).view(-1, len(world)), right and found is False)
