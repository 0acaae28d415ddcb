"""Tables with holes: what people have, as codes of a world."""

from nbr.tables.coding import frame
from nbr.tables.large import is_large, learnable, open_large
from nbr.tables.like import TableLike
from nbr.tables.reading import read
from nbr.tables.table import Table

__all__ = ["Table", "TableLike", "frame", "is_large", "learnable", "open_large", "read"]
