"""Small changes of pictures that leave their labels alone: shifts, turns, slants and sizes."""

from __future__ import annotations

import math

import torch
from torch import Tensor

TURN, SIZE, SLANT, SHIFT = math.radians(10), 0.1, 0.1, 1.5 / 14  # at strength 1; SHIFT in halves of the picture


def random_maps(count: int, strength: float, generator: torch.Generator) -> Tensor:
    """Random affine maps near the identity, one for each of so many pictures: (count, 2, 3)."""

    def draw(most: float, *shape: int) -> Tensor:
        return (torch.rand(count, *shape, generator=generator) * 2 - 1) * most * strength

    angle, size, slant, shift = draw(TURN), 1 + draw(SIZE), draw(SLANT), draw(SHIFT, 2)
    cosine, sine = size * angle.cos(), size * angle.sin()
    rows = [torch.stack([cosine, slant - sine, shift[:, 0]], 1), torch.stack([sine, cosine, shift[:, 1]], 1)]
    return torch.stack(rows, 1)


def warped(pictures: Tensor, maps: Tensor) -> Tensor:
    """Each picture (n, height, width), or (n, height, width, channels), under its own affine map."""
    layers = pictures[:, None] if pictures.dim() == 3 else pictures.permute(0, 3, 1, 2)
    grid = torch.nn.functional.affine_grid(maps, list(layers.shape), align_corners=False)
    moved = torch.nn.functional.grid_sample(layers, grid.to(pictures.dtype), align_corners=False)
    return moved[:, 0] if pictures.dim() == 3 else moved.permute(0, 2, 3, 1)
