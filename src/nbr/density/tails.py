"""How heavy the tail of weights is: whether the largest of them let an average, and its error, be trusted.

The largest weights are held against a generalised Pareto distribution, whose shape k says how many moments there are:
above 1/2 the variance is not finite, and above 0.7 averages of any affordable number of draws are off by more than
their errors say (Vehtari, Simpson, Gelman, Yao and Gabry 2024).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

TRUSTED = 0.7  # a shape up to which averages are believed
LEAST = 5  # weights in a tail


def tail_size(count: int) -> int:
    """How many of so many weights are looked at."""
    return min(count // 5, math.ceil(3 * math.sqrt(count)))


def shape(log_weights: Tensor, count: int) -> float:
    """k of the tail of weights, of which at least the largest are given, out of `count` in all.

    >>> uniform = (torch.arange(4000) + 0.5) / 4000
    >>> [round(shape(-k * uniform.log(), 4000), 1) for k in (0.2, 0.5, 1.0)]
    [0.2, 0.5, 1.0]
    """
    size = tail_size(count)
    if size < LEAST or len(log_weights) <= size:
        return math.inf
    top = log_weights.double().topk(size + 1).values
    if not top[-1] > -math.inf:
        return math.inf  # fewer draws count at all than belong to the tail
    above = (top[:-1] - top[0]).exp() - (top[-1] - top[0]).exp()
    above = above[above > 0].flip(0)  # many weights may be equal; the largest ones then have no tail
    return _fitted(above) if len(above) >= LEAST else -math.inf


def _fitted(above: Tensor) -> float:
    """The shape by Zhang and Stephens (2009), from values above a threshold in ascending order."""
    count = len(above)
    grid = 30 + int(math.sqrt(count))
    steps = torch.arange(1, grid + 1, dtype=torch.float64)
    quarter = above[int(count / 4 + 0.5) - 1]
    scales = 1 / above[-1] + (1 - (grid / (steps - 0.5)).sqrt()) / (3 * quarter)
    shapes = torch.log1p(-scales[:, None] * above).mean(dim=1)
    likelihood = count * ((-scales / shapes).log() - shapes - 1)
    weights = torch.softmax(likelihood.nan_to_num(nan=-math.inf), dim=0)
    scale = (scales * weights).sum()
    found = float(torch.log1p(-scale * above).mean())
    return (found * count + 5) / (count + 10)  # as if ten more were seen of shape 1/2
