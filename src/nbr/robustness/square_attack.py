"""An attack that sees scores only: random squares that lower the margin are kept (Andriushchenko and others, 2020)."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from nbr.robustness.base import Attack, Attempt
from nbr.robustness.target import Target, distance


class Square(Attack):
    """Changes a random square of the picture, or a random run of a vector, inside the ball of radius epsilon."""

    name, knows = "Square", "scores"
    stages: ClassVar = {"quick": (100, 300), "paper": (100, 300, 5000)}

    def propose(self, target: Target, attempt: Attempt, steps: int) -> Tensor:
        images, generator = attempt.images, torch.Generator().manual_seed(attempt.seed)
        height, width, channels = (*((1,) if images.dim() == 2 else ()), *images.shape[1:], 1)[:3]
        pictures = images.reshape(len(images), height, width, channels)
        start = torch.randn(images.shape, generator=generator, dtype=images.dtype)
        best = self._project(target, images, images + start, attempt.epsilon)
        with torch.no_grad():
            margin = target.margin(best, attempt.labels)
            for step in range(steps):
                side = max(1, round(max(height, width) * 0.5 * (1 - step / steps)))
                tall, wide = min(side, height), min(side, width)
                top = int(torch.randint(height - tall + 1, (1,), generator=generator))
                left = int(torch.randint(width - wide + 1, (1,), generator=generator))
                change = torch.zeros_like(pictures)
                patch = torch.randn((len(images), tall, wide, channels), generator=generator, dtype=images.dtype)
                change[:, top : top + tall, left : left + wide] = patch
                change = change / change.flatten(1).norm(dim=1).view(-1, 1, 1, 1).clamp(min=1e-12)
                tried = best + attempt.epsilon * (1 - step / steps) * change.view(images.shape)
                tried = self._project(target, images, tried, attempt.epsilon)
                now = target.margin(tried, attempt.labels)
                better = now < margin
                margin = torch.where(better, now, margin)
                best = torch.where(better.view(-1, *[1] * (images.dim() - 1)), tried, best)
        return best

    @staticmethod
    def _project(target: Target, images: Tensor, tried: Tensor, epsilon: float) -> Tensor:
        """Into the box, then into the ball."""
        tried = target.clip(tried)
        share = (epsilon / distance(tried, images).clamp(min=1e-12)).clamp(max=1)
        return images + (tried - images) * share.view(-1, *[1] * (images.dim() - 1))
