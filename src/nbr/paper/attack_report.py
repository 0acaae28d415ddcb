"""Tables 2 and 3 as rows of plain data, as text, as CSV, and as a page that opens without a network."""

from __future__ import annotations

import csv
import html
import io
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from nbr.paper import pages
from nbr.paper.curves import accuracy_curves
from nbr.paper.differences import PaperDifference, differences
from nbr.robustness import Measured, attack, percent_interval

RADII = [round(0.1 * step, 1) for step in range(61)]
SETTLED = 0.01  # accuracy that a larger budget may still take from the worst case

PICTURES = ("Accuracy against the length of changes", "The smallest changes found, for each classifier")
NAMED = {"natural": "without attack", "attacked": "all attacks"}

Checks = Sequence[tuple[str, bool]]


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
                "attacked_before_the_last_stages": 100 * measured.attacked_before,
                "proved": 100 * measured.proved,
                "proved_but_attacked": int(measured.audited.sum()),
                "paper": paper.get(name, {}),
            }
        )
    return told


def checks(found: Mapping[str, Measured]) -> Checks:
    """What an expert would look at first, answered by the run itself."""
    between = all(each.proved <= each.attacked <= each.natural for each in found.values())
    unbroken = all(
        not bool((each.right & (each.radius > 0) & (each.nearest <= each.radius)).any()) for each in found.values()
    )
    told = [
        ("every attacked figure lies between the proved and the natural one", between),
        ("no image was broken within its proved radius", unbroken),
    ]
    audited = sum(int(each.audited.sum()) for each in found.values())
    if audited:
        held = all(not bool((each.audited & each.broken).any()) for each in found.values())
        told.append((f"{audited} proved images were attacked with everything all the same, and none broke", held))
    weaker = []
    for each in found.values():
        white = [each.left_by(name) for name in each.distance if attack(name).knows == "gradients"]
        black = [each.left_by(name) for name in each.distance if attack(name).knows != "gradients"]
        if white and black:
            weaker.append(min(white) <= min(black))
    told.append(("attacks without gradients are weaker than the best with them", all(weaker)))
    seeded = [each for each in found.values() if {"CW", "SCW"} <= set(each.distance)]
    if seeded:
        stronger = all(each.left_by("SCW") <= each.left_by("CW") for each in seeded)
        told.append(("seeded CW breaks at least as many images as CW", stronger))
    reached = all(bool(each.nearest.isfinite().all()) for each in found.values())
    told.append(("success rises with the length of changes until every image is broken", reached))
    gained = max(each.attacked_before - each.attacked for each in found.values())
    words = f"the last stages, most of the steps, take at most {100 * SETTLED:g} point from the worst case"
    told.append((f"{words} (they take {100 * gained:.1f})", gained <= SETTLED))
    return told


def curves(found: Mapping[str, Measured]) -> str:
    """Accuracy under attack against the length of changes, and what is proved, as an SVG."""
    drawn: dict[str, list[float]] = {}
    for name, each in found.items():
        drawn[name] = [float((each.nearest > eps).double().mean()) for eps in RADII]
    for name, each in found.items():
        if name == "NBR":
            shares = [float((each.right & (each.radius > eps)).double().mean()) for eps in RADII]
            drawn["NBR, proved"] = [each.natural, *shares[1:]]
    count = len(next(iter(found.values())).right)
    return accuracy_curves("Accuracy under the worst attack for each image", RADII, drawn, count)


def text(told: Sequence[Mapping[str, Any]], checked: Checks) -> str:
    """The table for a terminal of 80 columns: of each classifier ours, the paper's, and 95% intervals."""
    named = {"natural": "right", "all attacks": "all"}
    lines = [
        f"in %, of {told[0]['images']:,} images",
        f"{'':<9}" + _line(named.get(each, each) for each in _head(told)),
    ]
    for row in told:
        figures = ("natural", *row["left_by"], "attacked", "proved")
        ours = {**row["left_by"], **{name: row[name] for name in ("natural", "attacked", "proved")}}
        lines += ["", row["classifier"], f"{'  ours':<9}" + _line(f"{ours[name]:.1f}" for name in figures)]
        if row["paper"]:
            known = (row["paper"].get(name) for name in figures)
            lines.append(f"{'  paper':<9}" + _line("" if each is None else f"{each:.1f}" for each in known))
        spans = [percent_interval(row[name] / 100, row["images"]) for name in ("natural", "attacked", "proved")]
        lines.append(f"  95%: right {spans[0]}; under all attacks {spans[1]}; proved {spans[2]}")
    told_of = [
        textwrap.fill(f"{'yes' if held else 'NO '}  {words}", 80, subsequent_indent="     ") for words, held in checked
    ]
    return "\n".join([*lines, "", *told_of])


def _line(cells: Iterable[str]) -> str:
    return "".join(f"{cell:>7}" for cell in cells).rstrip()


def table(told: Sequence[Mapping[str, Any]]) -> str:
    """The rows as CSV, in per cent."""
    file = io.StringIO()
    attacks = list(told[0]["left_by"])
    writer = csv.writer(file, lineterminator="\n")
    figures = ["natural", *attacks, "attacked", "proved"]
    writer.writerow(["classifier", "images", *figures, *(f"paper {name}" for name in figures)])
    for row in told:
        ours = {**row["left_by"], **{name: row[name] for name in ("natural", "attacked", "proved")}}
        paper = [row["paper"].get(name, "") for name in figures]
        writer.writerow([row["classifier"], row["images"], *(f"{ours[name]:.2f}" for name in figures), *paper])
    return file.getvalue()


def page(
    title: str, told: Sequence[Mapping[str, Any]], checked: Checks, pictures: Sequence[str], how: str, further: str = ""
) -> str:
    """Table, checks, what else there is to say and pictures as HTML, all in one file."""
    rows, columns = [row["classifier"] for row in told], ["natural", *told[0]["left_by"], "attacked"]
    unlike = sorted(differences(told), key=lambda each: (rows.index(each.classifier), columns.index(each.figure)))
    marks = {(each.classifier, each.figure): number for number, each in enumerate(unlike, 1)}
    lines = []
    for row in told:
        shown = [html.escape(cell) for cell in _cells(row)]
        for place, figure in enumerate(("natural", *row["left_by"], "attacked")):
            if number := marks.get((row["classifier"], figure)):
                shown[place] += f'<sup><a href="#differs-{number}">{number}</a></sup>'
        for place, name in ((0, "natural"), (-2, "attacked"), (-1, "proved")):
            shown[place] += f"<br><small>{percent_interval(row[name] / 100, row['images'])}</small>"
        lines.append([html.escape(row["classifier"]), *shown])
    listed = "".join(f"<li>{'yes' if held else '<b>no</b>'}: {html.escape(words)}</li>" for words, held in checked)
    head = ["classifier", *map(html.escape, _head(told))]
    drawn = "".join(pages.picture(name, each) for name, each in zip(PICTURES, pictures, strict=False))
    return pages.page(
        title,
        f"""<h1>{title}: classifiers of 4 and 9 under attack</h1>
<p>Accuracy in % on {told[0]["images"]:,} test images when each may be changed by an L2 length of 2; the paper's
figure in brackets, 95% intervals below. The last column is a proof: no attack, known or not, takes accuracy below
it.</p>
{pages.table("Accuracy under each attack", head, lines)}
<h2>What was checked</h2>
<ul>{listed}</ul>
{further}{drawn}{_explained(unlike)}
<p class="note">{html.escape(how)}</p>
""",
    )


def _explained(unlike: Sequence[PaperDifference]) -> str:
    """Why figures differ from the paper's, each under the number that it has in the table."""
    if not unlike:
        return "<p>No figure differs from the paper's by more than its 95% interval.</p>"
    items = "".join(
        f'<li id="differs-{number}"><b>{html.escape(each.classifier)}, {NAMED.get(each.figure, each.figure)}</b>: '
        f"{each.ours:.1f}, in the paper {each.paper:.1f}; {html.escape(each.why)}.</li>"
        for number, each in enumerate(unlike, 1)
    )
    return f"<h2>Where a figure differs from the paper's by more than its 95% interval, and why</h2><ol>{items}</ol>"


def oracle(radii: torch.Tensor) -> str:
    """How far apart the labels are at all, in words."""
    shares = [f"{100 * float((radii > far).double().mean()):.1f}% above {far:g}" for far in (3, 2.5, 2)]
    return (
        "Half the distance from a training image of 4 or 9 to the nearest one of the other label, beyond which no "
        f"classifier can be right on both: {', '.join(shares)}."
    )


def _head(told: Sequence[Mapping[str, Any]]) -> list[str]:
    return ["natural", *told[0]["left_by"], "all attacks", "proved"]


def _cells(row: Mapping[str, Any]) -> list[str]:
    paper = row["paper"]
    cells = [_beside(row["natural"], paper.get("natural"))]
    cells += [_beside(share, paper.get(name)) for name, share in row["left_by"].items()]
    return [*cells, _beside(row["attacked"], paper.get("attacked")), f"{row['proved']:.1f}"]


def _beside(ours: float, paper: float | None) -> str:
    return f"{ours:.1f}" if paper is None else f"{ours:.1f} ({paper:.1f})"
