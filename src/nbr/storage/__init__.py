"""Files: models as plain data and tensors, the state of long runs, and writing that is whole or not at all."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
