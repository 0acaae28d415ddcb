"""Rules and a prior as a product of small tables, summed along an order that is found once."""

from nbr.factors.network import Network
from nbr.factors.structure import taken_apart
from nbr.factors.values import Values
from nbr.ways import Unfit

__all__ = ["Network", "Unfit", "Values", "taken_apart"]
