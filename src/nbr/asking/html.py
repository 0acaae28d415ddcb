"""Intervals for a notebook: a bar from belief to plausibility, with no style but its own."""

from __future__ import annotations

from html import escape

from nbr.inference.problem import Interval

FOR, UNKNOWN, UNCOMPUTED = "#1b5e9b", "#c9d8e8", "repeating-linear-gradient(45deg,#c9d8e8 0 4px,#fff 4px 8px)"


def bar(belief: Interval, plausibility: Interval) -> str:
    """Evidence for is dark, what is not known light, what was not computed striped."""
    first, second, third, last = (*belief, *plausibility)
    second, third = (second, third) if second <= third else (last, last)
    pieces = [(first, FOR), (second - first, UNCOMPUTED), (third - second, UNKNOWN), (last - third, UNCOMPUTED)]
    spans = "".join(
        f'<span style="display:inline-block;height:100%;width:{100 * width:.2f}%;background:{colour}"></span>'
        for width, colour in pieces
        if width > 0
    )
    frame = "display:inline-block;width:16em;height:0.9em;border:1px solid #8fa3b8;vertical-align:middle;line-height:0"
    return f'<span style="{frame}">{spans}</span>'


def row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>"


def said(words: str) -> str:
    return escape(words)
