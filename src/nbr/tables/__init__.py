"""Tables with holes: what people have, as codes of a world."""

from nbr.tables.coding import frame
from nbr.tables.database import queried
from nbr.tables.filled import filled, filled_csv, index_of, names_of, spelling
from nbr.tables.large import is_large, learnable, open_large
from nbr.tables.like import TableLike
from nbr.tables.reading import read
from nbr.tables.table import Table
from nbr.tables.weighing import repeated, weighed

__all__ = [
    "Table",
    "TableLike",
    "filled",
    "filled_csv",
    "frame",
    "index_of",
    "is_large",
    "learnable",
    "names_of",
    "open_large",
    "queried",
    "read",
    "repeated",
    "spelling",
    "weighed",
]
