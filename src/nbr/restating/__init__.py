"""Rules that a network learned, in words: short statements found from what it says of points."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
