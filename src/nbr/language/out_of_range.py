"""Comparisons that the range of a number settles: nearly always a slip of whoever wrote them."""

from __future__ import annotations

from nbr.errors import NbrError
from nbr.language.expressions import Atom, Expression
from nbr.world import Variable, World


def outside_domain(statement: Expression, world: World) -> list[str]:
    """What is said of numbers that they can never, or must always, meet, in words.

    >>> import nbr
    >>> world = nbr.World(age=nbr.Real(18, 97))
    >>> outside_domain(nbr.parse("age>=200 | age<30", world), world)
    ['age is from 18 to 97, so age>=200 never holds']
    """
    found = []
    for atom in statement.atoms():
        variable = world.variables.get(atom.name)
        if variable is not None and variable.numeric and (settled := _settled(atom, variable, world)) is not None:
            ends = f"{atom.name} is from {variable.show(variable.low)} to {variable.show(variable.high)}"
            found.append(f"{ends}, so {atom} {'always' if settled else 'never'} holds")
    return list(dict.fromkeys(found))


def _settled(atom: Atom, variable: Variable, world: World) -> bool | None:
    """Whether a comparison is true of the whole range of its number, or of none of it; None if of a part."""
    try:
        (code,) = atom.codes(world)
    except (NbrError, ValueError):
        return None
    low, high = variable.low, variable.high
    if low <= code <= high:
        return False if (atom.operator == ">" and code == high) or (atom.operator == "<" and code == low) else None
    above = code > high
    match atom.operator:
        case ">=" | ">":
            return not above
        case "<=" | "<":
            return above
        case "=":
            return False
        case "!=":
            return True
    return None
