"""What asking returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbr.calculus import Interval
from nbr.plots import html, intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bounds:
    """Bounds on an answer.

    `belief`, `plausibility` and `conflict` are pairs of a lower and an upper bound; `kind` is "proved", or "95%" for a
    confidence interval.
    """

    belief: Interval
    plausibility: Interval
    conflict: Interval
    kind: str

    def __getitem__(self, name: str) -> object:
        return self.as_json()[name]

    def as_json(self) -> dict[str, object]:
        intervals = {"belief": self.belief, "plausibility": self.plausibility, "conflict": self.conflict}
        return {**{name: list(ends) for name, ends in intervals.items()}, "kind": self.kind}


@dataclass(frozen=True)
class Answer:
    """An answer: belief is the evidence for the question, plausibility 1 minus the evidence against it.

    The gap between them is what the model does not know. Conflict is the part of the evidence that contradicts
    itself or the condition. Where the answer is not `exact`, belief is the lower end of its bounds, and plausibility
    and conflict are the upper ends of theirs, so that the interval always contains the exact one.
    """

    question: str
    given: str | None
    bounds: Bounds
    exact: bool
    engine: str
    rules: int
    points: int | None  # how many were gone through; None where none were
    sure: Bounds | None = None  # bounds that hold for certain, beside a 95% interval
    notes: tuple[str, ...] = ()  # what is missing that would make it better
    how: tuple[str, ...] = ()  # which way it came about, and why

    @property
    def belief(self) -> float:
        return self.bounds.belief[0]

    @property
    def plausibility(self) -> float:
        return self.bounds.plausibility[1]

    @property
    def conflict(self) -> float:
        return self.bounds.conflict[1]

    @property
    def ignorance(self) -> float:
        """The gap between plausibility and belief: what the model does not know, and what was not computed."""
        return self.plausibility - self.belief

    @property
    def uncomputed(self) -> float:
        """The part of that gap that more time may close: 0 where the answer is exact."""
        (low, high), (least, most) = self.bounds.belief, self.bounds.plausibility
        return min(most - low, (high - low) + (most - least))

    def as_json(self) -> dict[str, object]:
        return {
            "question": self.question,
            "given": self.given,
            "belief": self.belief,
            "plausibility": self.plausibility,
            "conflict": self.conflict,
            "exact": self.exact,
            "bounds": self.bounds.as_json(),
            "sure": None if self.sure is None else self.sure.as_json(),
            "engine": self.engine,
            "rules": self.rules,
            "points": self.points,
            "notes": list(self.notes),
        }

    def bar(self, name: str | None = None, often: float | None = None, beside: bool = False) -> intervals.IntervalBar:
        """The answer as one bar of a picture, under its question or another name."""
        return intervals.IntervalBar(name or self.question, self.bounds.belief, self.bounds.plausibility, often, beside)

    def plot(self) -> Figure:
        """Draw the interval as a matplotlib figure; its `savefig` writes it."""
        return intervals.show([self.bar()], self.title)

    @property
    def title(self) -> str:
        return (f"given   {self.given},   " if self.given else "") + f"conflict {self.conflict:.2f}"

    def _repr_html_(self) -> str:
        asked = html.said(self.question) + (f" &nbsp;given&nbsp; {html.said(self.given)}" if self.given else "")
        numbers = f"[{self.belief:.4f}, {self.plausibility:.4f}], conflict {self.conflict:.4f}"
        how = "exact" if self.exact else f"not exact, {self.bounds.kind} bounds"
        bar = html.bar(self.bounds.belief, self.bounds.plausibility)
        return f"<table>{html.row(f'<b>{asked}</b>', bar, numbers, how)}</table>"

    def __str__(self) -> str:
        asked = self.question + (f" | {self.given}" if self.given else "")
        how = "exact"
        if not self.exact:
            low, high = self.bounds.belief[1], self.bounds.plausibility[0]
            how = f"not exact: belief up to {low:.4f}, plausibility from {high:.4f}, {self.bounds.kind} bounds"
        return f"{asked}: [{self.belief:.4f}, {self.plausibility:.4f}], conflict {self.conflict:.4f} ({how})"
