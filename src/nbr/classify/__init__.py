"""Classifiers whose rules speak about labels, and the proof of their robustness."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
