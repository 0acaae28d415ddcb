"""Pages that open without a network: everything that they show is in the one file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #17212b; --ground: #fff; --quiet: #52606d; --line: #d9e0e6; --strong: #a7b3be;
  --code: #eef2f5; --here: #fff1c2; --link: #15599c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ecf2; --ground: #0f141a; --quiet: #a2b0bd; --line: #2e3944;
  --strong: #52606d; --code: #222c36; --here: #4a3d12; --link: #86bbef; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--ground); overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; margin: 0 0 .25rem; } p, li { max-width: 52rem; } li { margin: .25rem 0; }
.table { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; overflow-wrap: normal; }
th, td { text-align: left; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; }
thead th { font-weight: 600; border-bottom: 2px solid var(--strong); }
li:target { background: var(--here); } code { background: var(--code); padding: 0 .2rem; border-radius: 3px; }
.note { color: var(--quiet); } small { color: var(--quiet); white-space: nowrap; }
figure { margin: 1.5rem 0; overflow-x: auto; } figure svg { display: block; width: 100%; height: auto;
  background: #fff; border-radius: 6px; }
.side { display: flex; flex-wrap: wrap; gap: 1rem 4rem; } .side > * { min-width: 0; }
a { color: var(--link); } sup a { text-decoration: none; padding: 0 .15rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
"""
LARGEST, READABLE = (
    1.4,
    640,
)  # how far a plot is enlarged; pixels that a wide one needs to be read: it is scrolled below


def page(title: str, body: str) -> str:
    """A whole HTML page around a body."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>
<style>{STYLE}</style></head>
<body><main>{body}</main></body></html>
"""


def table(name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML; wider than the window, it is scrolled by itself, with the keyboard too.

    Args:
        name: what it shows, for those who do not see it
        head: the names of its columns
        rows: the cells of each row
    """
    above = "".join(f"<th scope='col'>{each}</th>" for each in head)
    lines = "".join(f"<tr>{''.join(f'<td>{each}</td>' for each in row)}</tr>" for row in rows)
    shown = f"<table><thead><tr>{above}</tr></thead><tbody>{lines}</tbody></table>"
    return f'<div class="table" role="region" aria-label="{escape(name)}" tabindex="0">{shown}</div>'


def picture(name: str, svg: str) -> str:
    """A plot of `nbr.plots` as wide as the page, if it was drawn large, and not larger than it can bear."""
    found = re.search(r'width="([\d.]+)pt"', svg)
    assert found is not None
    wide = LARGEST * float(found[1]) * 4 / 3
    style, label = f"max-width: {wide:.0f}px; min-width: {min(READABLE, wide / 2):.0f}px", escape(name)
    drawn = svg.replace("<svg", f'<svg role="img" aria-label="{label}" style="{style}"', 1)
    return f'<figure role="group" aria-label="{label}" tabindex="0">{drawn}</figure>'
