"""Changes to one mass function: news about the truth, or about the source."""

import torch
from torch import Tensor

from nbr.evidence import checks
from nbr.evidence.sources import Numbers, Subsets, bitmasks, numbers, vacuous


def condition(mass: Tensor, subset: Subsets) -> Tensor:
    """Dempster's conditioning: `restrict` to a set that contains the truth, then `normalise`.

    Args:
        mass: Mass functions, shape (..., 2^L).
        subset: The bitmask of the set, or bitmasks that broadcast with the batch.

    Returns:
        Mass functions, shape (..., 2^L).

    >>> condition(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64), 0b01)
    tensor([0., 1., 0., 0.], dtype=torch.float64)
    """
    return _normalised(restrict(mass, subset))


def restrict(mass: Tensor, subset: Subsets) -> Tensor:
    """Unnormalised conditioning: m(B) becomes the sum of m(C) over C and A = B, where A contains the truth.

    Mass that contradicts A goes to the empty set.

    Args:
        mass: Mass functions, shape (..., 2^L).
        subset: The bitmask of A, or bitmasks that broadcast with the batch.

    Returns:
        Mass functions, shape (..., 2^L).

    >>> restrict(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64), 0b01)
    tensor([0.2000, 0.8000, 0.0000, 0.0000], dtype=torch.float64)
    """
    inside = bitmasks(subset, checks.mass(mass), mass)
    target = torch.arange(mass.shape[-1], device=mass.device) & inside[..., None]
    shape = torch.broadcast_shapes(target.shape, mass.shape)
    return mass.new_zeros(shape).scatter_add(-1, target.expand(shape), mass.expand(shape))


def normalise(mass: Tensor) -> Tensor:
    """Remove the conflict: m(empty) = 0, and the other masses are divided by 1 - m(empty).

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Mass functions, shape (..., 2^L).

    >>> normalise(torch.tensor([0.2, 0.8, 0.0, 0.0], dtype=torch.float64))
    tensor([0., 1., 0., 0.], dtype=torch.float64)
    """
    checks.mass(mass)
    return _normalised(mass)


def discount(mass: Tensor, reliability: Numbers) -> Tensor:
    """Discount a source: its masses are multiplied by its reliability r, and 1 - r goes to the frame.

    Args:
        mass: Mass functions, shape (..., 2^L).
        reliability: Reliabilities from 0 to 1, which broadcast with the batch; 0 leaves the vacuous mass function.

    Returns:
        Mass functions, shape (..., 2^L).

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
