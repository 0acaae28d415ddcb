"""What sensors make of pictures, read together with the rules of a model; proofs of what was read."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
