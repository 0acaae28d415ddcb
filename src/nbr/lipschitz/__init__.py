"""Networks that never move two inputs apart in L2, an optimiser for them, and sound bounds."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
