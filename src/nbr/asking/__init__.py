"""From a question to a source, to an engine, to an answer."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
