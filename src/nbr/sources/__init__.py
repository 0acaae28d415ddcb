"""What engines and solvers are fed from: see `source`."""

from nbr.sources.branching import Branching
from nbr.sources.listing import Listing
from nbr.sources.source import Decision, Source
from nbr.sources.statements import Statements

__all__ = ["Branching", "Decision", "Listing", "Source", "Statements"]
