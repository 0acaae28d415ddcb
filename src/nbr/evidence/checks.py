"""What the public functions ask of their input, each thing once."""

import torch
from torch import Tensor

from nbr.errors import NbrError


def label_count(table: Tensor) -> int:
    """Give the number of labels L of a table over the 2^L subsets of a frame (its last dimension)."""
    size = table.shape[-1] if table.ndim else 0
    if size < 2 or size & (size - 1):
        raise NbrError(f"the last dimension has {size} entries; a frame of L labels needs 2^L: 2, 4, 8, ...")
    if not table.is_floating_point():
        raise NbrError(f"expected floating point numbers, got {table.dtype}")
    return size.bit_length() - 1


def mass(table: Tensor) -> int:
    """Refuse what is not a mass function, up to rounding; give the number of labels."""
    labels = label_count(table)
    if not table.numel():
        return labels
    if not table.amin() >= 0:  # also when it is NaN
        refuse(table.isnan(), "a mass is not a number (NaN)")
        refuse(table < 0, "a mass is negative")
    refuse(~((table.sum(-1) - 1).abs() <= rounding(table)), "the masses do not sum to 1")
    return labels


def stacked(masses: Tensor, dim: int) -> Tensor:
    """Check masses that are stacked along `dim`, and move that dimension next to the subsets."""
    if not isinstance(masses, Tensor):
        raise NbrError("expected one tensor; use torch.stack to join separate masses")
    if masses.ndim < 2 or not -masses.ndim <= dim < masses.ndim or dim in (-1, masses.ndim - 1):
        raise NbrError(
            f"dim={dim} of shape {tuple(masses.shape)} cannot hold the sources; "
            "stack the masses with torch.stack, the subsets stay last"
        )
    mass(masses)
    if not masses.shape[dim]:
        raise NbrError("there is no source to combine")
    return masses.movedim(dim, -2)


def fraction(values: Tensor, name: str) -> None:
    """Refuse values outside [0, 1], and NaN."""
    if values.numel():
        low, high = values.aminmax()
        if not (low >= 0 and high <= 1):
            refuse(~((values >= 0) & (values <= 1)), f"the {name} is outside [0, 1]")


def subset(subsets: Tensor, labels: int) -> None:
    """Refuse bitmasks that name labels the frame does not have."""
    if labels < 1:
        raise NbrError(f"a frame needs at least one label, got labels={labels}")
    if subsets.is_floating_point() or subsets.dtype == torch.bool:
        raise NbrError(f"a subset is an integer bitmask, got {subsets.dtype}")
    refuse((subsets < 0) | (subsets >> labels > 0), f"the subset is not one of a frame of {labels} labels")


def refuse(bad: Tensor, what: str) -> None:
    """Raise, naming the first index where `bad` holds, if there is one."""
    if bad.any():
        where = bad.nonzero()[0].tolist()
        raise NbrError(f"{what}, at index {where}" if where else what)


def rounding(table: Tensor) -> float:
    """Give the error that arithmetic in this precision may leave."""
    return float(torch.finfo(table.dtype).eps ** 0.5)
