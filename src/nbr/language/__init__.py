"""The words people ask in: a grammar, and the sets of points that its sentences stand for."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
