"""Fuzzy sets with a degree of belief: clauses, networks, functions and memories, one file each."""

from nbr.rules.base import Rule
from nbr.rules.clause import Clause
from nbr.rules.code_network import CodeNetwork
from nbr.rules.fuzzy import Fuzzy
from nbr.rules.memory import Memory
from nbr.rules.neural import Neural

__all__ = ["Clause", "CodeNetwork", "Fuzzy", "Memory", "Neural", "Rule"]
