"""The paper's own budget of attacks on images that are open: neither proved to keep their label nor broken so far.

Such a run is a matter of hours, so it takes a time, begins with what tells most for its cost, and goes on where it was
when it is asked for again. What the time did not suffice for is told.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from nbr.progress import Progress, Watcher
from nbr.robustness import Measured, Stages, Subject, measure

ROWS = ("one network", "NBR")
STEPS: dict[str, Stages] = {"SCW": (10_000,), "CW": (10_000,), "BA": (50_000,)}


@dataclass(frozen=True)
class Longer:
    """What long attacks did to the images of one classifier that were open; counts are of images."""

    classifier: str
    images: int  # of the test
    unbroken: int  # before, proved ones among them
    open: int
    attacked: Mapping[str, int]  # an image that one attack has broken is spared the next
    broken: Mapping[str, int]
    nearest: float | None  # the L2 length of the shortest change that was found

    @property
    def left(self) -> float:
        """What is left of the test images in per cent."""
        return 100 * (self.unbroken - sum(self.broken.values())) / self.images

    @property
    def waiting(self) -> dict[str, int]:
        """Images that an attack has not come to."""
        left, told = self.open, {}
        for name, count in self.attacked.items():
            told[name] = left - count
            left -= self.broken[name]
        return told


def attacked(
    subjects: Mapping[str, Subject], found: Mapping[str, Measured], folder: Path, watch: Watcher, until: float
) -> list[Longer]:
    """Attack what `found` left open; no batch of images begins later than `until`."""
    parts = {name: _open(subjects[name], found[name]) for name in subjects if name in ROWS}
    steps: dict[str, Stages] = {}
    told: dict[str, Measured] = {}
    for attack, stages in STEPS.items():  # each attack on everybody: time may not suffice for the dear ones
        steps[attack] = stages
        for name, part in parts.items():

            def named(progress: Progress, name: str = name) -> None:
                watch(replace(progress, stage=f"{name}, open images, {progress.stage}"))

            place = folder / name.replace(" ", "-") / "open"
            told[name] = measure(part, steps, found[name].epsilon, place, named, until=until)
    return [_longer(name, found[name], told[name]) for name in parts]


def plain(told: Sequence[Longer]) -> dict[str, Any]:
    """The same as data."""
    return {
        "steps": STEPS,
        "rows": [{**asdict(each), "left": each.left, "waiting": each.waiting} for each in told],
    }


def words(each: Longer) -> str:
    """What one classifier withstood.

    >>> words(Longer("NBR", 1991, 1342, 97, {"SCW": 97, "BA": 50}, {"SCW": 1, "BA": 0}, 1.98))
    'NBR: of 97 open images SCW 10,000 broke 1; BA 50,000 broke 0 of 50, 46 wait. 67.4% before, 67.4% now'
    """
    parts = []
    for name, count in each.attacked.items():
        waiting = each.waiting[name]
        some = f" of {count}, {waiting} wait" if waiting else ""
        parts.append(f"{name} {STEPS[name][-1]:,} broke {each.broken[name]}{some}")
    before = 100 * each.unbroken / each.images
    return (
        f"{each.classifier}: of {each.open} open images {'; '.join(parts)}. {before:.1f}% before, {each.left:.1f}% now"
    )


def section(told: Sequence[Longer]) -> str:
    """A part of the report's page."""
    listed = "".join(f"<li>{html.escape(words(each))}</li>" for each in told)
    return f"""<h2>The paper's own steps on what is open</h2>
<p>Images that are neither proved nor broken by the attacks above, under the paper's own number of steps. An image that
is broken is spared the next attack.</p>
<ul>{listed}</ul>
"""


def _open(subject: Subject, found: Measured) -> Subject:
    rows = _rows(found)
    parts = {name: getattr(subject, name)[rows] for name in ("images", "labels", "radius", "starts")}
    return replace(subject, **parts)


def _rows(found: Measured) -> torch.Tensor:
    return found.right & ~found.broken & ~(found.radius > found.epsilon)


def _longer(name: str, before: Measured, found: Measured) -> Longer:
    attacked, broken = {}, {}
    for attack, far in found.distance.items():
        attacked[attack] = int((~far.isnan()).sum())
        broken[attack] = int((far <= found.epsilon).sum())
    unbroken = int((before.right & ~before.broken).sum())
    nearest = float(found.nearest.amin()) if bool(found.nearest.isfinite().any()) else None
    return Longer(name, len(before.right), unbroken, int(_rows(before).sum()), attacked, broken, nearest)
