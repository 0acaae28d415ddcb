"""The paper's tables, computed again."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
