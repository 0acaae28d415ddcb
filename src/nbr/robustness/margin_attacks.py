"""Attacks of ours that follow gradients of the margin: one from the image itself, one from a starting point."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from nbr.robustness.base import Attack, Attempt, drawn_in, stretched
from nbr.robustness.target import Target, distance

LONGEST = 0.25  # of epsilon: a step of the descent
SEARCHES = 6  # of the weight of the margin
CONFIDENCE = 1e-6
STRIDE = 0.03  # of a pixel's range, falling to 0 in each search
TRANSFER = 100  # steps on the surrogate


class Descent(Attack):
    """Steps down the margin that shrink, and back to the nearest point of the boundary seen.

    A step goes as far as a linear margin would need, but not further than a part of epsilon: where a margin flattens
    out, its gradient promises too much. Past the boundary it goes to the nearest point to the image on the linearised
    boundary, half way. The margin is never squashed, so nothing saturates.
    """

    name, knows = "margin", "gradients"
    stages: ClassVar = {"quick": (60,), "paper": (60, 500)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        images, longest = attempt.images, attempt.epsilon * LONGEST
        best, nearest = images.clone(), torch.full((len(images),), torch.inf, dtype=images.dtype)
        moved = images.clone()
        for step in range(steps):
            moved = moved.detach().requires_grad_()
            margin = target.margin(moved, attempt.labels)
            (slope,) = torch.autograd.grad(margin.sum(), moved)
            with torch.no_grad():
                far = distance(moved, images)
                gained = (margin <= 0) & (far < nearest)
                nearest = torch.where(gained, far, nearest)
                best = torch.where(_like(gained, best), moved, best)
                steep = slope.flatten(1).norm(dim=1).clamp(min=1e-12)
                down, ahead = slope / _like(steep, slope), (margin / steep).clamp(-longest, longest)
                reach = 1.02 + 0.5 * (1 - step / steps)  # a little past the boundary, less and less
                onward = moved - _like(ahead.clamp(min=1e-9) * reach, down) * down
                along = (down * (moved - images)).flatten(1).sum(dim=1)
                back = images - _like((ahead - along) * reach, down) * down
                moved = target.clip(torch.where(_like(margin > 0, slope), onward, 0.5 * (back + moved)))
        return best


class SeededCarliniWagner(Attack):
    """Carlini and Wagner's search from a starting point that already loses the label, the paper's seeded CW.

    The start is the given one, or what breaks the target's surrogate if that is nearer: a transfer attack. It minimises
    |x' - x|^2 + c max(margin, 0) for several c, and is never worse than its start. Unlike the original it does not
    write x' as a tanh: starting points have many pixels at 0 or 1, where a tanh would hold them.
    """

    name, knows, needs_starts = "SCW", "gradients", True
    stages: ClassVar = {"quick": (60, 240), "paper": (60, 240, 2400, 10000)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        images = attempt.images
        best, nearest = _started(target, attempt)
        low, high = torch.zeros_like(nearest), torch.full_like(nearest, torch.inf)
        weight = torch.ones_like(nearest)
        each = max(4, steps // SEARCHES)
        for _ in range(SEARCHES):
            inputs = target.clip(best).detach().requires_grad_()
            optimiser = torch.optim.Adam([inputs])
            succeeded = torch.zeros(len(images), dtype=torch.bool)
            for step in range(each):
                for group in optimiser.param_groups:
                    group["lr"] = STRIDE * (target.high - target.low) * (1 - step / each)
                margin = target.margin(inputs, attempt.labels)
                far = (inputs - images).flatten(1).square().sum(dim=1)
                optimiser.zero_grad()
                (far + weight * (margin + CONFIDENCE).clamp(min=0)).sum().backward()
                with torch.no_grad():
                    lost = margin <= 0
                    if step >= 0.75 * each:  # it began on the far side, so that early steps say nothing of the weight
                        succeeded |= lost
                    gained = lost & (far.sqrt() < nearest)
                    nearest = torch.where(gained, far.sqrt(), nearest)
                    best = torch.where(_like(gained, best), inputs, best)
                    optimiser.step()
                    inputs.clamp_(target.low, target.high)
            high = torch.where(succeeded, torch.minimum(high, weight), high)
            low = torch.where(succeeded, low, torch.maximum(low, weight))
            weight = torch.where(high.isinf(), weight * 10, (low + high) / 2)
        return best.detach()


def _started(target: Target, attempt: Attempt) -> tuple[Tensor, Tensor]:
    """The nearer of the given starting point and the transferred one that loses the label, drawn in; its distance."""
    images, best = attempt.images, attempt.starts
    assert best is not None
    best = drawn_in(target, attempt, best)
    nearest = distance(best, images)
    if target.surrogate is None:
        return best, nearest
    other = Target(target.surrogate, target.low, target.high)
    tried = stretched(target, attempt, target.clip(Descent().propose(other, attempt, TRANSFER)))
    tried = drawn_in(target, attempt, tried)
    far = distance(tried, images)
    gained = target.lost(tried, attempt.labels) & (far < nearest)
    return torch.where(_like(gained, best), tried, best), torch.where(gained, far, nearest)


def _like(values: Tensor, images: Tensor) -> Tensor:
    """A number for each image, shaped so that it applies to all of its pixels."""
    return values.view(-1, *[1] * (images.dim() - 1))
