"""Changes to one mass function: news about the truth, or about the source."""

import torch
from torch import Tensor

from nbr.evidence import checks
from nbr.evidence.sources import Numbers, Subsets, bitmasks, numbers, vacuous


def condition(mass: Tensor, subset: Subsets) -> Tensor:
    """Learn that the truth is in a set (Dempster's conditioning): `restrict`, then `normalise`.

    >>> condition(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64), 0b01)
    tensor([0., 1., 0., 0.], dtype=torch.float64)
    """
    return _normalised(restrict(mass, subset))


def restrict(mass: Tensor, subset: Subsets) -> Tensor:
    """Move each mass into the part of its set inside A: m(B) becomes the sum of m(C) over C and A = B.

    What contradicts A goes to the empty set. Subsets broadcast with the batch.

    >>> restrict(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64), 0b01)
    tensor([0.2000, 0.8000, 0.0000, 0.0000], dtype=torch.float64)
    """
    inside = bitmasks(subset, checks.mass(mass), mass)
    target = torch.arange(mass.shape[-1], device=mass.device) & inside[..., None]
    shape = torch.broadcast_shapes(target.shape, mass.shape)
    return mass.new_zeros(shape).scatter_add(-1, target.expand(shape), mass.expand(shape))


def normalise(mass: Tensor) -> Tensor:
    """Drop the conflict: m(empty) = 0, the rest divided by 1 - m(empty).

    >>> normalise(torch.tensor([0.2, 0.8, 0.0, 0.0], dtype=torch.float64))
    tensor([0., 1., 0., 0.], dtype=torch.float64)
    """
    checks.mass(mass)
    return _normalised(mass)


def discount(mass: Tensor, reliability: Numbers) -> Tensor:
    """Trust a source only so far: r m(A), and 1 - r more on the frame.

    Reliabilities broadcast with the batch; 1 changes nothing, 0 leaves the vacuous mass.

    >>> discount(torch.tensor([0.0, 1.0, 0.0, 0.0], dtype=torch.float64), 0.75)
    tensor([0.0000, 0.7500, 0.0000, 0.2500], dtype=torch.float64)
    """
    labels = checks.mass(mass)
    reliability = numbers(reliability).to(mass)[..., None]
    checks.fraction(reliability, "reliability")
    return reliability * mass + (1 - reliability) * vacuous(labels, like=mass)


def _normalised(mass: Tensor) -> Tensor:
    kept = torch.nn.functional.pad(mass[..., 1:], (1, 0))
    total = kept.sum(-1, keepdim=True)
    checks.refuse(total.squeeze(-1) <= 0, "total conflict: all mass is on the empty set")
    return kept / total
