"""Prior-knowledge distributions: what is assumed of points beside the rules (section 2.4 of the paper)."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
