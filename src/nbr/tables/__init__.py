"""Tables with holes: what people have, as codes of a world."""

from nbr.tables.reading import Source, Table, frame, read

__all__ = ["Source", "Table", "frame", "read"]
