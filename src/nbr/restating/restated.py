"""A rule in words: from what it says of points to short statements, and the share of points on which both agree.

A fuzzy rule counts as true from grade 1/2 on, or, if all its grades lie on one side of that, from halfway between the
smallest and the largest. Where the grades on one side differ too much for that, it becomes several statements, one for
each of a few levels t: the points with a grade of at least t. These sets lie within each other. With beliefs b_k such
that 1 - b_k is what 1 - b + b R loses from one level to the one below, points that break some of the statements become
as much less plausible as they were, and so does the best of any set of points.

What a rule says is looked at on all values of its inputs where these are few; else on points that the caller draws, and
what the words are made of (cuts of numbers, the inputs that matter) is found from those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nbr.language import Constant, Expression, shortened
from nbr.points import numbered_points
from nbr.restating import trees
from nbr.restating.axes import Axis, axes_of
from nbr.restating.shapes import Truth, guesses
from nbr.rules import Rule
from nbr.world import World

MOST = 1 << 14  # points of a rule that are listed, and places of a table
DRAWN = 1 << 13  # points that are drawn where they cannot be listed
NOTICED = 2e-3  # of the points: an input that decides at fewer is left out of a table that would be too large
LONGEST = 200  # characters that may be spent on an exact statement
WORTH = 1e-3  # of balanced agreement that each character must bring in one that is not exact
HALF = 0.5
CRISP = 0.05  # what single points may be off where one statement does
LEVELS = 3  # statements at the most
WORDS_DO = 0.95  # agreement from which on a rule has words at all, and finer levels are looked at

Grades = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Restatement:
    """A statement for the points with a grade of at least `level`, and the share of points on which both agree."""

    statement: Expression
    text: str
    agreement: float
    belief: float
    level: float


@dataclass(frozen=True)
class Restated:
    """A rule as statements, mostly one.

    `off` is how far 1 - b + b R of any single point, in parts of its mean where all statements hold, is from what the
    statements make of it: it tells both what they get wrong and how fuzzy the rule is.
    """

    words: tuple[Restatement, ...]
    off: float
    points: int
    listed: bool = True  # whether the points are all there are

    @property
    def agreement(self) -> float:
        """The share of points on which each statement agrees with the rule, the smallest if there are several."""
        return min(each.agreement for each in self.words)

    @property
    def says(self) -> bool:
        """Whether the words say what the rule says: on nearly all points, and not by being true or false everywhere."""
        return self.agreement >= WORDS_DO and (bool(self.telling) or self.agreement == 1)

    @property
    def text(self) -> str:
        return "; ".join(each.text for each in self.words)

    @property
    def telling(self) -> list[Restatement]:
        """The statements that tell points apart: not those that are true everywhere or nowhere."""
        return [each for each in self.words if not isinstance(each.statement, Constant)]

    def __str__(self) -> str:
        share = "all" if self.agreement == 1 else f"{_percent(self.agreement)} of"
        count = "points" if self.listed else f"{self.points:,} points drawn"
        said = self.text
        if len(self.words) > 1:
            said = "; ".join(f"{each.text} ({each.belief:.2f})" for each in self.words)
        off = f", off by up to {self.off:.2f}" if self.off > CRISP else ""
        return f"{said}   agrees on {share} {count}{off}"

    def as_json(self) -> dict[str, object]:
        names = ("text", "agreement", "belief", "level")
        words = [{name: getattr(each, name) for name in names} for each in self.words]
        return {
            "agreement": self.agreement,
            "off": self.off,
            "points": self.points,
            "listed": self.listed,
            "words": words,
        }


def _percent(share: float) -> str:
    """A share that is not all, never rounded up to all."""
    return f"{math.floor(share * 1e4) / 100:g}%"


def restate(rule: Rule, world: World, grades: Grades, names: Sequence[str], drawn: Callable[[int], Tensor]) -> Restated:
    """The shortest good statement for a rule whose grades at points of a world depend on some variables.

    `drawn` gives points where they cannot be listed.
    """
    whole = numbered_points(World({name: world.variables[name] for name in names}), MOST)
    points = drawn(1 if whole is not None else DRAWN)
    if whole is not None:
        points = points.repeat(whole.count, 1)
        points[:, [world.column(name) for name in names]] = whole.points
    # Words are found from some points and held against others, unless there are no others.
    fresh = points if whole is not None else drawn(DRAWN)
    with torch.no_grad():
        values = grades(points).double()
        measured = values if whole is not None else grades(fresh).double()

    def shortest(level: float) -> Expression:
        truth: Truth = (values >= level).numpy()
        return _shortest(_candidates(world, grades, names, points, truth, level), world, points, truth)

    known: dict[float, Expression] = {}
    levels, best = [_level(values)], None
    while True:
        known |= {level: shortest(level) for level in levels if level not in known}
        found = _restated([(level, known[level]) for level in levels], measured, rule.degree, world, fresh)
        if best is not None and found.agreement < best.agreement:  # there are no words for finer levels
            break
        best, further = found, _further(values, levels, rule.degree)
        if best.off <= CRISP or further is None or len(levels) == LEVELS or best.agreement < WORDS_DO:
            break
        levels = sorted([*levels, further])
    return replace(best, listed=whole is not None)


def _restated(
    said: list[tuple[float, Expression]], grades: Tensor, belief: float, world: World, points: Tensor
) -> Restated:
    holds = torch.stack([statement.holds(world, points) for _, statement in said])
    beliefs, off = _carried(grades, holds, [level for level, _ in said], belief)
    words = [
        Restatement(statement, shortened(statement), float((held == (grades >= level)).double().mean()), carried, level)
        for (level, statement), held, carried in zip(said, holds, beliefs, strict=True)
    ]
    return Restated(tuple(words), off, len(points))


def _level(grades: Tensor) -> float:
    low, high = float(grades.min()), float(grades.max())
    return HALF if low < HALF <= high or high - low < 0.01 else (low + high) / 2


def _further(grades: Tensor, levels: list[float], belief: float) -> float | None:
    """Where to cut once more: within the two levels between which grades differ most, at a gap if there is one."""
    edges = [-math.inf, *levels, math.inf]
    groups = [grades[(grades >= low) & (grades < high)].sort().values for low, high in pairwise(edges)]
    widest = max((group for group in groups if len(group)), key=lambda group: float(group[-1] - group[0]))
    spread = float(widest[-1] - widest[0])
    if belief * spread <= CRISP / 2:
        return None
    gaps = widest.diff()
    place = int(gaps.argmax())
    if float(gaps[place]) > spread / 4:
        return float(widest[place] + widest[place + 1]) / 2
    return float(widest[0] + widest[-1]) / 2


def _carried(grades: Tensor, holds: Tensor, levels: list[float], belief: float) -> tuple[list[float], float]:
    """Beliefs of the statements, 1 - b_k = mean keep below level k / mean keep from it on, and how far that is off."""
    keep = 1 - belief + belief * grades
    edges = [-math.inf, *levels, math.inf]
    groups = [keep[(grades >= low) & (grades < high)] for low, high in pairwise(edges)]
    means = [float(group.mean()) if len(group) else None for group in groups]
    beliefs = []
    for below, above in pairwise(means):
        known = below is not None and above is not None and above > 0
        beliefs.append(min(1.0, max(0.0, 1 - below / above)) if known else 0.0)  # type: ignore[operator]
    became = keep.new_ones(len(keep))
    for held, carried in zip(holds, beliefs, strict=True):
        became = became * torch.where(held, keep.new_tensor(1.0), 1 - carried)
    top = next((mean for mean in reversed(means) if mean), 1.0)
    return beliefs, float((keep / top - became).abs().max())


def _candidates(
    world: World, grades: Grades, names: Sequence[str], points: Tensor, truth: Truth, level: float
) -> list[Expression]:
    columns = [world.column(name) for name in names]
    found: list[Expression] = [Constant(bool(truth.mean() >= 0.5))]
    cuts = trees.cuts(names, [world.variables[name] for name in names], points[:, columns], truth)
    axes = axes_of(world, names, cuts)
    table_axes = _mattering(world, grades, axes, points, truth, level)
    if table_axes and math.prod(axis.size for axis in table_axes) <= MOST:
        table = _table(world, grades, table_axes, points[0], level)
        found += [guess.statement for guess in guesses(table, table_axes)[:20]]
    if any(bool((said.holds(world, points).numpy() == truth).all()) for said in found):
        return found
    places = np.stack([axis.places(points[:, world.column(axis.name)]) for axis in axes], axis=1)
    return found + trees.statements(axes, places, truth)


def _mattering(
    world: World, grades: Grades, axes: list[Axis], points: Tensor, truth: Truth, level: float
) -> list[Axis]:
    """The axes of a table; where they make too large a one, those whose values, when shuffled, change the truth."""
    axes = [axis for axis in axes if axis.size > 1]
    if math.prod(axis.size for axis in axes) <= MOST:
        return axes
    mixed = torch.randperm(len(points), generator=torch.Generator().manual_seed(0))
    kept = []
    for axis in axes:
        column = world.column(axis.name)
        other = points.clone()
        other[:, column] = points[mixed, column]
        with torch.no_grad():
            changed = (grades(other) >= level).numpy() != truth
        if changed.mean() > NOTICED:
            kept.append(axis)
    return kept


def _table(world: World, grades: Grades, axes: Sequence[Axis], point: Tensor, level: float) -> Truth:
    """What the rule says at every place: other inputs have the values of one point."""
    places = torch.cartesian_prod(*(axis.values() for axis in axes)).reshape(-1, len(axes))
    points = point.repeat(len(places), 1)
    points[:, [world.column(axis.name) for axis in axes]] = places
    with torch.no_grad():
        found: NDArray[np.bool_] = (grades(points) >= level).numpy()
    return found.reshape([axis.size for axis in axes])


def _shortest(candidates: Sequence[Expression], world: World, points: Tensor, truth: Truth) -> Expression:
    """The shortest exact statement, if one is short; else the best, where every character must bring something.

    Agreement is balanced there: with a rule that is rarely true, "false" agrees nearly everywhere and is worth
    nothing.
    """
    exact, priced = [], []
    for said in candidates:
        holds = said.holds(world, points).numpy()
        size = len(shortened(said))
        wrong = [float((holds != truth)[side].mean()) for side in (truth, ~truth) if side.any()]
        if not any(wrong) and size <= LONGEST:
            exact.append((size, said))
        priced.append((sum(wrong) / 2 + WORTH * size, said))
    return min(exact or priced, key=lambda pair: pair[0])[1]
