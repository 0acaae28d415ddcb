"""Fuzzy sets with a degree of belief: clauses, networks, functions and memories, one file each."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
