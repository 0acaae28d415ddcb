"""Pages that open without a network: everything that they show is in the one file."""

from __future__ import annotations

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums; }
code { background: #f4f4f4; padding: 0 .2rem; } .note { color: #666; } small { color: #666; white-space: nowrap; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; }
"""


def page(title: str, body: str) -> str:
    """A whole HTML page around a body."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head>
<body>{body}</body></html>
"""
