"""Simple mass functions to start from: what one source of evidence says."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nbr.evidence import checks

Subsets = int | Sequence[int] | Tensor
Numbers = float | Sequence[float] | Tensor


def vacuous(labels: int, like: Tensor | None = None) -> Tensor:
    """The mass function of complete ignorance: all mass on the frame.

    Args:
        labels: The number L of labels.
        like: A tensor whose dtype and device to use; float64 by default.

    Returns:
        A mass function, shape (2^L,).

    >>> vacuous(2)
    tensor([0., 0., 0., 1.], dtype=torch.float64)
    """
    return simple_support((1 << labels) - 1, numbers(1.0) if like is None else like.new_ones(()), labels)


def categorical(subset: Subsets, labels: int) -> Tensor:
    """Know that the truth is in a set, and nothing else: all mass on it.

    >>> categorical(0b01, labels=2)
    tensor([0., 1., 0., 0.], dtype=torch.float64)
    """
    return simple_support(subset, 1.0, labels)


def simple_support(subset: Subsets, weight: Numbers, labels: int) -> Tensor:
    """Support one set with a weight s: m(A) = s, m(frame) = 1 - s.

    Subsets and weights broadcast, so that many sources are made at once.

    >>> simple_support(0b01, 0.75, labels=2)
    tensor([0.0000, 0.7500, 0.0000, 0.2500], dtype=torch.float64)
    >>> simple_support([0b01, 0b10], [0.75, 0.5], labels=2)
    tensor([[0.0000, 0.7500, 0.0000, 0.2500],
            [0.0000, 0.0000, 0.5000, 0.5000]], dtype=torch.float64)
    """
    weight = numbers(weight)
    checks.fraction(weight, "weight of support")
    chosen = bitmasks(subset, labels, weight)[..., None] == torch.arange(1 << labels, device=weight.device)
    on_subset = chosen * weight[..., None]
    return on_subset + torch.nn.functional.pad(1 - weight[..., None], ((1 << labels) - 1, 0))


def bitmasks(subsets: Subsets, labels: int, like: Tensor) -> Tensor:
    """Check subsets and bring them to the device of `like`."""
    subsets = torch.as_tensor(subsets, device=like.device)
    checks.subset(subsets, labels)
    return subsets


def numbers(values: Numbers) -> Tensor:
    """Keep a floating point tensor as it is; other numbers become float64."""
    if isinstance(values, Tensor) and values.is_floating_point():
        return values
    return torch.as_tensor(values, dtype=torch.float64)
