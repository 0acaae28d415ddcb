"""Answering from boxes: where rules are fuzzy and points too many, boxes of points are bounded and halved."""

from __future__ import annotations

from dataclasses import replace

from nbr.asking import by_points
from nbr.asking.asked import AskedPart
from nbr.asking.outcome import Outcome
from nbr.encodings import Branching
from nbr.ways import NEVER, Cost, Limits, Way


class BoxBounds(Way[AskedPart, Outcome]):
    """Proved bounds at any time, for rules that bound themselves within boxes."""

    name = "boxes"

    def unfit(self, asked: AskedPart) -> str | None:
        if asked.grid is not None:
            return "a grid was requested"
        return Branching.unfit(*asked.folded.question)

    def cost(self, asked: AskedPart) -> Cost:
        return NEVER if asked.crisp else Cost(0.5)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome:
        part = asked.folded
        rows = Branching.of(*part.question).rows(limits)
        found = by_points.from_rows(rows, *part.question, "auto", limits)
        many = "reals have no last point" if asked.listing.grid.boxes else f"{asked.listing.grid.said} points are many"
        more = "" if found.width <= limits.tolerance else "; a larger budget, or a condition that leaves less, helps"
        return replace(found, engine=self.name, why=f"{many}, so boxes of them are bounded and halved{more}")
