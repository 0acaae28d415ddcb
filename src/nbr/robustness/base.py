"""Attacks behind one interface: from images and labels to the nearest inputs found that lose the label.

An attack proposes inputs; whether they lose the label, lie in the box, and how far they are is judged here, the same
for all. Attacks of the field come from foolbox; ours are those that nobody has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.robustness.target import Target, distance

HALVINGS = 20
STRETCHES = (1.05, 1.1, 1.25, 1.5, 2.0, 3.0)
BUDGETS = ("quick", "paper")
Stages = tuple[int, ...]  # steps, more in each stage


@dataclass(frozen=True)
class AttackResult:
    """The best that an attack found: inputs, and their L2 distances, infinite where it failed."""

    inputs: Tensor
    distance: Tensor

    def better(self, other: AttackResult) -> AttackResult:
        """The nearer of two findings for each image."""
        nearer = other.distance < self.distance
        shape = (-1, *[1] * (self.inputs.dim() - 1))
        return AttackResult(
            torch.where(nearer.view(shape), other.inputs, self.inputs), torch.minimum(self.distance, other.distance)
        )


@dataclass(frozen=True)
class Attempt:
    """What an attack is given: images with their labels, starting points that lose the label, a radius, a seed."""

    images: Tensor
    labels: Tensor
    starts: Tensor | None = None
    epsilon: float = 2.0
    seed: int = 0


class Attack(ABC):
    """One way to look for adversarial inputs: a name, what it uses of the classifier, and its steps for each budget.

    The stages of the small budget begin those of the large one, so that a run may be extended.
    """

    name: ClassVar[str]
    knows: ClassVar[str]  # "gradients", "scores" or "labels"
    stages: ClassVar[Mapping[str, Stages]]  # for each of BUDGETS
    needs_starts: ClassVar[bool] = False

    @abstractmethod
    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        """Inputs that may lose the label, as near to the images as the attack can."""

    def run(self, target: Target, attempt: Attempt, steps: int) -> AttackResult:
        """Propose, put into the box, and judge; the caller's random numbers go on as if nothing had been drawn."""
        if attempt.starts is None and self.needs_starts:
            raise NbrError(f"the attack {self.name} needs starting points that lose the label")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(attempt.seed)  # foolbox draws from the global generator
            found = self._finished(target, attempt, self.propose(target, attempt, steps))
            if target.raw is None or self.knows != "gradients" or self.needs_starts:
                return found
            view = Target(target.raw, target.low, target.high)
            tried = stretched(target, attempt, self.propose(view, attempt, steps))
            return found.better(self._finished(target, attempt, tried))

    def _finished(self, target: Target, attempt: Attempt, inputs: Tensor) -> AttackResult:
        return judged(target, attempt, drawn_in(target, attempt, target.clip(inputs.detach())))


def stretched(target: Target, attempt: Attempt, inputs: Tensor) -> Tensor:
    """Changes that were found on another module, made longer until the label is lost here too."""
    away, found = inputs - attempt.images, inputs.clone()
    kept = ~target.lost(inputs, attempt.labels)
    for factor in STRETCHES:
        tried = target.clip(attempt.images + factor * away)
        lost = kept & target.lost(tried, attempt.labels)
        found = torch.where(lost.view(-1, *[1] * (inputs.dim() - 1)), tried, found)
        kept &= ~lost
    return found


def drawn_in(target: Target, attempt: Attempt, inputs: Tensor) -> Tensor:
    """Inputs that lose the label, moved straight towards their images as far as they still do."""
    shape = (-1, *[1] * (inputs.dim() - 1))
    lost = target.lost(inputs, attempt.labels)
    low, high = torch.zeros(len(inputs), dtype=inputs.dtype), torch.ones(len(inputs), dtype=inputs.dtype)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        nearer = attempt.images + middle.view(shape) * (inputs - attempt.images)
        still = target.lost(nearer, attempt.labels)
        low, high = torch.where(still, low, middle), torch.where(still, middle, high)
    nearest = attempt.images + high.view(shape) * (inputs - attempt.images)
    return torch.where(lost.view(shape), nearest, inputs)


def judged(target: Target, attempt: Attempt, inputs: Tensor) -> AttackResult:
    """Distances of proposed inputs, infinite where the label is not lost; 0 where it was never there."""
    far = torch.where(target.lost(inputs, attempt.labels), distance(inputs, attempt.images), torch.inf)
    wrong = target.lost(attempt.images, attempt.labels)
    shape = (-1, *[1] * (inputs.dim() - 1))
    return AttackResult(torch.where(wrong.view(shape), attempt.images, inputs), torch.where(wrong, 0.0, far))
