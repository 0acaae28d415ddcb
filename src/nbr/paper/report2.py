"""Tables 2 and 3 as rows of plain data, as text, and as a page that opens without a network."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from nbr.paper.report import STYLE
from nbr.robustness.protocol import Measured

WHITE, BLACK = ("PGD", "DDN", "margin", "CW", "SCW"), ("Square", "BA")


def rows(found: Mapping[str, Measured], paper: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    """Ours beside the paper's, in per cent."""
    told = []
    for name, measured in found.items():
        told.append(
            {
                "classifier": name,
                "images": len(measured.right),
                "natural": 100 * measured.natural,
                "left_by": {attack: 100 * measured.left_by(attack) for attack in measured.distance},
                "attacked": 100 * measured.attacked,
                "proved": 100 * measured.proved,
                "paper": paper.get(name, {}),
            }
        )
    return told


def checks(found: Mapping[str, Measured]) -> list[tuple[str, bool]]:
    """What an expert would look at first, answered by the run itself."""
    between = all(each.proved <= each.attacked <= each.natural for each in found.values())
    unbroken = all(
        not bool((each.right & (each.radius > 0) & (each.nearest <= each.radius)).any()) for each in found.values()
    )
    weaker = []
    for each in found.values():
        white = [each.left_by(name) for name in WHITE if name in each.distance]
        black = [each.left_by(name) for name in BLACK if name in each.distance]
        if white and black:
            weaker.append(min(white) <= min(black))
    return [
        ("every attacked figure lies between the proved and the natural one", between),
        ("no image was broken within its proved radius", unbroken),
        ("attacks without gradients are weaker than the best with them", all(weaker)),
    ]


def text(told: Sequence[Mapping[str, Any]], checked: Sequence[tuple[str, bool]]) -> str:
    """The table for a terminal; the paper's figure in brackets."""
    attacks = list(told[0]["left_by"])
    lines = [f"{'':<22}" + "".join(f"{name:<15}" for name in ("natural", *attacks, "all attacks", "proved"))]
    for row in told:
        paper = row["paper"]
        cells = [_beside(row["natural"], paper.get("natural"))]
        cells += [_beside(row["left_by"][name], paper.get(name)) for name in attacks]
        cells += [_beside(row["attacked"], paper.get("attacked")), f"{row['proved']:.1f}"]
        lines.append(f"{row['classifier']:<22}" + "".join(f"{cell:<15}" for cell in cells))
    half = 98 * math.sqrt(1 / told[0]["images"])
    lines += [
        "",
        f"in %, the paper's in brackets; {told[0]['images']:,} images, so 95% intervals are up to +-{half:.1f}",
    ]
    return "\n".join([*lines, "", *(f"{'yes' if held else 'NO '}  {words}" for words, held in checked)])


def page(title: str, told: Sequence[Mapping[str, Any]], checked: Sequence[tuple[str, bool]], how: str) -> str:
    """The table as HTML, all in one file."""
    attacks = list(told[0]["left_by"])
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", "natural", *attacks, "all attacks", "proved"))
    body = ""
    for row in told:
        paper = row["paper"]
        cells = [_beside(row["natural"], paper.get("natural"))]
        cells += [_beside(row["left_by"][name], paper.get(name)) for name in attacks]
        cells += [_beside(row["attacked"], paper.get("attacked")), f"{row['proved']:.1f}"]
        body += f"<tr><td>{html.escape(row['classifier'])}</td>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>"
    listed = "".join(f"<li>{'yes' if held else '<b>no</b>'}: {html.escape(words)}</li>" for words, held in checked)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style></head>
<body><h1>{title}: classifiers of 4 and 9 under attack</h1>
<p>Accuracy in % on {told[0]["images"]:,} test images when each may be changed by an L2 length of 2; the paper's
figure in brackets. The last column is a proof: no attack, known or not, takes accuracy below it.</p>
<table><tr>{head}</tr>{body}</table>
<ul>{listed}</ul>
<p class="note">{html.escape(how)}</p></body></html>
"""


def _beside(ours: float, paper: float | None) -> str:
    return f"{ours:.1f}" if paper is None else f"{ours:.1f} ({paper:.1f})"
