"""Wong and Kolter's bound (2018): how far a box around each image can lower one logit below another.

Each unit that may be off or on is replaced by two lines, one above and one below it. They have the same slope, so that
what a row of a layer sees of the image is one linear function, whatever the sign; what the lines are apart is a
constant. Bounds of a layer follow from those of the layers before it. The first three layers are two convolutions and
a dense one, as in `rivals.Small`; a unit of the second sees a small patch of the image, and only that is multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, conv_transpose2d, pad, unfold


@dataclass(frozen=True)
class Relaxed:
    """Units between two lines: slope z and slope z + gap."""

    slope: Tensor
    gap: Tensor

    @classmethod
    def of(cls, low: Tensor, high: Tensor) -> Relaxed:
        slope = high.clamp(min=0) / (high.clamp(min=0) - low.clamp(max=0)).clamp(min=1e-12)
        return cls(slope, -slope * low.clamp(max=0) * (high > 0))


def lowest_leads(network: nn.Sequential, low: Tensor, high: Tensor, labels: Tensor) -> Tensor:
    """For pictures in boxes, how far their label's logit stays above each other one at the least: (n, labels - 1)."""
    first, second, third, last = (layer for layer in network if isinstance(layer, nn.Conv2d | nn.Linear))
    assert isinstance(first, nn.Conv2d)
    assert isinstance(second, nn.Conv2d)
    assert isinstance(third, nn.Linear)
    assert isinstance(last, nn.Linear)
    centre, spread = ((low + high) / 2)[:, None], ((high - low) / 2)[:, None]
    middle = first(centre)
    reach = conv2d(spread, first.weight.abs(), None, first.stride, first.padding)
    one = Relaxed.of(middle - reach, middle + reach)
    two = Relaxed.of(*_second(first, second, middle, spread, one))
    before = _Before(first, second, middle, spread, one, two)
    three = Relaxed.of(*before.bounds(third.weight[None].expand(len(labels), -1, -1), third.bias))
    wanted = _against(labels, last)
    leads = wanted @ last.weight
    rows = leads * three.slope[:, None]
    fixed = wanted @ last.bias + (leads.clamp(max=0) * three.gap[:, None]).sum(dim=2) + rows @ third.bias
    return before.bounds(rows @ third.weight, fixed)[0]


def _second(first: nn.Conv2d, second: nn.Conv2d, middle: Tensor, spread: Tensor, one: Relaxed) -> tuple[Tensor, Tensor]:
    """The bounds of the second convolution, from what each unit sees of its patch."""
    straight = second(one.slope * middle)
    down, up = (
        conv2d(one.gap, second.weight.clamp(**ends), None, second.stride, second.padding)
        for ends in ({"max": 0.0}, {"min": 0.0})
    )
    patch, start, stride = _patches(first, second)
    slopes = unfold(one.slope, second.kernel_size, padding=_padding(second), stride=second.stride)
    lengths = pad(spread, (start, start, start, start))
    seen = unfold(lengths, patch.shape[1], stride=stride)[..., : slopes.shape[2]]
    weights = second.weight.flatten(1)
    sights = (slopes.transpose(1, 2)[:, :, None] * weights) @ patch.flatten(1)  # (n, places, channels, pixels)
    reach = (sights.abs() * seen.transpose(1, 2)[:, :, None]).sum(dim=3).transpose(1, 2).view_as(straight)
    return straight - reach + down, straight + reach + up


def _patches(first: nn.Conv2d, second: nn.Conv2d) -> tuple[Tensor, int, int]:
    """What the units that a unit of the second layer sees make of its patch, where patches start, and their stride."""
    channels, size, step = first.weight.shape[0], second.kernel_size[0], first.stride[0]
    one = torch.eye(channels * size * size, dtype=first.weight.dtype).view(-1, channels, size, size)
    found = conv_transpose2d(one, first.weight, stride=step)[:, 0]
    return found, _padding(first)[0] + step * _padding(second)[0], step * second.stride[0]


@dataclass(frozen=True)
class _Before:
    """What all rows that read the second layer have in common."""

    first: nn.Conv2d
    second: nn.Conv2d
    middle: Tensor
    spread: Tensor
    one: Relaxed
    two: Relaxed

    def bounds(self, rows: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """The least and the most of bias + rows (n, rows, units) times the units of the second layer."""
        first, second, (count, many) = self.first, self.second, rows.shape[:2]
        units = (rows * self.two.slope.flatten(1)[:, None]).view(count * many, *self.two.slope.shape[1:])
        back = _transposed(second, units)
        sloped = (back.view(count, many, -1) * self.one.slope.flatten(1)[:, None]).view_as(back)
        sights = _transposed(first, sloped)
        reach = _summed(sights.abs(), self.spread)
        assert second.bias is not None
        straight = bias + units.flatten(2).sum(dim=2).view(count, many, -1) @ second.bias + _summed(sloped, self.middle)
        apart = [
            _summed(part(rows), self.two.gap) + _summed(part(back), self.one.gap) for part in (_negative, torch.relu)
        ]
        return straight - reach + apart[0], straight + reach + apart[1]


def _padding(layer: nn.Conv2d) -> tuple[int, ...]:
    return tuple(int(size) for size in layer.padding)


def _transposed(layer: nn.Conv2d, values: Tensor) -> Tensor:
    return conv_transpose2d(values, layer.weight, None, layer.stride, _padding(layer))


def _summed(rows: Tensor, values: Tensor) -> Tensor:
    """The inner products of rows, some for each image, with what the image has: (n, rows)."""
    return (rows.reshape(len(values), -1, values[0].numel()) @ values.flatten(1)[:, :, None])[:, :, 0]


def _negative(values: Tensor) -> Tensor:
    return values.clamp(max=0)


def _against(labels: Tensor, last: nn.Linear) -> Tensor:
    """The label's logit minus each other one: (n, labels - 1, labels)."""
    size = last.out_features
    unit = torch.eye(size, dtype=last.weight.dtype)
    others = torch.stack([torch.cat([unit[:at], unit[at + 1 :]]) for at in range(size)])
    return unit[labels][:, None] - others[labels]
