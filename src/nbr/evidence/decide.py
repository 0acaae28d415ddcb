"""One probability for each label, where a decision needs it."""

import torch
from torch import Tensor

from nbr.evidence import checks


def pignistic(mass: Tensor) -> Tensor:
    """The pignistic transform, each mass shared equally among its labels: P(x) = sum of m(A) / |A| over A with x,
    over 1 - m(empty).

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Probabilities of the labels, shape (..., L).

    >>> pignistic(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64))
    tensor([0.6500, 0.3500], dtype=torch.float64)
    """
    members = _members(mass)
    return _shares(mass @ (members / members.sum(-1, keepdim=True).clamp(min=1)))


def plausibility_transform(mass: Tensor) -> Tensor:
    """The plausibility transform: P(x) = Pl({x}) / sum of Pl({y}) over all labels y.

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Probabilities of the labels, shape (..., L).

    >>> plausibility_transform(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64))
    tensor([0.6154, 0.3846], dtype=torch.float64)
    """
    return _shares(mass @ _members(mass))


def _members(mass: Tensor) -> Tensor:
    """Which label is in which subset: (2^L, L) of zeros and ones."""
    labels = checks.mass(mass)
    subsets = torch.arange(1 << labels, device=mass.device)
    return (subsets[:, None] >> torch.arange(labels, device=mass.device) & 1).to(mass.dtype)


def _shares(scores: Tensor) -> Tensor:
    total = scores.sum(-1, keepdim=True)
    checks.refuse(total.squeeze(-1) <= 0, "total conflict: all mass is on the empty set")
    return scores / total
