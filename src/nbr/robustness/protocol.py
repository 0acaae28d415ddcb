"""How robustness is measured: the proof first, then attacks, every verdict kept per image on disk.

An image that is wrong from the start needs no attack, nor does one whose label is proved to stay. Attacks come in order
of their cost, and each in stages of more and more steps: an image leaves an attack as soon as it is broken. Results are
written after each batch, so that a run that was stopped goes on, may be extended by more attacks or steps, and never
repeats work. Batches of long attacks are small, so that a stop loses little.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nbr import clock
from nbr.errors import NbrError, suggest
from nbr.parallel import mapped
from nbr.progress import Progress, Watcher, silent
from nbr.robustness.attacks import ATTACKS, attack
from nbr.robustness.base import BUDGETS, Attempt, Stages
from nbr.robustness.target import Target
from nbr.storage import checkpoints

BATCH = 200
LONG, FEW = 10_000, 55  # batches of attacks of so many steps
LOOKED_AT = 512  # images at a time: each look at the training images copies them all


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
        """Tells one subject from another: by its images and by what the classifier says of some, up to rounding."""
        modules = [self.target.module, self.target.raw, self.target.surrogate]
        with torch.no_grad():
            said = [(1e6 * module(self.images[:64])).round() for module in modules if module is not None]
        digest = hashlib.sha256()
        for part in (self.images, self.labels, self.starts, *said):
            digest.update(part.contiguous().numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Measured:
    """Distances found by each attack, infinite where it failed, not a number where it was not run.

    `before` are those before the last stage of attacks that have several, `audited` the images that were attacked
    though proved.
    """

    epsilon: float
    right: Tensor
    radius: Tensor
    distance: Mapping[str, Tensor]
    before: Mapping[str, Tensor]
    audited: Tensor

    @property
    def natural(self) -> float:
        return float(self.right.double().mean())

    @property
    def proved(self) -> float:
        return float((self.right & (self.radius > self.epsilon)).double().mean())

    def left_by(self, name: str) -> float:
        """Accuracy under one attack."""
        return self._left({name: self.distance[name]})

    @property
    def attacked(self) -> float:
        """Accuracy under the worst attack for each image."""
        return self._left(self.distance)

    @property
    def attacked_before(self) -> float:
        """The same before the last stages."""
        return self._left(self.before)

    @property
    def broken(self) -> Tensor:
        return _nearest(self.distance) <= self.epsilon

    @property
    def nearest(self) -> Tensor:
        """The smallest distance that any attack found; 0 for images that are wrong from the start."""
        return torch.where(self.right, _nearest(self.distance), 0.0)

    def _left(self, distance: Mapping[str, Tensor]) -> float:
        return float((self.right & ~(_nearest(distance) <= self.epsilon)).double().mean())


def _nearest(distance: Mapping[str, Tensor]) -> Tensor:
    return torch.stack([far.nan_to_num(nan=torch.inf, posinf=torch.inf) for far in distance.values()]).amin(dim=0)


def steps_of(budget: str, names: list[str] | None) -> dict[str, Stages]:
    """The attacks to run, in the order of their cost, and the stages of each."""
    if budget not in BUDGETS:
        raise NbrError(f"unknown budget {budget!r}" + suggest(budget, BUDGETS))
    wanted = [attack(name) for name in names or ATTACKS]
    return {each.name: each.stages[budget] for each in ATTACKS.values() if each in wanted}


def measure(
    subject: Subject,
    steps: Mapping[str, Stages],
    epsilon: float,
    folder: Path,
    watch: Watcher = silent,
    *,
    skip_proved: bool = True,
    skip_broken: bool = True,
    everywhere: Collection[str] = (),
    audit: int = 0,
    seed: int = 0,
    jobs: int | None = None,
    until: float = math.inf,
) -> Measured:
    """Run the attacks that have not been run yet.

    With `skip_broken` an image that one attack has broken within epsilon is spared the dearer ones: the worst case is
    the same, but figures for single attacks then are of the images that were left to them. Attacks named in
    `everywhere` begin on proved images too, and `audit` proved ones, drawn at random, are attacked with everything.
    `jobs` are processes that work side by side; files do not depend on them. No batch begins later than `until`, by
    the clock of `nbr.clock`: what was left out is not a number.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run = {"subject": subject.fingerprint(), "epsilon": epsilon, "seed": seed}
    right = subject.right
    proved = right & (subject.radius > epsilon)
    audited = _some(proved, audit, seed)
    open_images = (right & ~proved) | audited if skip_proved else right.clone()
    before: dict[str, Tensor] = {}
    distance: dict[str, Tensor] = {}
    for name, stages in steps.items():
        waiting = right if name in everywhere else open_images
        far = torch.full((len(right),), torch.nan, dtype=torch.float64)
        for number, count in enumerate(stages):
            far = torch.fmin(far, _stage(subject, name, count, waiting, run, folder, watch, jobs, until))
            if number < max(len(stages) - 1, 1):
                before[name] = far
            waiting = open_images & ~(far <= epsilon)
        distance[name] = far
        if skip_broken:
            open_images = open_images & ~(far <= epsilon)
    return Measured(epsilon, right, subject.radius, distance, before, audited)


def _stage(
    subject: Subject,
    name: str,
    steps: int,
    wanted: Tensor,
    run: dict[str, Any],
    folder: Path,
    watch: Watcher,
    jobs: int | None,
    until: float,
) -> Tensor:
    """Distances by one attack for the wanted images, from disk as far as they are there."""
    path, run = folder / f"{name}-{steps}.safetensors", {**run, "attack": name, "steps": steps}
    known = checkpoints.restore(path, run)
    far = torch.full((len(wanted),), torch.nan, dtype=torch.float64) if known is None else known[1]["distance"]
    waiting = (wanted & far.isnan()).nonzero()[:, 0]
    done, stage = 0, f"{name} {steps}"
    if len(waiting):
        watch(Progress(stage, done, len(waiting)))
    batches = waiting.split(BATCH if steps < LONG else FEW) if len(waiting) else ()
    attempts = [
        Attempt(subject.images[rows], subject.labels[rows], subject.starts[rows], run["epsilon"], run["seed"])
        for rows in batches
    ]
    work = partial(_distances, name, steps, subject.target)
    found = mapped(work, attempts, jobs)
    for rows in batches:
        if clock.now() > until:
            break
        far[rows] = next(found)
        checkpoints.save(path, run, {}, {"distance": far})
        done += len(rows)
        watch(Progress(stage, done, len(waiting), ended=done == len(waiting)))
    return torch.where(wanted, far, torch.nan)


def _distances(name: str, steps: int, target: Target, attempt: Attempt) -> Tensor:
    return attack(name).run(target, attempt, steps).distance


def _some(among: Tensor, count: int, seed: int) -> Tensor:
    """At most so many of the marked, drawn at random."""
    order = torch.rand(len(among), generator=torch.Generator().manual_seed(seed)).masked_fill(~among, 2.0).argsort()
    chosen = torch.zeros_like(among)
    chosen[order[:count]] = True
    return chosen & among


def nearest_others(images: Tensor, labels: Tensor, train: Tensor, train_labels: Tensor, target: Target) -> Tensor:
    """For each image the nearest training image of another label that the classifier gives another label too."""
    with torch.no_grad():
        predicted = torch.cat([target.logits(part).argmax(dim=1) for part in train.split(LOOKED_AT)])
    known, found = train.flatten(1), []
    for part, label in zip(images.split(LOOKED_AT), labels.split(LOOKED_AT), strict=True):  # not all distances at once
        usable = (train_labels != label[:, None]) & (predicted != label[:, None])
        if not bool(usable.any(dim=1).all()):
            raise NbrError("no example of another label is given one by the classifier, so an attack has no start")
        found.append(torch.cdist(part.flatten(1), known).masked_fill(~usable, torch.inf).argmin(dim=1))
    return train[torch.cat(found)]
