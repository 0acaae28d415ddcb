"""Pages that open without a network: everything that they show is in the one file."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222;
  background: #fff; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } p, li { max-width: 52rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .4rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top;
  font-variant-numeric: tabular-nums; }
th { font-weight: 600; border-bottom: 2px solid #bbb; } tr:target, li:target { background: #fff6d6; }
code { background: #f4f4f4; padding: 0 .2rem; } .note { color: #555; } small { color: #555; white-space: nowrap; }
figure { margin: 1.5rem 0; overflow-x: auto; } figure svg { width: 100%; min-width: 40rem; height: auto; }
a { color: #1b4f9c; } sup a { text-decoration: none; padding: 0 .15rem; }
"""


def page(title: str, body: str) -> str:
    """A whole HTML page around a body."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title><style>{STYLE}</style></head>
<body>{body}</body></html>
"""
