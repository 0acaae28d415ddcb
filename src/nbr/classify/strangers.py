"""Pictures that show nothing that a classifier knows, made from those that it was trained on, and from chance.

None of them has a label, so nothing that is said of them is right: jigsaws, two halves, two pictures at once, smooth
and rough noise, patches of two shades, patches with shades and patterns of their own, bare shades and ramps.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from nbr.classify.damage import smoothed

WAYS = 8


def strangers(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """One for each picture (n, height, width[, channels]) and another of another label beside it."""
    which = torch.randint(WAYS, (len(pictures),), generator=source)
    found = pictures.clone()
    for number, way in enumerate((_jigsaw, _halves, _both, _rough, _smooth, _patches, _things, _ramp)):
        mine = which == number
        if bool(mine.any()):
            found[mine] = way(pictures[mine], others[mine], source).to(pictures.dtype)
    return found.clamp(0, 1)


def _jigsaw(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """Cut into pieces that are put together otherwise, the same ones nowhere; now and then turned about."""
    _, height, width, *_ = pictures.shape
    pieces = 2 + int(torch.randint(2, (), generator=source))
    tall, wide = height // pieces, width // pieces
    order = torch.randperm(pieces * pieces, generator=source).roll(1).tolist()
    found = torch.zeros_like(pictures)
    for place, taken in enumerate(order):
        (down, across), (high, left) = divmod(place, pieces), divmod(taken, pieces)
        piece = pictures[:, high * tall : (high + 1) * tall, left * wide : (left + 1) * wide]
        found[:, down * tall : (down + 1) * tall, across * wide : (across + 1) * wide] = piece
    return found


def _halves(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    _, height, width, *_ = pictures.shape
    found = pictures.clone()
    upper = torch.rand(len(pictures), generator=source) < 0.5
    found[upper, height // 2 :] = others[upper, height // 2 :]
    found[~upper, :, width // 2 :] = others[~upper, :, width // 2 :]
    return found


def _both(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    lighter = torch.rand(len(pictures), generator=source) < 0.5
    return torch.where(
        lighter.view(-1, *[1] * (pictures.dim() - 1)), torch.maximum(pictures, others), (pictures + others) / 2
    )


def _rough(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """Pixels of their own each: with all shades, or black and white with some share of white."""
    drawn = torch.rand(pictures.shape, generator=source)
    share = _each(torch.rand(len(pictures), generator=source), pictures)
    crisp = _each(torch.rand(len(pictures), generator=source), pictures) < 0.5
    return torch.where(crisp, (drawn < share).float(), drawn)


def _smooth(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """Clouds: noise that is blurred, stretched to its full range."""
    drawn = torch.rand(pictures.shape, generator=source)
    found = smoothed(drawn, 0.02 + 0.1 * torch.rand(len(pictures), generator=source))
    low, high = found.flatten(1).amin(dim=1), found.flatten(1).amax(dim=1)
    return (found - _each(low, found)) / _each((high - low).clamp(min=1e-6), found)


def _patches(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """Clouds with two shades: the lightest part of each, as large as what is light in a picture or so."""
    found = _smooth(pictures, others, source)
    share = (pictures.flatten(1).mean(dim=1) * (0.5 + torch.rand(len(pictures), generator=source))).clamp(0.02, 0.98)
    ranked = found.flatten(1).argsort(dim=1).argsort(dim=1).view(found.shape).float() / found[0].numel()
    return (ranked > 1 - _each(share, found)).float()


def _things(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """A large patch on black, alike on both sides or not, that has shades and now and then stripes of its own."""
    count, height, width, *_ = pictures.shape
    shape = (
        _smooth(pictures, others, source).flatten(3).mean(dim=3)
        if pictures.dim() == 4
        else _smooth(pictures, others, source)
    )
    even = torch.rand(count, generator=source)[:, None, None] < 0.6
    shape = torch.where(even, (shape + shape.flip(2)) / 2, shape)
    down, across = torch.linspace(-1, 1, height)[:, None], torch.linspace(-1, 1, width)
    shape = shape - 0.3 * (down.square() + across.square())  # towards the middle
    share = 0.15 + 0.55 * torch.rand(count, generator=source)
    ranked = shape.flatten(1).argsort(dim=1).argsort(dim=1).view(shape.shape).float() / (height * width)
    inside = (ranked > 1 - share[:, None, None]).to(pictures.dtype)
    inside = inside[..., None].expand(pictures.shape) if pictures.dim() == 4 else inside
    shade = _each(0.3 + 0.7 * torch.rand(count, generator=source), inside)
    rough = _smooth(pictures, others, source) * _each(0.8 * torch.rand(count, generator=source), inside)
    pace = _each(2 + 10 * torch.rand(count, generator=source), shape)
    waves = 0.5 + 0.5 * (pace * torch.where(even, down, across)).sin()
    waves = waves[..., None].expand(pictures.shape) if pictures.dim() == 4 else waves
    striped = _each(torch.rand(count, generator=source), inside) < 0.3
    return inside * shade * (1 - rough) * torch.where(striped, waves, 1.0)


def _ramp(pictures: Tensor, others: Tensor, source: torch.Generator) -> Tensor:
    """One shade, or from one to another across the picture."""
    count, height, width, *_ = pictures.shape
    first, second = torch.rand(2, count, generator=source)
    second = torch.where(torch.rand(count, generator=source) < 0.5, first, second)
    angle = 2 * math.pi * torch.rand(count, generator=source)
    down, across = torch.linspace(-1, 1, height), torch.linspace(-1, 1, width)
    along = angle.cos()[:, None, None] * down[:, None] + angle.sin()[:, None, None] * across
    place = ((along + 1.4143) / 2.8285).clamp(0, 1)
    if pictures.dim() == 4:
        place = place[..., None].expand(pictures.shape)
    return _each(first, place) + _each(second - first, place) * place


def _each(values: Tensor, pictures: Tensor) -> Tensor:
    return values.view(-1, *[1] * (pictures.dim() - 1))
