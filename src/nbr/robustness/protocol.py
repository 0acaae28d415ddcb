"""How robustness is measured: the proof first, then attacks, every verdict kept per image on disk.

An image that is wrong from the start needs no attack, nor does one whose label is proved to stay. Attacks come in order
of their cost. Results are written after each batch, so that a run that was stopped goes on, may be extended by more
attacks or steps, and never repeats work.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from nbr import checkpoints
from nbr.errors import NbrError, suggest
from nbr.robustness.attacks import Attempt, attack
from nbr.robustness.target import Target

BATCH = 50
BUDGETS: dict[str, dict[str, int]] = {
    "quick": {"PGD": 50, "DDN": 100, "margin": 60, "Square": 300, "CW": 60, "SCW": 240, "BA": 1000},
    "paper": {"PGD": 100, "DDN": 1000, "margin": 500, "Square": 5000, "CW": 10000, "SCW": 10000, "BA": 50000},
}
Watcher = Callable[[str, int, int, float], None]  # an attack, images done, of how many, seconds left


@dataclass(frozen=True)
class Subject:
    """A classifier and the images that it is measured on; `radius` is what is proved of each, 0 where nothing is."""

    target: Target
    images: Tensor
    labels: Tensor
    radius: Tensor
    starts: Tensor  # for each image one that has another label

    @property
    def right(self) -> Tensor:
        return ~self.target.lost(self.images, self.labels)

    def fingerprint(self) -> str:
        """Tells one subject from another: by its images and by what the classifier says of them."""
        with torch.no_grad():
            logits = self.target.logits(self.images[:64])
        parts = (self.images, self.labels, self.radius, self.starts, logits)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part.contiguous().numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Measured:
    """Distances found by each attack, infinite where it failed, not a number where it was not run."""

    epsilon: float
    right: Tensor
    radius: Tensor
    distance: Mapping[str, Tensor]

    @property
    def natural(self) -> float:
        return float(self.right.double().mean())

    @property
    def proved(self) -> float:
        return float((self.right & (self.radius > self.epsilon)).double().mean())

    def left_by(self, name: str) -> float:
        """Accuracy under one attack."""
        return float((self.right & ~(self.distance[name] <= self.epsilon)).double().mean())

    @property
    def attacked(self) -> float:
        """Accuracy under the worst attack for each image."""
        return float((self.right & ~self.broken).double().mean())

    @property
    def broken(self) -> Tensor:
        found = torch.zeros(len(self.right), dtype=torch.bool)
        for far in self.distance.values():
            found |= far <= self.epsilon
        return found

    @property
    def nearest(self) -> Tensor:
        """The smallest distance that any attack found; 0 for images that are wrong from the start."""
        stacked = torch.stack([far.nan_to_num(nan=torch.inf) for far in self.distance.values()])
        return torch.where(self.right, stacked.amin(dim=0), 0.0)


def steps_of(budget: str, names: list[str] | None) -> dict[str, int]:
    """The attacks to run and their steps."""
    if budget not in BUDGETS:
        raise NbrError(f"unknown budget {budget!r}" + suggest(budget, BUDGETS))
    steps = BUDGETS[budget]
    for name in names or []:
        if name not in steps:
            raise NbrError(f"unknown attack {name!r}" + suggest(name, steps))
    return {name: count for name, count in steps.items() if not names or name in names}


def measure(
    subject: Subject,
    steps: Mapping[str, int],
    epsilon: float,
    folder: Path,
    watch: Watcher = lambda *told: None,
    *,
    skip_proved: bool = True,
    skip_broken: bool = True,
    seed: int = 0,
) -> Measured:
    """Run the attacks that have not been run yet.

    With `skip_broken` an image that one attack has broken within epsilon is spared the dearer ones: the worst case is
    the same, but figures for single attacks then are of the images that were left to them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    right, mark = subject.right, subject.fingerprint()
    found: dict[str, Tensor] = {}
    open_images = right & ~(subject.radius > epsilon) if skip_proved else right.clone()
    for name, count in steps.items():
        run = {"subject": mark, "attack": name, "steps": count, "epsilon": epsilon, "seed": seed}
        path = folder / f"{name}-{count}.safetensors"
        known = checkpoints.restore(path, run)
        far = torch.full((len(right),), torch.nan, dtype=torch.float64) if known is None else known[1]["distance"]
        waiting = (open_images & far.isnan()).nonzero()[:, 0]
        began, done = time.monotonic(), 0
        for rows in waiting.split(BATCH) if len(waiting) else ():
            attempt = Attempt(subject.images[rows], subject.labels[rows], subject.starts[rows], epsilon, seed)
            far[rows] = attack(name).run(subject.target, attempt, count).distance
            checkpoints.save(path, run, {}, {"distance": far})
            done += len(rows)
            left = (time.monotonic() - began) / done * (len(waiting) - done)
            watch(name, done, len(waiting), left)
        found[name] = far
        if skip_broken:
            open_images &= ~(far <= epsilon)
    return Measured(epsilon, right, subject.radius, found)


def nearest_others(images: Tensor, labels: Tensor, train: Tensor, train_labels: Tensor, target: Target) -> Tensor:
    """For each image the nearest training image of another label that the classifier gives another label too."""
    with torch.no_grad():
        predicted = torch.cat([target.logits(part).argmax(dim=1) for part in train.split(512)])
    distance = torch.cdist(images.flatten(1), train.flatten(1))
    usable = (train_labels != labels[:, None]) & (predicted != labels[:, None])
    return train[distance.masked_fill(~usable, torch.inf).argmin(dim=1)]
