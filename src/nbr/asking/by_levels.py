"""Fuzzy questions where all else is crisp, as crisp questions one after the other.

Equation (6) scales every world to a highest grade of 1. A world of crisp rules has that or no point at all, so that
plausibility is the mean, over levels t from 0 to 1, of that of the points whose grade is at least t; so is belief.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from nbr.asking.components import Component, is_crisp
from nbr.asking.outcome import Outcome
from nbr.calculus import Interval
from nbr.encodings import GradeTable
from nbr.language import And, Atom, Constant, Expression, Not, Or, compares_numbers
from nbr.points import world_cells
from nbr.rules import Rule, moves, turning
from nbr.ways import Limits
from nbr.world import World

LEVELS = 32
ROWS = 256  # combinations of values that a question may be spelled out by

Level = tuple[float, Expression]


def levels(part: Component) -> list[Level] | None:
    """Levels of grade, ascending, with the statement that the question reaches it; None if that cannot be said."""
    asked, crisp = part.proposition, all(map(is_crisp, part.model.rules))
    if not isinstance(asked, Rule) or not crisp or isinstance(part.condition, Rule) or part.model.codec is not None:
        return None
    known = turning([asked, *part.model.rules], [] if part.condition is None else [part.condition], part.model.world)
    compared = moves(asked) and compares_numbers([part.condition, *(rule.cut(1.0) for rule in part.model.rules)])
    if known is not None and not compared:
        said = [asked.cut((before + level) / 2) for before, level in pairwise([0.0, *known])]
        found = [(level, statement) for level, statement in zip(known, said, strict=True) if statement is not None]
        return found if len(found) == len(said) <= LEVELS else None
    if not GradeTable.fits(asked):
        return None
    table = GradeTable(asked)
    grades = [float(grade) for grade in table.grades.unique() if grade > 0] or [1.0]
    if len(table.grades) > ROWS or len(grades) > LEVELS:
        return None
    return [(grade, _spelled(table, asked.world, grade)) for grade in grades]


def _spelled(table: GradeTable, world: World, level: float) -> Expression:
    """The combinations of values whose grade reaches a level, or what is not one of the others, if these are fewer."""
    small = World({name: world.variables[name] for name in table.names})
    reached, rows = table.grades >= level, []
    fewer = 2 * int(reached.sum()) <= len(reached)
    place = 0
    for points, _ in world_cells(small, {}, (), 1).chunks():
        for point in points.tolist():
            if bool(reached[place]) == fewer:
                values = [
                    (name, small.variables[name].show(code)) for name, code in zip(small.names, point, strict=True)
                ]
                rows.append(And(tuple(Atom(name, "=", (value,)) for name, value in values)))
            place += 1
    some: Expression = Or(tuple(rows)) if rows else Constant(False)
    return some if fewer else Not(some)


def mean(found: Sequence[Level], limits: Limits, answer: Callable[[Expression, Limits], Outcome]) -> Outcome:
    """The answer from those at ascending levels, each in its part of the time; above the last nothing is plausible."""
    before, plausible, doubted = 0.0, (0.0, 0.0), (1.0, 1.0)
    last: Outcome | None = None
    notes: tuple[str, ...] = ()
    kinds = set()
    for done, (level, statement) in enumerate(found):
        each, share = answer(statement, limits.share(1 / (len(found) - done))), level - before
        plausible = _plus(plausible, share, each.plausibility)
        doubted = _plus(doubted, share, (each.doubt[0] - 1, each.doubt[1] - 1))
        before, last, notes = level, each, (*notes, *each.notes)
        kinds.add(each.kind)
    assert last is not None
    return Outcome(
        plausibility=plausible,
        doubt=doubted,
        whole=last.whole,
        kind="proved" if kinds == {"proved"} else "95%",
        engine=last.engine,
        notes=tuple(dict.fromkeys(notes)),
        why="the question is fuzzy and the rules are not, so each level of its grade is asked for itself",
    )


def _plus(sums: Interval, share: float, more: Interval) -> Interval:
    return sums[0] + share * more[0], sums[1] + share * more[1]
