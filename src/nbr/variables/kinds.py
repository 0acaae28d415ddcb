"""Kinds of variables, a file each: which values there are, how they are written, encoded and compared."""

from nbr.errors import NbrError
from nbr.variables.base import Variable
from nbr.variables.bit import Bit
from nbr.variables.choice import Choice
from nbr.variables.ordered import Ordered
from nbr.variables.real import Real

KINDS: list[type[Variable]] = [Bit, Choice, Ordered, Real]


def read_variable(item: object) -> Variable:
    """A variable as a file has it."""
    for kind in KINDS:
        found = kind.read(item)
        if found is not None:
            return found
    raise NbrError(
        f"{item!r} is not a kind of variable; "
        'write "bit", ["label", "label"], { ordered = ["low", "high"] } or { from = 0, to = 1 }'
    )
