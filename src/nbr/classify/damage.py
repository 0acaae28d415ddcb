"""Damage that happens to pictures: what a classifier learns its doubt from, and is measured against.

Each kind takes pictures (n, height, width) or (n, height, width, channels) with values from 0 to 1, how far each is
damaged, from 0, not at all, to 1 (n,), and a source of random numbers. Lengths are shares of the longer side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from nbr.classify.augment import warped

Kind = Callable[[Tensor, Tensor, torch.Generator], Tensor]
NOISE = 0.6  # standard deviation
BLUR = 0.14  # standard deviation of the Gaussian
COVER = 0.75  # side of the square
TURN = math.pi / 2
SHIFT = 0.35
FADE = 0.95  # of the contrast
WHOLE = 7 / 8  # share of strengths that are less than 1
SPECKS = 0.6  # share of pixels that become black or white


def noise(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Gaussian noise on every pixel, cut off at black and white."""
    drawn = torch.randn(pictures.shape, generator=source, dtype=pictures.dtype)
    return (pictures + NOISE * _beside(strength, pictures) * drawn).clamp(0, 1)


def blur(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Gaussian blur."""
    return smoothed(pictures, BLUR * strength)


def cover(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """A square of one shade somewhere on the picture, all of it inside where it fits."""
    count, height, width, *_ = pictures.shape
    side = (COVER * max(height, width) * strength).round()
    shade = torch.rand(count, generator=source).to(pictures.dtype)
    hidden = torch.ones(count, height, width, dtype=torch.bool)
    for axis, size in ((1, height), (2, width)):
        start = (torch.rand(count, generator=source) * (size - side + 1).clamp(min=1)).floor()
        place = torch.arange(size)[None]
        inside = (place >= start[:, None]) & (place < (start + side)[:, None])
        hidden &= inside[:, :, None] if axis == 1 else inside[:, None, :]
    return torch.where(_like(hidden, pictures), _beside(shade, pictures), pictures)


def turn(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Turned about the middle, one way or the other."""
    angle = TURN * strength * _signs(len(pictures), source)
    cosine, sine, none = angle.cos(), angle.sin(), torch.zeros_like(angle)
    return _moved(pictures, [[cosine, -sine, none], [sine, cosine, none]])


def shift(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Moved in a random direction; what comes in is black."""
    angle = 2 * math.pi * torch.rand(len(pictures), generator=source)
    one, none = torch.ones_like(angle), torch.zeros_like(angle)
    far = 2 * SHIFT * strength
    return _moved(pictures, [[one, none, far * angle.cos()], [none, one, far * angle.sin()]])


def fade(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Less contrast, towards a shade of grey."""
    left = _beside(1 - FADE * strength, pictures)
    shade = _beside(torch.rand(len(pictures), generator=source), pictures)
    return (left * pictures + (1 - left) * shade).clamp(0, 1)


def specks(pictures: Tensor, strength: Tensor, source: torch.Generator) -> Tensor:
    """Pixels here and there that are black or white."""
    drawn = torch.rand(pictures.shape[:3], generator=source, dtype=pictures.dtype)
    share = SPECKS * strength.to(pictures.dtype)[:, None, None]
    hit, white = _like(drawn < share, pictures), _like(drawn < share / 2, pictures)
    return torch.where(hit, white.to(pictures.dtype), pictures)


KINDS: Mapping[str, Kind] = {each.__name__: each for each in (noise, blur, cover, turn, shift, fade, specks)}


def damaged(pictures: Tensor, source: torch.Generator) -> Tensor:
    """Each picture damaged in one way at random, by a random strength, one in eight by all of it."""
    names = list(KINDS)
    which = torch.randint(len(names), (len(pictures),), generator=source)
    strength = (torch.rand(len(pictures), generator=source) / WHOLE).clamp(max=1)
    found = pictures.clone()
    for number, name in enumerate(names):
        mine = which == number
        if bool(mine.any()):
            found[mine] = KINDS[name](pictures[mine], strength[mine], source)
    return found


def smoothed(pictures: Tensor, reach: Tensor) -> Tensor:
    """Pictures blurred by a Gaussian of a standard deviation each: a matrix over rows and one over columns."""
    _, height, width, *_ = pictures.shape
    far = max(height, width) * reach.to(pictures.dtype)
    down, across = _smoothing(height, far), _smoothing(width, far)
    return torch.einsum("nab,nbc...,ndc->nad...", down, pictures, across).clamp(0, 1)


def _beside(values: Tensor, pictures: Tensor) -> Tensor:
    """One value for each picture, to be combined with its pixels."""
    return values.to(pictures.dtype).view(-1, *[1] * (pictures.dim() - 1))


def _like(mask: Tensor, pictures: Tensor) -> Tensor:
    """A mask of pixels, for all channels."""
    return mask if pictures.dim() == 3 else mask[..., None]


def _signs(count: int, source: torch.Generator) -> Tensor:
    return 2.0 * torch.randint(2, (count,), generator=source) - 1


def _moved(pictures: Tensor, maps: list[list[Tensor]]) -> Tensor:
    rows = torch.stack([torch.stack(row, 1) for row in maps], 1)
    return warped(pictures, rows.to(pictures.dtype)).clamp(0, 1)


def _smoothing(size: int, reach: Tensor) -> Tensor:
    """Gaussian weights of every place for every other, which add up to 1: (n, size, size)."""
    place = torch.arange(size, dtype=reach.dtype)
    away = (place[:, None] - place).square()
    weights = (-away / (2 * reach.clamp(min=0.05)[:, None, None].square())).exp()
    return weights / weights.sum(dim=2, keepdim=True)
