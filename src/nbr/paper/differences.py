"""Where a figure of Tables 2 and 3 differs from the paper's by more than chance, and why, as far as we know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbr.robustness import wilson

TRAINED = (
    "another network: a small one, trained here on 4 and 9 alone, where the paper's is a classifier of ten labels cut "
    "down to two"
)
BOUND = (
    "another network: a small one, trained here on 4 and 9 alone, for two epochs with its own bound, which is for "
    "L-infinity, after interval bounds"
)
OURS = (
    "other networks (dense layers kept orthogonal, with MaxMin, trained for a margin), and fewer steps of CW and of "
    "the boundary attack; the proved share, below which no attack can go, does not depend on steps"
)
MARGIN = (
    "our PGD follows the margin in float64, and raw scores where a classifier has them; the paper's left far more than "
    "its own CW did, as PGD does on a loss that saturates"
)
STEPS = (
    "fewer steps: up to 1,000 with the budget quick, 50,000 in the paper. The column of all attacks takes the best "
    "attack on each image, so it does not need this one"
)
SEEDED = (
    f"{TRAINED}; and our seeded CW starts from the nearest training image of the other label where that is nearer than "
    "what breaks the surrogate"
)
SCORES = (
    "the scores come from our networks, of which one for each label does nearly all the work: there is little to "
    "combine, and every way of combining has its robustness"
)
WHY: Mapping[str, Mapping[str, str]] = {
    "vanilla": {"natural": TRAINED, "PGD": MARGIN, "CW": TRAINED, "SCW": TRAINED, "BA": STEPS, "attacked": TRAINED},
    "Madry": {"natural": TRAINED, "PGD": MARGIN, "CW": TRAINED, "SCW": SEEDED, "BA": STEPS, "attacked": TRAINED},
    "Wong and Kolter": {
        "natural": BOUND,
        "PGD": MARGIN,
        "CW": BOUND,
        "SCW": SEEDED,
        "BA": STEPS,
        "attacked": BOUND,
    },
    "one network": {"natural": OURS, "PGD": MARGIN, "CW": OURS, "SCW": OURS, "BA": STEPS, "attacked": OURS},
    "NBR": {"natural": OURS, "PGD": MARGIN, "CW": OURS, "SCW": OURS, "BA": STEPS, "attacked": OURS},
    **{
        f"{kind} {number}": {"natural": SCORES, "attacked": SCORES}
        for kind in ("Markov random field", "Gaussian naive Bayes")
        for number in (1, 2)
    },
}


@dataclass(frozen=True)
class PaperDifference:
    """A figure of a row, in per cent, that lies further from the paper's than a 95% interval reaches, and why."""

    classifier: str
    figure: str
    ours: float
    paper: float
    why: str


def differences(rows: Sequence[Mapping[str, Any]]) -> list[PaperDifference]:
    """In the order of the table.

    >>> row = {"classifier": "vanilla", "images": 200, "natural": 99.0, "left_by": {"PGD": 1.5}, "attacked": 1.0}
    >>> [(each.figure, each.ours) for each in differences([{**row, "paper": {"natural": 99.7, "PGD": 48.8}}])]
    [('PGD', 1.5)]
    """
    found = []
    for row in rows:
        ours = {"natural": row["natural"], **row["left_by"], "attacked": row["attacked"]}
        for figure in [name for name in ours if name in row["paper"]]:
            paper, (low, high) = row["paper"][figure], wilson(ours[figure] / 100, row["images"])
            if not 100 * low <= paper <= 100 * high:
                why = WHY[row["classifier"]][figure]
                found.append(PaperDifference(row["classifier"], figure, ours[figure], paper, why))
    return found
