"""The points of a world: cells that cover it, and numbers for the points of a finite one."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
