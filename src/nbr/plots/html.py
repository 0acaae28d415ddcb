"""Intervals for a notebook: a bar from belief to plausibility, with no style but its own."""

from __future__ import annotations

from html import escape

FOR, UNKNOWN, UNCOMPUTED = "#1b5e9b", "#c9d8e8", "repeating-linear-gradient(45deg,#c9d8e8 0 4px,#fff 4px 8px)"
FRAME = "height:0.9em;border:1px solid #8fa3b8;vertical-align:middle;line-height:0"


def bar(belief: tuple[float, float], plausibility: tuple[float, float], width: int = 16) -> str:
    """Evidence for is dark, what is not known light, what was not computed striped."""
    first, second, third, last = (*belief, *plausibility)
    second, third = (second, third) if second <= third else (last, last)
    pieces = [(first, FOR), (second - first, UNCOMPUTED), (third - second, UNKNOWN), (last - third, UNCOMPUTED)]
    spans = "".join(
        f'<span style="display:inline-block;height:100%;width:{100 * part:.2f}%;background:{colour}"></span>'
        for part, colour in pieces
        if part > 0
    )
    frame = f"display:inline-block;width:{width}em;{FRAME}"
    return f'<span style="{frame}">{spans}</span>'


def listed(title: str, rules: list[tuple[str, float]], most: int = 30) -> str:
    """A model: its rules in words, and how far each is believed."""
    rows = [
        row(str(number), f"<code>{said(words)}</code>", bar((belief, belief), (belief, belief), 6), f"{belief:.2f}")
        for number, (words, belief) in enumerate(rules[:most], 1)
    ]
    more = f"<p>and {len(rules) - most:,} more rules</p>" if len(rules) > most else ""
    return f"<p><b>{said(title)}</b></p><table>{''.join(rows)}</table>{more}"


def row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>"


def said(words: str) -> str:
    return escape(words)
