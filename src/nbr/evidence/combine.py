"""Rules that combine the evidence of several sources.

Each takes one tensor with the sources stacked along `dim`; two masses are combined by
`dempster(torch.stack([first, second]))`.
"""

import math

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.evidence import checks, decomposition, transforms
from nbr.evidence.product import scaled_product
from nbr.evidence.sources import Numbers, Subsets, bitmasks, numbers, simple_support


def conjunctive(masses: Tensor, dim: int = -2) -> Tensor:
    """The unnormalised conjunctive rule, for reliable sources: m(A) = sum of m1(B) m2(C) over B and C = A; q = q1 q2.

    m(empty) is the conflict.

    Args:
        masses: Mass functions, with the sources along `dim` and the 2^L subsets last, such as (..., sources, 2^L).
        dim: The dimension of the sources.

    Returns:
        One mass function, shape (..., 2^L).

    >>> conjunctive(simple_support([0b01, 0b10], 0.5, labels=2))
    tensor([0.2500, 0.2500, 0.2500, 0.2500], dtype=torch.float64)
    """
    table = transforms.zeta_supersets(checks.stacked(masses, dim)).prod(-2)
    return transforms.without_rounding(transforms.moebius_supersets(table))


def dempster(masses: Tensor, dim: int = -2) -> Tensor:
    """Dempster's rule, for reliable sources: the conjunctive rule, divided by 1 - conflict.

    Thousands of sources do not underflow, however much they conflict.

    Args:
        masses: Mass functions, shape (..., sources, 2^L).
        dim: The dimension of the sources.

    Returns:
        One mass function, shape (..., 2^L).

    >>> dempster(simple_support([0b01, 0b10], 0.5, labels=2))
    tensor([0.0000, 0.3333, 0.3333, 0.3333], dtype=torch.float64)
    """
    masses = checks.stacked(masses, dim)
    value, exponent = scaled_product(transforms.zeta_supersets(masses))
    reference = _singletons(exponent.where(value > 0, -torch.inf)).amax(-1, keepdim=True)
    checks.refuse(
        reference.squeeze(-1) == -torch.inf,
        "total conflict: together the sources exclude every label, and Dempster's rule is undefined; "
        "yager() and conjunctive() are not",
    )
    # A zero may carry an exponent above all others; that matters to the gradient only, and must stay finite.
    highest = math.log2(torch.finfo(value.dtype).max) / 2
    return _normalised(value * torch.exp2((exponent - reference).clamp(max=highest)))


def separable_support(subsets: Subsets, support: Numbers, labels: int) -> Tensor:
    """Combine simple support functions by Dempster's rule.

    The same as `dempster(simple_support(subsets, support, labels))`, and much faster: log q(B) is the sum of log(1 -
    s_i) over the sources whose subset does not contain B.

    Args:
        subsets: The bitmask of the subset that each source supports, shape (sources,) or (..., sources).
        support: The mass on that subset, shape (..., sources).
        labels: The number L of labels.

    Returns:
        One mass function, shape (..., 2^L).

    >>> separable_support([0b01, 0b10, 0b10], [0.5, 0.5, 0.5], labels=2)
    tensor([0.0000, 0.2000, 0.6000, 0.2000], dtype=torch.float64)
    """
    support = numbers(support)
    checks.fraction(support, "weight of support")
    subsets = bitmasks(subsets, labels, support)
    if subsets.shape != support.shape[-1:] or not subsets.numel():
        raise NbrError(
            f"expected one subset for each source; got shape {tuple(subsets.shape)} of subsets "
            f"for shape {tuple(support.shape)} of support"
        )
    everything = torch.arange(1 << labels, device=support.device)
    outside = (everything & ~subsets[:, None]) != 0
    table = (1 - support).log_() @ outside.to(support.dtype)
    if not table.isfinite().all():  # a source is certain, which has no logarithm
        return dempster(simple_support(subsets, support, labels))
    return _normalised((table - _singletons(table).amax(-1, keepdim=True)).exp())


def disjunctive(masses: Tensor, dim: int = -2) -> Tensor:
    """The disjunctive rule, if at least one source is reliable: m(A) = sum of m1(B) m2(C) over B or C = A; b = b1 b2.

    Args:
        masses: Mass functions, shape (..., sources, 2^L).
        dim: The dimension of the sources.

    Returns:
        One mass function, shape (..., 2^L).

    >>> disjunctive(simple_support([0b01, 0b10], 0.5, labels=2))
    tensor([0., 0., 0., 1.], dtype=torch.float64)
    """
    table = transforms.zeta_subsets(checks.stacked(masses, dim)).prod(-2)
    return transforms.without_rounding(transforms.moebius_subsets(table))


def yager(masses: Tensor, dim: int = -2) -> Tensor:
    """Yager's rule: the conjunctive rule, with the conflict moved to the frame.

    All sources are combined before the conflict moves; the rule is not associative.

    Args:
        masses: Mass functions, shape (..., sources, 2^L).
        dim: The dimension of the sources.

    Returns:
        One mass function, shape (..., 2^L).

    >>> yager(simple_support([0b01, 0b10], 0.5, labels=2))
    tensor([0.0000, 0.2500, 0.2500, 0.5000], dtype=torch.float64)
    """
    table = conjunctive(masses, dim)
    return torch.cat((torch.zeros_like(table[..., :1]), table[..., 1:-1], table[..., -1:] + table[..., :1]), -1)


def cautious(masses: Tensor, dim: int = -2) -> Tensor:
    """The cautious rule, for sources that may share evidence: w(A) = the smallest w_i(A) (Denoeux 2008), unnormalised.

    Args:
        masses: Mass functions, shape (..., sources, 2^L); none may be dogmatic, with m(frame) = 0.
        dim: The dimension of the sources.

    Returns:
        One mass function, shape (..., 2^L).

    >>> cautious(simple_support([0b01, 0b01], [0.5, 0.75], labels=2))
    tensor([0.0000, 0.7500, 0.0000, 0.2500], dtype=torch.float64)
    """
    table = decomposition.log_weights(checks.stacked(masses, dim)).amin(-2)
    return decomposition.from_log_weights(table)


def conflict(masses: Tensor, dim: int = -2) -> Tensor:
    """The conflict between sources: the mass of the empty set under the conjunctive rule.

    Args:
        masses: Mass functions, shape (..., sources, 2^L).
        dim: The dimension of the sources.

    Returns:
        Conflicts, shape (...).

    >>> conflict(simple_support([0b01, 0b10], 0.5, labels=2))
    tensor(0.2500, dtype=torch.float64)
    """
    return conjunctive(masses, dim)[..., 0]


def _singletons(table: Tensor) -> Tensor:
    labels = table.shape[-1].bit_length() - 1
    return table[..., [1 << bit for bit in range(labels)]]


def _normalised(commonality: Tensor) -> Tensor:
    """Mass without conflict from commonalities up to a factor, the largest singleton's near 1."""
    table = transforms.without_rounding(transforms.moebius_supersets(commonality))
    kept = torch.nn.functional.pad(table[..., 1:], (1, 0))
    return kept / kept.sum(-1, keepdim=True)
