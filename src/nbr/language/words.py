"""Statements in words."""

from __future__ import annotations

from nbr.language.expressions import And, Atom, Constant, Count, Expression, Iff, Implies, Majority, Not, Or

SAID = {
    "=": "is",
    "!=": "is not",
    ">=": "is at least",
    "<=": "is at most",
    ">": "is more than",
    "<": "is less than",
}


def spoken(statement: Expression) -> str:
    """A statement as a person would say it.

    >>> from nbr.language import parse
    >>> spoken(parse("rain & ~roof -> grass=wet | age<40"))
    'if rain and not roof then grass is wet or age is less than 40'
    """
    match statement:
        case Implies():
            return f"if {spoken(statement.premise)} then {spoken(statement.conclusion)}"
        case Not(part=Atom(operator="") as atom):
            return f"not {atom.name}"
        case Not():
            return f"it is not true that {spoken(statement.part)}"
        case And():
            return " and ".join(map(_inner, statement.parts))
        case Or():
            return " or ".join(map(_inner, statement.parts))
        case Iff():
            return " exactly if ".join(map(_inner, statement.parts))
        case Majority():
            return f"most of: {', '.join(map(spoken, statement.parts))}"
        case Count():
            parts = ", ".join(map(spoken, statement.parts))
            return f"the number of ({parts}) {SAID[statement.operator]} {statement.number:g}"
        case Constant():
            return "always" if statement.value else "never"
        case Atom(operator=""):
            return statement.name
        case Atom(operator="in"):
            return f"{statement.name} is one of {', '.join(statement.values)}"
        case Atom():
            return f"{statement.name} {SAID[statement.operator]} {statement.values[0]}"
    return str(statement)


def _inner(part: Expression) -> str:
    return (
        spoken(part)
        if isinstance(part, Atom) or (isinstance(part, Not) and isinstance(part.part, Atom))
        else f"({spoken(part)})"
    )
