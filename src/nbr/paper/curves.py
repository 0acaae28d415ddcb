"""Accuracy against the length of changes, as curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nbr.plots import COLOURS, DASHES, MARKS, drawing, svg
from nbr.robustness import wilson

MOST_BANDS = 4  # more would hide each other


def accuracy_curves(title: str, radii: Sequence[float], rows: Mapping[str, Sequence[float]], count: int) -> str:
    """Accuracy against the length of changes, a line for each classifier; 95% bands where there are few."""
    with drawing(8.4, 4.2) as figure:
        axes = figure.subplots()
        every = max(1, len(radii) // 8)
        for number, (name, shares) in enumerate(rows.items()):
            colour = COLOURS[number % len(COLOURS)]
            axes.plot(
                radii,
                shares,
                color=colour,
                linestyle=DASHES[number % len(DASHES)],
                marker=MARKS[number % len(MARKS)],
                markevery=(number * every // max(len(rows), 1), every),  # marks of lines that coincide stay apart
                markersize=5,
                markerfacecolor="white" if number % 2 else colour,
                label=name,
            )
            if len(rows) <= MOST_BANDS:
                bands = [wilson(share, count) for share in shares]
                low, high = zip(*bands, strict=True)
                axes.fill_between(radii, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set(title=title, xlabel="L2 length of the change", ylabel="accuracy", xlim=(0, max(radii)), ylim=(0, 1.01))
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", handlelength=4)
        return svg(figure)
