"""Fuzzy sets with a degree of belief: clauses, networks, functions and memories, one file each."""

from nbr.rules.base import Rule
from nbr.rules.clause import Clause, one_of
from nbr.rules.code_network import CodeNetwork
from nbr.rules.fuzzy import Fuzzy
from nbr.rules.memory import Memory
from nbr.rules.neural import Neural
from nbr.rules.source import OneOf, Source

__all__ = ["Clause", "CodeNetwork", "Fuzzy", "Memory", "Neural", "OneOf", "Rule", "Source", "one_of"]
