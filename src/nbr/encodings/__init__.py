"""What engines and solvers are fed from: see `source`."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
