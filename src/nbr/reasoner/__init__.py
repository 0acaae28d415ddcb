"""The belief function as people use it: a model with its verbs, the door to all rooms below."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
