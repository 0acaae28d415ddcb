"""Mass, belief, plausibility, commonality: the same knowledge in different words.

A table over the subsets of L labels is a tensor (..., 2^L): the index is a bitmask, bit j stands for label j.
Every transform costs O(L 2^L).
"""

import torch
from torch import Tensor

from nbr.evidence import checks


def zeta_subsets(table: Tensor) -> Tensor:
    """Sum over subsets: g(A) = sum of f(B) over B subset of A.

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> zeta_subsets(torch.tensor([0.0, 1.0, 2.0, 4.0]))
    tensor([0., 1., 2., 7.])
    """
    return _sweep(table, source=0, sign=1)


def moebius_subsets(table: Tensor) -> Tensor:
    """Undo `zeta_subsets`: f(A) = sum of (-1)^|A - B| g(B) over B subset of A.

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> moebius_subsets(torch.tensor([0.0, 1.0, 2.0, 7.0]))
    tensor([0., 1., 2., 4.])
    """
    return _sweep(table, source=0, sign=-1)


def zeta_supersets(table: Tensor) -> Tensor:
    """Sum over supersets: g(A) = sum of f(B) over B superset of A.

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> zeta_supersets(torch.tensor([0.0, 1.0, 2.0, 4.0]))
    tensor([7., 5., 6., 4.])
    """
    return _sweep(table, source=1, sign=1)


def moebius_supersets(table: Tensor) -> Tensor:
    """Undo `zeta_supersets`: f(A) = sum of (-1)^|B - A| g(B) over B superset of A.

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> moebius_supersets(torch.tensor([7.0, 5.0, 6.0, 4.0]))
    tensor([0., 1., 2., 4.])
    """
    return _sweep(table, source=1, sign=-1)


def belief(mass: Tensor) -> Tensor:
    """Evidence for each set: Bel(A) = sum of m(B) over non-empty B subset of A.

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> belief(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64))
    tensor([0.0000, 0.5000, 0.2000, 1.0000], dtype=torch.float64)
    """
    table = implicability(mass)
    return table - table[..., :1]


def implicability(mass: Tensor) -> Tensor:
    """Belief with the conflict added: b(A) = sum of m(B) over B subset of A = Bel(A) + m(empty).

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> implicability(torch.tensor([0.1, 0.5, 0.2, 0.2], dtype=torch.float64))
    tensor([0.1000, 0.6000, 0.3000, 1.0000], dtype=torch.float64)
    """
    checks.mass(mass)
    return zeta_subsets(mass)


def plausibility(mass: Tensor) -> Tensor:
    """Evidence not against each set: Pl(A) = sum of m(B) over B that meet A = b(frame) - b(not A).

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> plausibility(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64))
    tensor([0.0000, 0.8000, 0.5000, 1.0000], dtype=torch.float64)
    """
    table = implicability(mass)
    return table[..., -1:] - table.flip(-1)


def commonality(mass: Tensor) -> Tensor:
    """Evidence that does not distinguish the members of a set: q(A) = sum of m(B) over B superset of A.

    Args:
        mass: Mass functions, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).

    >>> commonality(torch.tensor([0.0, 0.5, 0.2, 0.3], dtype=torch.float64))
    tensor([1.0000, 0.8000, 0.5000, 0.3000], dtype=torch.float64)
    """
    checks.mass(mass)
    return zeta_supersets(mass)


def from_belief(table: Tensor) -> Tensor:
    """The mass function of a belief function; m(empty) = 1 - Bel(frame).

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Mass functions, shape (..., 2^L).

    >>> from_belief(torch.tensor([0.0, 0.5, 0.2, 1.0], dtype=torch.float64))
    tensor([0.0000, 0.5000, 0.2000, 0.3000], dtype=torch.float64)
    """
    checks.label_count(table)
    return from_implicability(table + (1 - table[..., -1:]))


def from_implicability(table: Tensor) -> Tensor:
    """The mass function of an implicability function.

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Mass functions, shape (..., 2^L).

    >>> from_implicability(torch.tensor([0.1, 0.6, 0.3, 1.0], dtype=torch.float64))
    tensor([0.1000, 0.5000, 0.2000, 0.2000], dtype=torch.float64)
    """
    return _as_mass(moebius_subsets(table))


def from_plausibility(table: Tensor) -> Tensor:
    """The mass function of a plausibility function; m(empty) = 1 - Pl(frame).

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Mass functions, shape (..., 2^L).

    >>> from_plausibility(torch.tensor([0.0, 0.8, 0.5, 1.0], dtype=torch.float64))
    tensor([0.0000, 0.5000, 0.2000, 0.3000], dtype=torch.float64)
    """
    checks.label_count(table)
    return from_implicability(1 - table.flip(-1))


def from_commonality(table: Tensor) -> Tensor:
    """The mass function of a commonality function.

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Mass functions, shape (..., 2^L).

    >>> from_commonality(torch.tensor([1.0, 0.8, 0.5, 0.3], dtype=torch.float64))
    tensor([0.0000, 0.5000, 0.2000, 0.3000], dtype=torch.float64)
    """
    return _as_mass(moebius_supersets(table))


def without_rounding(table: Tensor) -> Tensor:
    """Lift to 0 the -1e-17 that a Moebius transform leaves where 0 is meant; gradients pass as they are

    Args:
        table: Values for the subsets, shape (..., 2^L).

    Returns:
        Values for the subsets, shape (..., 2^L).
    """
    return table + torch.relu(-table.detach())


def _sweep(table: Tensor, *, source: int, sign: int) -> Tensor:
    """For each label, add the half of the table without it (source 0) or with it (1) to the other half."""
    table, labels = table.clone(), checks.label_count(table)
    for bit in range(labels):
        halves = table.view(*table.shape[:-1], 1 << labels - 1 - bit, 2, 1 << bit)
        halves[..., 1 - source, :].add_(halves[..., source, :], alpha=sign)
    return table


def _as_mass(table: Tensor) -> Tensor:
    slack = checks.rounding(table)
    off = (table.sum(-1) - 1).abs()
    checks.refuse(~(table >= -slack), "no mass function has these values: a mass would be negative or NaN")
    checks.refuse(~(off <= slack), "no mass function has these values: the masses would not sum to 1")
    return without_rounding(table)
