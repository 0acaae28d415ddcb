"""What a classifier says about inputs: labels, intervals, proved radii, and the rules that count most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from nbr.plots import html

Array = NDArray[Any]
SHOWN = 20  # inputs of a verdict in a notebook


@dataclass(frozen=True)
class Reason:
    """What a rule, numbered from 0, adds for one of the two most plausible labels of an input against the other."""

    rule: int
    kind: str
    speaks_for: Any
    weight: float
    proved_radius: float | None  # within which the rule goes on speaking for the same labels


@dataclass(frozen=True)
class Verdict:
    """Everything that a classifier says about some inputs, from one evaluation of its rules.

    `labels` has shape (n,), `intervals` (n, labels, 2), `conflict`, `familiarity` and `radius` (n,); one is None
    where it cannot be computed. `reasons` lists rules for each input, and `classes` all labels.
    """

    labels: Array  # (n,)
    intervals: Array | None  # (n, labels, 2): belief and plausibility; None if there are too many labels
    conflict: Array | None  # (n,)
    familiarity: Array | None  # (n,): how far the input is like the examples; None if nothing is known of them
    radius: Array | None  # (n,): a proved L2 radius; None if the rules allow no proof
    reasons: list[list[Reason]]  # of each input, those that count most first
    classes: Array  # (labels,): whose intervals those are, in their order

    def _repr_html_(self) -> str:
        rows = [html.row("label", *map(str, self.classes), "conflict", "proved radius")]
        rows += [self._row(place) for place in range(min(SHOWN, len(self.labels)))]
        more = f"<p>and {len(self.labels) - SHOWN:,} more</p>" if len(self.labels) > SHOWN else ""
        return f"<table>{''.join(rows)}</table>{more}"

    def _row(self, place: int) -> str:
        told = [] if self.intervals is None else self.intervals[place].tolist()
        width = max(2, 16 // max(1, len(told)))
        bars = [html.bar((low, low), (high, high), width) for low, high in told] or [""] * len(self.classes)
        known = (self.conflict, self.radius)
        numbers = ["" if each is None else f"{each[place]:.4f}" for each in known]
        return html.row(f"<b>{html.said(str(self.labels[place]))}</b>", *bars, *numbers)
