"""Intervals as bars, one below the other: evidence for, not known, evidence against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from nbr.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ends = tuple[float, float]
UNCOMPUTED = "|||"


@dataclass(frozen=True)
class IntervalBar:
    """A name, between which numbers belief and plausibility lie, and how often, where that is known."""

    name: str
    belief: Ends
    plausibility: Ends
    often: float | None = None
    beside: bool = False  # what is compared with; drawn more quietly

    @property
    def pieces(self) -> tuple[float, float, float, float]:
        """Where evidence for ends, what is not known begins and ends, and evidence against begins."""
        (low, high), (least, most) = self.belief, self.plausibility
        return (low, high, least, most) if high <= least else (low, most, most, most)

    @property
    def exact(self) -> bool:
        return all(low == high for low, high in (self.belief, self.plausibility))

    @property
    def words(self) -> str:
        return f"[{self.belief[0]:.2f}, {self.plausibility[1]:.2f}]"


def picture(bars: Sequence[IntervalBar], title: str, kind: str) -> bytes:
    """The content of a file: png, svg or pdf."""
    with style.drawing(9, _height(bars)) as figure:
        _fill(figure, bars, title)
        return style.saved(figure, kind)


def show(bars: Sequence[IntervalBar], title: str = "") -> Figure:
    """The same as a figure of matplotlib."""
    with style.drawing(9, _height(bars)) as figure:
        _fill(figure, bars, title)
        figure.__dict__["_repr_png_"] = partial(style.saved, figure, "png")  # notebooks show it without pyplot too
        return figure


def _height(bars: Sequence[IntervalBar]) -> float:
    return 1.5 + 0.42 * len(bars)


def _fill(figure: Figure, bars: Sequence[IntervalBar], title: str) -> None:
    axes: Any = figure.subplots()
    for place, bar in enumerate(bars):
        dark = style.QUIET if bar.beside else style.COLOURS[0]
        low, high, least, most = bar.pieces
        axes.barh(place, low, color=dark, height=0.6)
        for start, end, hatch in ((low, high, UNCOMPUTED), (high, least, style.HATCH), (least, most, UNCOMPUTED)):
            ground = "white" if hatch == UNCOMPUTED else style.PALE
            if end > start:
                axes.barh(place, end - start, left=start, height=0.6, color=ground, hatch=hatch, edgecolor=dark)
        if bar.often is not None:
            axes.plot([bar.often] * 2, [place - 0.42, place + 0.42], color=style.COLOURS[1], linewidth=2.5)
        axes.text(1.02, place, bar.words, va="center")
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars])
    axes.grid(axis="y", visible=False)
    axes.invert_yaxis()
    said = ["evidence for (solid)", "not known (hatched)", "evidence against (blank)"]
    said += ["not computed (upright lines)"] * (not all(bar.exact for bar in bars))
    said += ["probability (line)"] * any(bar.often is not None for bar in bars)
    axes.set(title=title, xlim=(0, 1), xlabel=", ".join(said))
