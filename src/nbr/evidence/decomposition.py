"""The canonical decomposition: a mass function as a combination of simple ones.

Every mass function with m(frame) > 0 is the conjunctive combination of generalised simple support functions,
one for each set A except the frame, with mass 1 - w(A) on A and w(A) on the frame (Smets 1995). Independent
evidence multiplies these weights; w(A) > 1 is a debt of belief in A.
"""

import torch
from torch import Tensor

from nbr.evidence import checks, transforms


def log_weights(mass: Tensor) -> Tensor:
    """The logarithms of the weights of evidence: log w(A) = - sum of (-1)^|B - A| log q(B) over B superset of A; 0
    for the frame.

    Minus this is Shafer's weight of evidence, which is additive over independent sources.

    Args:
        mass: Mass functions, shape (..., 2^L); none may be dogmatic.

    Returns:
        Log weights, shape (..., 2^L).

    >>> log_weights(torch.tensor([0.0, 0.75, 0.0, 0.25], dtype=torch.float64))[0b01]
    tensor(-1.3863, dtype=torch.float64)
    """
    checks.mass(mass)
    checks.refuse(
        mass[..., -1] <= 0,
        "the mass is dogmatic: with m(frame) = 0 it has no weights of evidence; discount() it first",
    )
    table = -transforms.moebius_supersets(transforms.zeta_supersets(mass).log())
    return torch.cat((table[..., :-1], torch.zeros_like(table[..., -1:])), -1)


def weights(mass: Tensor) -> Tensor:
    """The weights w(A) of the canonical decomposition; 1 for the frame.

    Args:
        mass: Mass functions, shape (..., 2^L); none may be dogmatic.

    Returns:
        Weights, shape (..., 2^L).

    >>> weights(torch.tensor([0.0, 0.75, 0.0, 0.25], dtype=torch.float64))
    tensor([1.0000, 0.2500, 1.0000, 1.0000], dtype=torch.float64)
    """
    return log_weights(mass).exp()


def from_log_weights(table: Tensor) -> Tensor:
    """The mass function with given log weights: log q(B) = sum of log w(A) over A not superset of B.

    Args:
        table: Log weights, shape (..., 2^L); the entry of the frame is ignored.

    Returns:
        Mass functions, shape (..., 2^L).

    >>> from_log_weights(torch.tensor([1.0, 0.25, 1.0, 1.0], dtype=torch.float64).log())
    tensor([0.0000, 0.7500, 0.0000, 0.2500], dtype=torch.float64)
    """
    log_commonality = table.sum(-1, keepdim=True) - transforms.zeta_supersets(table)
    return transforms.from_commonality(log_commonality.exp())
