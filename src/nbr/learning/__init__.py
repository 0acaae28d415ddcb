"""From tables to rules, and from rules to samples and likelihoods."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
