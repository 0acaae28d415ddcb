"""Rules and a prior as a product of small tables, summed along an order that is found once."""

from nbr.doors import door

__getattr__, __dir__, __all__ = door(__name__)
