"""The words people ask in: a grammar, and the sets of points that its sentences stand for."""

from nbr.language.evidence import evidence
from nbr.language.expressions import Expression
from nbr.language.parser import indexed, parse, parse_words
from nbr.language.ranges import span
from nbr.language.stated import stated

__all__ = ["Expression", "evidence", "indexed", "parse", "parse_words", "span", "stated"]
