"""The belief function as people use it: a model with its verbs, the door to all rooms below."""

from nbr.reasoner.reasoner import Reasoner

__all__ = ["Reasoner"]
