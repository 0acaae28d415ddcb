"""Likelihood, probability and sampling of rules combined with a prior."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
