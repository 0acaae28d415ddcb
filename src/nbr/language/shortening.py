"""Statements in few words: runs of numbered names become ranges, implications are written as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nbr.errors import NbrError
from nbr.language import expressions as ex
from nbr.language.ranges import NUMBERED, names_in_range

RUN = 3  # names from which on a range is shorter
FLAT = 3  # statements that stand better with signs between them than in any(..) or all(..)


def shortened(statement: ex.Expression) -> str:
    """The statement as a person would write it; `parse` reads it back to one that holds at the same points.

    >>> from nbr.language import parse
    >>> print(shortened(parse("x0 <-> majority(x1, x2, x3, x4, x5)")))
    x0 <-> majority(x1..x5)
    >>> print(shortened(parse("~a | ~b | c")))
    a & b -> c
    >>> print(shortened(parse("~x1 & ~x2 & ~x3 & ~x4")))
    all(x1..x4=0)
    """
    return _written(statement)[0]


def _written(statement: ex.Expression) -> tuple[str, int]:
    """The words, and how tightly the loosest sign in them binds."""
    match statement:
        case ex.Not(part=ex.Majority() | ex.Count()):
            return "~" + _written(statement.part)[0], ex.Not.rank
        case ex.Not():
            return "~" + _inside(statement.part, ex.Not.rank - 1), ex.Not.rank
        case ex.Count():
            number = int(statement.number) if statement.number.is_integer() else statement.number
            return f"count({_listed(statement.parts)}){statement.operator}{number}", 9
        case ex.Majority():
            return f"majority({_listed(statement.parts)})", 9
        case ex.Or() if 0 < len(negative := [p for p in statement.parts if _denied(p)]) < len(statement.parts):
            premise = [_opposite(part) for part in negative]
            rest = [part for part in statement.parts if not _denied(part)]
            said = [_inside(ex.And(tuple(premise)) if len(premise) > 1 else premise[0], ex.Implies.rank)]
            said.append(_inside(ex.Or(tuple(rest)) if len(rest) > 1 else rest[0], ex.Implies.rank))
            return " -> ".join(said), ex.Implies.rank
        case ex.And() | ex.Or() if len(statement.parts) > FLAT and ".." in _listed(statement.parts):
            return f"{'all' if isinstance(statement, ex.And) else 'any'}({_listed(statement.parts)})", 9
        case ex.And() | ex.Or() | ex.Iff():
            sign = {ex.And: " & ", ex.Or: " | ", ex.Iff: " <-> "}[type(statement)]
            return sign.join(_inside(part, statement.rank) for part in statement.parts), statement.rank
        case ex.Implies():
            return " -> ".join(_inside(part, statement.rank) for part in statement.parts), statement.rank
    return str(statement), statement.rank


def _denied(part: ex.Expression) -> bool:
    return isinstance(part, ex.Not) or (isinstance(part, ex.Atom) and part.operator == "!=")


def _opposite(part: ex.Expression) -> ex.Expression:
    return replace(part, operator="=") if isinstance(part, ex.Atom) else part.parts[0]


def _inside(part: ex.Expression, rank: int) -> str:
    words, own = _written(part)
    return words if own > rank else f"({words})"


def _listed(parts: Sequence[ex.Expression]) -> str:
    """Statements with commas between them; runs of names with one thing to say become a range."""
    said: list[str] = []
    place = 0
    while place < len(parts):
        end = place + 1
        while end < len(parts) and _follows(parts[end - 1], parts[end]):
            end += 1
        if end - place >= RUN:
            (first, _), (last, tail) = _plain(parts[place]) or ("", ""), _plain(parts[end - 1]) or ("", "")
            said.append(f"{first}..{last}{tail}")
        else:
            said += [_inside(part, ex.Iff.rank) for part in parts[place:end]]
        place = end
    return ", ".join(said)


def _plain(part: ex.Expression) -> tuple[str, str] | None:
    """The numbered name that a part is about, and what it says of it; None if it is not as simple as that."""
    denied = isinstance(part, ex.Not)
    atom = part.part if isinstance(part, ex.Not) else part
    if not isinstance(atom, ex.Atom) or not NUMBERED.match(atom.name) or ex.quoted(atom.name) != atom.name:
        return None
    if denied:
        return (atom.name, "=0") if not atom.operator else None
    return atom.name, str(atom).removeprefix(atom.name)


def _follows(before: ex.Expression, after: ex.Expression) -> bool:
    first, second = _plain(before), _plain(after)
    if first is None or second is None or first[1] != second[1]:
        return False
    try:
        return names_in_range(f"{first[0]}..{second[0]}") == [first[0], second[0]]
    except NbrError:
        return False
