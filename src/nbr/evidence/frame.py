"""Names for labels, and bitmasks for sets of them."""

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.evidence import checks


class Frame:
    """A frame of discernment: named labels, exactly one of which is true.

    Args:
        *labels: The labels, all different.

    >>> weather = Frame("sun", "rain", "snow")
    >>> weather.subset("sun", "snow")
    5
    >>> weather.names(5)
    ('sun', 'snow')
    >>> print(weather.show(torch.tensor([0, 0.6, 0, 0, 0, 0.1, 0, 0.3])))
    {sun} 0.6, {sun, snow} 0.1, {sun, rain, snow} 0.3
    """

    def __init__(self, *labels: str) -> None:
        if not labels or len(set(labels)) < len(labels):
            raise NbrError(f"a frame needs different labels, at least one; got {labels}")
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Frame({', '.join(map(repr, self.labels))})"

    def subset(self, *names: str) -> int:
        """The bitmask of a set of labels.

        Args:
            *names: The labels in the set.
        """
        for name in names:
            if name not in self.labels:
                raise NbrError(f"no label {name!r} in {self}")
        return sum(1 << self.labels.index(name) for name in set(names))

    def names(self, subset: int) -> tuple[str, ...]:
        """The labels in a bitmask.

        Args:
            subset: The bitmask.
        """
        checks.subset(torch.tensor(subset), len(self))
        return tuple(label for bit, label in enumerate(self.labels) if subset >> bit & 1)

    def show(self, mass: Tensor) -> str:
        """Write a mass function (or belief, plausibility, ...) as text, without its zeros.

        Args:
            mass: One function, shape (2^L,).
        """
        if mass.shape != (1 << len(self),):
            raise NbrError(f"{self} needs a vector of {1 << len(self)} numbers, got shape {tuple(mass.shape)}")
        return ", ".join(
            f"{{{', '.join(self.names(subset))}}} {value:.6g}" for subset, value in enumerate(mass.tolist()) if value
        )
