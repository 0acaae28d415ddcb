"""Kinds of variables, a file each: which values there are, how they are written, encoded and compared."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
