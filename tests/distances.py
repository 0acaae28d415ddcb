"""Models whose distance to the boundary is known exactly, for validating attacks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nbr.robustness.protocol import Subject, nearest_others
from nbr.robustness.target import Target

SIZE = 12
STEPS = {"PGD": (20,), "DDN": (50,), "margin": (20,)}


class Linear(nn.Module):
    """Two logits whose difference is w.x + b."""

    def __init__(self, sharpness: float = 1.0) -> None:
        super().__init__()
        self.weight = torch.randn(SIZE, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        self.sharpness = sharpness

    def signed(self, inputs: Tensor) -> Tensor:
        """The distance to the boundary, with the sign of the label."""
        return (inputs.flatten(1) - 0.5) @ self.weight / self.weight.norm()

    def forward(self, inputs: Tensor) -> Tensor:
        margin = self.sharpness * self.signed(inputs)
        return torch.stack([-margin, margin], dim=1)


class Nearest(nn.Module):
    """One example of the first label, several of the second: the nearest one decides."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        self.own = torch.full((1, SIZE), 0.5, dtype=torch.float64)
        away = torch.randn(5, SIZE, generator=generator, dtype=torch.float64)
        self.others = self.own + 0.8 * away / away.norm(dim=1, keepdim=True)

    def exact(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The distance to the nearest of the planes half way between the examples, and the example behind it."""
        x = inputs.flatten(1)
        gaps = torch.cdist(x, self.others) ** 2 - torch.cdist(x, self.own) ** 2
        found = (gaps / (2 * torch.cdist(self.own, self.others))).min(dim=1)
        return found.values, found.indices

    def forward(self, inputs: Tensor) -> Tensor:
        x = inputs.flatten(1)
        return -torch.stack([torch.cdist(x, self.own)[:, 0], torch.cdist(x, self.others).amin(dim=1)], dim=1)


class Masked(Linear):
    """The same decisions as the linear model, but flat nearly everywhere: sigmoids saturated in float64."""

    def forward(self, inputs: Tensor) -> Tensor:
        chance = torch.sigmoid(300 * self.signed(inputs))
        return torch.stack([1 - chance, chance], dim=1)


def subject(count: int = 60) -> Subject:
    """Inputs of the linear model, their labels and nine tenths of their distances as what is proved."""
    model, generator = Linear(), torch.Generator().manual_seed(5)
    images = 0.5 + 0.15 * torch.randn(count, SIZE, generator=generator, dtype=torch.float64)
    images = images.clamp(0, 1)
    signed = model.signed(images)
    labels = (signed > 0).long()
    labels[:3] = 1 - labels[:3]  # three that are wrong from the start
    target = Target(model)
    return Subject(target, images, labels, 0.9 * signed.abs(), nearest_others(images, labels, images, labels, target))
