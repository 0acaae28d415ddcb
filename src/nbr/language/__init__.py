"""The words people ask in: a grammar, and the sets of points that its sentences stand for."""

from nbr.language.expressions import Expression
from nbr.language.parser import parse, span

__all__ = ["Expression", "parse", "span"]
