"""Attacks on classifiers, and the protocol by which they are measured."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
