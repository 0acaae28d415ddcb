"""The one style of all plots: what differs in colour differs in line, mark or hatch, so that grey paper tells it apart.

Figures are made without pyplot, so nothing of the caller's matplotlib changes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nbr.errors import NbrError, install

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ["#14507a", "#c8553d", "#2f7d32", "#7b5ea7", "#b8860b", "#0e8a8a", "#6b4226", "#c45a94", "#555555", "#000000"]
DASHES: list[Any] = ["-", (0, (6, 2)), (0, (1, 1.4)), (0, (7, 2, 1, 2)), (0, (3, 1.5)), (0, (8, 2, 1, 2, 1, 2))]
PALE, QUIET, HATCH = "#dce6f0", "#7d8fa1", "///"  # what is not known; what is not looked at first
MARKS = ["o", "s", "^", "D", "v", "X", "P", "<", ">", "*"]
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "hatch.linewidth": 0.7,
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
KINDS = ("png", "svg", "pdf")
NOTHING = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def ready() -> None:
    """An error where matplotlib is missing: said before long work, not after it."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise NbrError(f"plots need matplotlib: {install('plot')}") from None


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


def saved(figure: Figure, kind: str) -> bytes:
    """A figure as a file of a kind: png, svg or pdf; call it inside `drawing`."""
    if kind not in KINDS:
        raise NbrError(f"a picture is saved as .{', .'.join(KINDS[:-1])} or .{KINDS[-1]}, not as .{kind}")
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=150, metadata=NOTHING if kind == "svg" else None)
    return file.getvalue()
