"""Tables with holes: what people have, as codes of a world."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
