"""All plots, in one style: what differs in colour differs in its line and mark too, so that grey paper tells it apart.

Figures are made without pyplot, so nothing of the caller's matplotlib changes, and end as SVG text for a page.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nbr.errors import NbrError
from nbr.robustness.shares import wilson

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ["#14507a", "#c8553d", "#2f7d32", "#7b5ea7", "#b8860b", "#0e8a8a", "#6b4226", "#c45a94", "#555555", "#000000"]
DASHES: list[Any] = ["-", (0, (6, 2)), (0, (1, 1.4)), (0, (7, 2, 1, 2)), (0, (3, 1.5)), (0, (8, 2, 1, 2, 1, 2))]
MARKS = ["o", "s", "^", "D", "v", "X", "P", "<", ">", "*"]
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "image.composite_image": False,  # pixels stay as they are
    "svg.fonttype": "none",  # text stays text: small, and can be searched
    "svg.hashsalt": "nbr",  # the same figure is the same file
}
MOST_BANDS = 4  # more would hide each other
NOTHING = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def ready() -> None:
    """An error where matplotlib is missing: said before long work, not after it."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise NbrError("plots need matplotlib: pip install 'nbr[plot]'") from None


@contextmanager
def drawing(wide: float, high: float) -> Iterator[Figure]:
    """A figure of so many inches in our style."""
    ready()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        yield Figure(figsize=(wide, high), layout="constrained")


def svg(figure: Figure) -> str:
    """A figure as an SVG element that can stand in a page or alone in a file; call it inside `drawing`."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=NOTHING)
    text = file.getvalue()
    return text[text.index("<svg") :]


def curves(title: str, radii: Sequence[float], rows: Mapping[str, Sequence[float]], count: int) -> str:
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
