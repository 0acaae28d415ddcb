"""Statements about pictures -> sensors that see what was stated."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
