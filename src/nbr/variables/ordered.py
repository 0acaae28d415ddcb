"""Variables that take one of several labels, in an order: `grade >= mid` means something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.variables.base import COMPARED, NamedLabels


@dataclass(frozen=True, init=False)
class Ordered(NamedLabels):
    """A variable that takes one of several labels in an order, named from the lowest to the highest.

    >>> import nbr
    >>> r = nbr.Reasoner(nbr.World(grade=Ordered("low", "mid", "high")), [nbr.Clause("grade >= mid", 0.8)])
    >>> print(r.ask("grade > low"))
    grade > low: [0.8000, 1.0000], conflict 0.0000 (exact)
    """

    kind: ClassVar[str] = "ordered"
    noun: ClassVar[str] = "ordered"
    operators: ClassVar[frozenset[str]] = COMPARED
    labels: tuple[str, ...]
    position: dict[str, float] = field(repr=False, compare=False)

    @property
    def spec(self) -> object:
        return {"ordered": list(self.labels)}

    @classmethod
    def read(cls, item: object) -> Self | None:
        if not isinstance(item, Mapping) or set(item) != {"ordered"}:
            return None
        if not isinstance(item["ordered"], list):
            raise NbrError('write { ordered = ["low", "mid", "high"] }, the lowest first')
        return cls(*item["ordered"])

    def said(self) -> str:
        return "in this order: " + ", ".join(self.labels)

    @property
    def width(self) -> int:
        return len(self.labels) - 1

    def encoded(self, column: Tensor) -> Tensor:
        """One column for each label but the lowest: whether the value is at least that."""
        labels = torch.arange(1, len(self.labels), dtype=column.dtype, device=column.device)
        return (column[:, None] >= labels).to(column.dtype)
