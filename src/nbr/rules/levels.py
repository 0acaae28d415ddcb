"""Statements with words of degree, level by level: where their grade reaches a level they are classical statements.

A word of a number reaches level t from one number to another, and these move along lines as t grows. What rules leave
possible can change only where such a line meets another one, or a number that some statement names, or an end of the
variable; words of labels, and of numbers with a step, have so many grades. Between two neighbours among these levels
all is as in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from typing import TYPE_CHECKING

import torch

from nbr.errors import NbrError
from nbr.language import Expression
from nbr.language import expressions as ex
from nbr.variables import GradeCurve, Variable, Word
from nbr.world import World

if TYPE_CHECKING:
    from nbr.rules.base import Rule

Line = tuple[float, float]  # at level t the number a + b t
TRUE, FALSE = ex.Constant(True), ex.Constant(False)
STEPS = 1 << 12  # values with a grade between 0 and 1, up to which each is a level
NEAR = 1e-9  # between levels that are one, and of a step


@dataclass(frozen=True)
class Turns:
    """Levels at which a statement changes, and numbers at which it does, which move as the level grows."""

    levels: frozenset[float]
    lines: Mapping[str, frozenset[Line]]


def reached(part: Expression, words: Mapping[str, Word], world: World, level: float, above: bool = False) -> Expression:
    """The points at which a statement has a grade of at least a level, or above it.

    >>> import nbr
    >>> warm = nbr.World(t=nbr.Real(0, 40), a=nbr.Bit()).with_words({"hot": {"t": [25, 30]}})
    >>> print(reached(nbr.parse("hot -> a"), warm.words, warm, 0.4))
    ~((t>28.0)) | a
    """
    if level < 0 or (level == 0 and not above):
        return TRUE
    if level > 1 or (level == 1 and above):
        return FALSE
    if not part.names() & words.keys():
        return part

    def same(each: Expression) -> Expression:
        return reached(each, words, world, level, above)

    def denied(each: Expression) -> Expression:
        return ex.Not(reached(each, words, world, 1 - level, not above))

    match part:
        case ex.Not():
            return denied(part.part)
        case ex.And():
            return ex.And(tuple(map(same, part.parts)))
        case ex.Or():
            return ex.Or(tuple(map(same, part.parts)))
        case ex.Implies():
            return ex.Or((denied(part.premise), same(part.conclusion)))
        case ex.Iff():
            return same(reduce(_alike, part.parts))
        case ex.Majority():
            return ex.Count(tuple(map(same, part.parts)), ">=", len(part.parts) // 2 + 1)
        case ex.Count():
            return _counted(part, same, denied)
        case ex.Atom():
            return ex.And(tuple(_within(curve, world, level, above) for curve in words[part.name].curves))
    raise NbrError(f"words with degrees cannot be used in {part}")


def _alike(one: Expression, other: Expression) -> Expression:
    return ex.And((ex.Or((ex.Not(one), other)), ex.Or((ex.Not(other), one))))


def _counted(
    part: ex.Count, same: Callable[[Expression], Expression], denied: Callable[[Expression], Expression]
) -> Expression:
    """A number is reached to the degree of the part in its place, the highest first."""
    number, whole = part.number, part.number.is_integer()
    least = math.ceil(number)  # the smallest count of at least the number
    beyond = least + 1 if whole else least
    if part.operator in ("=", "!=") and not whole:
        return TRUE if part.operator == "!=" else FALSE

    def reaching(least: int) -> Expression:
        return ex.Count(tuple(map(same, part.parts)), ">=", float(least))

    def short_of(least: int) -> Expression:  # what is denied of each part is that it exceeds 1 - level
        return ex.Count(tuple(map(denied, part.parts)), ">", float(len(part.parts) - least))

    match part.operator:
        case ">=":
            return reaching(least)
        case ">":
            return reaching(beyond)
        case "<":
            return short_of(least)
        case "<=":
            return short_of(beyond)
        case "=":
            return ex.And((reaching(least), short_of(least + 1)))
    return ex.Or((short_of(least), reaching(least + 1)))


def _within(curve: GradeCurve, world: World, level: float, above: bool) -> Expression:
    """Where a word of one variable reaches a level."""
    variable = world.variables[curve.name]

    def reaches(grade: float) -> bool:
        return grade > level if above else grade >= level

    if not curve.numeric:
        labels = zip(variable.labels, curve.grades, strict=True)
        return ex.Or(tuple(ex.Atom(curve.name, "=", (label,)) for label, grade in labels if reaches(grade)))
    ends = list(zip(curve.places, curve.grades, strict=True))
    parts = []
    for sign, corners in ((">", ends), ("<", ends[::-1])):
        if reaches(corners[0][1]):
            continue
        crossing = next((pair for pair in pairwise(corners) if reaches(pair[1][1])), None)
        if crossing is None:
            return FALSE
        (start, low), (end, high) = crossing
        place = start + (level - low) / (high - low) * (end - start)
        parts.append(_beyond(curve.name, variable, sign, place, above))
    return ex.And(tuple(parts))


def _beyond(name: str, variable: Variable, sign: str, place: float, strictly: bool) -> Expression:
    """A number on one side of a place, which need not be one of its values."""
    up, step = sign == ">", variable.step
    if step:
        count = place / step + (NEAR if strictly == up else -NEAR)
        if up:
            place = step * (math.floor(count) + 1 if strictly else math.ceil(count))
        else:
            place = step * (math.ceil(count) - 1 if strictly else math.floor(count))
    over = place - variable.high if up else variable.low - place
    if over > 0 or (over == 0 and strictly and not step):
        return FALSE
    if (place < variable.low) if up else (place > variable.high):
        return TRUE
    text = variable.show(place) if step else repr(place)
    return ex.Atom(name, sign if strictly and not step else f"{sign}=", (text,))


def turns(said: Expression, known: Mapping[str, Word], world: World) -> Turns | None:
    """Where a statement with words changes; None where that is at too many levels."""
    levels, lines = {1.0}, dict[str, set[Line]]()
    for curve in (curve for word in known.values() for curve in word.curves):
        variable = world.variables[curve.name]
        grades = list(curve.grades)
        if curve.numeric and not variable.step:
            for (start, low), (end, high) in pairwise(zip(curve.places, curve.grades, strict=True)):
                if low != high:
                    slope = (end - start) / (high - low)
                    moved = start - low * slope
                    lines.setdefault(curve.name, set()).update([(moved, slope), (moved + slope, -slope)])
            continue
        if curve.numeric:
            first, last = (round(place / variable.step) for place in (curve.places[0], curve.places[-1]))
            if last - first > STEPS:
                return None
            values = torch.arange(first - 1, last + 2, dtype=torch.float64) * variable.step
            grades = curve.at(values).tolist()
        levels.update(each for grade in grades for each in (grade, 1 - grade))
    for atom in said.atoms():
        if atom.name not in known and world.variables[atom.name].numeric:
            lines.setdefault(atom.name, set()).update((number, 0.0) for number in atom.codes(world))
    return Turns(frozenset(levels), {name: frozenset(own) for name, own in lines.items()})


def moves(rule: Rule) -> bool:
    """Whether numbers that its statement names move with the level."""
    found = None if rule.expression is not None else rule.turns()
    return found is not None and any(slope for lines in found.lines.values() for _, slope in lines)


def turning(rules: Sequence[Rule], statements: Iterable[Expression], world: World) -> list[float] | None:
    """Levels, ascending up to 1, between which what rules and statements leave possible stays the same.

    None if that is not known of some rule.
    """
    levels, lines = {1.0}, dict[str, set[Line]]()
    for rule in rules:
        if rule.expression is not None:  # it changes at 1 alone
            continue
        known = rule.turns()
        if known is None:
            return None
        levels |= {level for level in known.levels if level > NEAR}
        for name, own in known.lines.items():
            lines.setdefault(name, set()).update(own)
    said = [*statements, *(rule.expression for rule in rules if rule.expression is not None)] if lines else []
    for name, moving in lines.items():
        ends = {world.variables[name].low, world.variables[name].high}
        fixed = ends.union(*(statement.cuts(world).get(name, ()) for statement in said))
        every = {*moving, *((number, 0.0) for number in fixed)}
        for (one, slope), (other, tilt) in product((line for line in moving if line[1]), every):
            if slope != tilt and NEAR < (level := (other - one) / (slope - tilt)) < 1 - NEAR:
                levels.add(level)
    found = list[float]()
    for level in sorted(levels, reverse=True):
        if not found or found[-1] - level > NEAR:
            found.append(level)
    return found[::-1]
