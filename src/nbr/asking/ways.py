"""How a part of a question is answered: by the way that is named, or by all that fit, as the scheduler lets them."""

from __future__ import annotations

from dataclasses import replace

from nbr.asking import by_levels
from nbr.asking.asked import AskedPart, Memo
from nbr.asking.by_boxes import BoxBounds
from nbr.asking.by_closed import Least
from nbr.asking.by_functions import Functions
from nbr.asking.by_lines import LineInterval, LineStates
from nbr.asking.by_points import Points
from nbr.asking.by_relations import Relations
from nbr.asking.by_statements import Counting, DrawnWorlds
from nbr.asking.by_tables import DrawnTables
from nbr.asking.components import Component
from nbr.asking.outcome import UNKNOWN, Outcome
from nbr.calculus import ENGINES
from nbr.errors import NbrError
from nbr.rules import Rule
from nbr.ways import Limits, Way, auto

QUICK = 0.02  # seconds of listing that nothing else is quicker than

WAYS: list[Way[AskedPart, Outcome]] = [
    Points(),
    Least(),
    Counting(),
    Relations(),
    Functions(),
    LineStates(),
    BoxBounds(),
    LineInterval(),
    DrawnTables(),
    DrawnWorlds(),
]
NO_LEVELS = "not computed: variables are closed, and a question with degrees beside them needs rules that have none"
CLOSED = (Least.name, Counting.name)  # ways that know of closed variables


def names() -> tuple[str, ...]:
    """All that a user may name: what `auto` tries, and engines over listed points."""
    return ("auto", *dict.fromkeys((*ENGINES, *(way.name for way in WAYS if way.name != Points.name))))


def answered(part: Component, name: str, grid: int | None, limits: Limits, memo: Memo | None) -> Outcome:
    """By what is named; "auto" lets every way that fits have a try."""
    asked = AskedPart(part, limits, grid, memo)
    if isinstance(part.proposition, Rule) and _by_levels(asked, name):
        known = by_levels.levels(part)
        if known is None:
            return replace(UNKNOWN, notes=(NO_LEVELS,), why="nothing fits")
        return by_levels.mean(
            known,
            limits,
            lambda said, share: answered(replace(part, proposition=said), name, grid, share, memo),
        )
    if part.model.closed and name not in ("auto", *CLOSED):
        raise NbrError(f"the engine {name!r} does not fit: variables are closed; leave the choice to 'auto'")
    if name in ENGINES:
        found = Points(name).solve(asked, limits)
        return replace(found, why="as requested")
    return _auto(asked, limits) if name == "auto" else _named(asked, name, limits)


def _by_levels(asked: AskedPart, name: str) -> bool:
    """Whether a fuzzy question is better asked level by level than of listed points."""
    if asked.part.model.closed:
        return True
    if name in ENGINES or asked.grid is not None or not by_levels.levels(asked.part):
        return False
    cost = Points().cost(asked)
    return name != "auto" or not cost.sure or cost.seconds >= QUICK


def _auto(asked: AskedPart, limits: Limits) -> Outcome:
    closed = bool(asked.part.model.closed)
    ways = [way for way in WAYS if (way.name in CLOSED if closed else way.name != Least.name)]
    result = auto(ways, asked, limits)
    if result.found is None:
        reasons = [way.unfit(asked) for way in ways]
        if None not in reasons:
            told = "; ".join(dict.fromkeys(reason for reason in reasons if reason is not None))
            return replace(UNKNOWN, notes=(f"no way of computing fits: {told}",), why="nothing fits")
        return replace(UNKNOWN, notes=result.missing, why="no engine had a result when the time was up")
    found, notes = result.found, result.missing if result.found.width > limits.tolerance else ()
    more = ""
    if result.open and found.width > limits.tolerance:
        more = f"; with more time {' or '.join(result.open)} may narrow it"
    return replace(found, notes=tuple(dict.fromkeys((*found.notes, *notes))), why=found.why + more)


def _named(asked: AskedPart, name: str, limits: Limits) -> Outcome:
    """By all ways of a name, or an error that says why not."""
    ways = [way for way in WAYS if way.name == name]
    for way in ways:
        hint = way.missing()
        if hint is not None:
            raise NbrError(hint)
        reason = way.unfit(asked)
        if reason is not None:
            raise NbrError(f"the engine {name!r} does not fit: {reason}; leave the choice to 'auto'")
    result = auto(ways, asked, limits)
    if result.found is not None:
        return result.found
    reason = f"does not fit: {result.unfit[0]}" if result.unfit else "found nothing in time"
    raise NbrError(f"the engine {name!r} {reason}; leave the choice to 'auto'")
