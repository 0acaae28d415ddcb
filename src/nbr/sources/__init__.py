"""What an engine is fed from: see `source`. Each kind has a line here, and may be named where an engine may."""

from nbr.sources.branching import Branching
from nbr.sources.listing import Listing
from nbr.sources.source import Decision, Source
from nbr.sources.statements import Statements

SOURCES: dict[str, type[Source]] = {"listing": Listing, "statements": Statements, "boxes": Branching}

__all__ = ["SOURCES", "Branching", "Decision", "Listing", "Source", "Statements"]
