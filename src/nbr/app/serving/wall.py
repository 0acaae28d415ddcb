"""A learned model at a glance: every column as a small histogram, under a condition and without one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

import torch

from nbr import dates
from nbr.density import Sampler, marginals, rows_of, wilson
from nbr.errors import NbrError
from nbr.language import LABEL_PATTERN, NUMBER_PATTERN, Expression, parse, quoted
from nbr.model import Model
from nbr.reasoner import Reasoner
from nbr.world import Variable

DRAWN = 1_000  # points to count where values cannot be summed over
LOOKED_AT = 4_000  # points by which the pieces of numbers are chosen
OF_A_CONDITION = 0.5  # seconds, for how many rows it holds of
PIECES = 10  # of a number
LABELS = 12  # of a choice
EDGE = 0.01  # of all points, below and above the pieces of the middle
Report = dict[str, Any]


@dataclass(frozen=True)
class WallBar:
    """One bar: what it is called, what sets it as a condition, and the statement that it counts."""

    value: str
    set: str
    statement: Expression


@dataclass(frozen=True)
class Base:
    """The bars of every variable, and how high they are without a condition."""

    pieces: dict[str, list[WallBar]]

    @classmethod
    def of(cls, reasoner: Reasoner) -> Base:
        """Bars for a model: values of bits and choices, and pieces of numbers that hold about as much each."""
        points = Sampler(reasoner.model, None).draw(LOOKED_AT, torch.Generator().manual_seed(0)).points
        pieces = {}
        for column, (name, kind) in enumerate(reasoner.world.variables.items()):
            if kind.numeric:
                pieces[name] = _of_number(reasoner.model, name, kind, points[:, column])
            else:
                pieces[name] = _of_values(reasoner.model, name, kind)
        return cls(pieces)

    def report(self, reasoner: Reasoner, given: str | None, budget: float, seed: int) -> Report:
        """Bars with their heights, and for each the 95% range that as many rows leave possible."""
        heights, exact, note = self._heights(reasoner, given, budget, seed)
        model, part = reasoner.model, 1.0
        if given is not None and model.seen is not None:
            part = reasoner.probability(given, budget=min(OF_A_CONDITION, budget), seed=seed).value or 0.0
        told = []
        for name, pieces in self.pieces.items():
            counted = rows_of(model.seen, (name,))
            rows = None if counted is None or model.seen is None else part * counted / model.seen.dispersion
            bars = []
            for piece, height in zip(pieces, heights[name], strict=False):  # of many labels the first are shown
                share = None if math.isnan(height) else height
                ends = wilson(share, share, rows) if share is not None and rows else None
                bars.append({"value": piece.value, "set": piece.set, "probability": share, "range": ends})
            told.append({"name": name, "bars": bars, "rows": rows})
        return {"variables": told, "exact": exact, "note": note}

    def _heights(
        self, reasoner: Reasoner, given: str | None, budget: float, seed: int
    ) -> tuple[dict[str, list[float]], bool, str | None]:
        stated = {name: [piece.statement for piece in pieces] for name, pieces in self.pieces.items()}
        model, condition = reasoner.model.observing(given)
        found, why = marginals(model, stated, [condition], budget / 2)
        heights = {name: shares[0].tolist() for name, shares in found.items()}
        left = {name: each for name, each in stated.items() if name not in heights}
        if not left:
            return heights, True, why
        drawn = Sampler(model, condition).draw(DRAWN, torch.Generator().manual_seed(seed))
        if not len(drawn.points):
            raise NbrError("no point meets the condition")
        for name, statements in left.items():
            heights[name] = [float(each.holds(model.world, drawn.points).double().mean()) for each in statements]
        return heights, False, f"counted among {len(drawn.points):,} points that were drawn"


def _of_values(model: Model, name: str, kind: Variable) -> list[WallBar]:
    labels = list(kind.labels[:LABELS])
    written = [each if NUMBER_PATTERN.match(each) or LABEL_PATTERN.match(each) else quoted(each) for each in labels]
    return [
        WallBar(label, label, parse(f"{quoted(name)}={word}", model.world))
        for label, word in zip(labels, written, strict=True)
    ]


def _of_number(model: Model, name: str, kind: Variable, points: torch.Tensor) -> list[WallBar]:
    """Pieces of one width between the first and the last hundredth; the outer ones go on to the ends."""
    low, high = (float(end) for end in points.double().quantile(torch.tensor([EDGE, 1 - EDGE], dtype=torch.float64)))
    edges = _months(low, high) if kind.unit == "date" else _round(low, high, _width(high - low, kind))
    edges = [edge for edge in edges if kind.low < edge < kind.high]
    written = quoted(name)
    if not edges:
        return [WallBar("all", f">={kind.show(kind.low)}", parse(f"{written}>={kind.show(kind.low)}", model.world))]
    shown = [kind.show(edge) for edge in edges]
    pieces = [WallBar(f"< {shown[0]}", f"<{shown[0]}", parse(f"{written}<{shown[0]}", model.world))]
    for (start, end), last in zip(pairwise(shown), edges[1:], strict=True):
        final = kind.show(last - kind.step) if kind.step else end  # of whole numbers the last one inside
        label = start if final == start else f"{start} to {final}"
        pieces.append(WallBar(label, f"{start}..{end}", parse(f"{written}>={start} & {written}<{end}", model.world)))
    return [*pieces, WallBar(f"≥ {shown[-1]}", f">={shown[-1]}", parse(f"{written}>={shown[-1]}", model.world))]


def _round(low: float, high: float, step: float) -> list[float]:
    first = math.floor(low / step) * step
    return [first + step * number for number in range(1, math.ceil((high - first) / step))]


def _months(low: float, high: float) -> list[float]:
    """First days of months, every so many that there are about as many pieces as of other numbers."""
    start, end = (date.fromisoformat(dates.show(day, "date")) for day in (low, high))
    first, last = 12 * start.year + start.month - 1, 12 * end.year + end.month - 1
    every = next(each for each in (1, 2, 3, 6, 12, 24, 60, 120, 1200) if each * PIECES >= last - first)
    firsts = (month for month in range(first + 1, last + 1) if month % every == 0)
    return [dates.number(date(month // 12, month % 12 + 1, 1))[0] for month in firsts]


def _width(span: float, kind: Variable) -> float:
    """A round width of pieces, a multiple of the step of the number if it has one."""
    if span <= 0:
        return kind.step or 1.0
    rough = span / PIECES
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(power * part for part in (1, 2, 2.5, 5, 10) if power * part >= rough)
    return max(kind.step, math.ceil(width / kind.step - 1e-9) * kind.step) if kind.step else width
