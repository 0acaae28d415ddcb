"""Variables that take one of several labels, in no order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import torch
from torch import Tensor

from nbr.variables.base import NamedLabels


@dataclass(frozen=True, init=False)
class Choice(NamedLabels):
    """A variable that takes one of several labels, which are all different.

    >>> Choice("dry", "wet").code("wet")
    1.0
    """

    kind: ClassVar[str] = "choice"
    noun: ClassVar[str] = "a choice"
    labels: tuple[str, ...]
    position: dict[str, float] = field(repr=False, compare=False)

    @property
    def spec(self) -> object:
        return list(self.labels)

    @classmethod
    def read(cls, item: object) -> Self | None:
        return cls(*item) if isinstance(item, list) else None

    def said(self) -> str:
        return "one of " + ", ".join(self.labels)

    @property
    def width(self) -> int:
        return len(self.labels)

    def encoded(self, column: Tensor) -> Tensor:
        """One column for each label."""
        labels = torch.arange(len(self.labels), dtype=column.dtype, device=column.device)
        return (column[:, None] == labels).to(column.dtype)

    def encoded_between(self, least: Tensor, most: Tensor) -> tuple[Tensor, Tensor]:
        labels = torch.arange(len(self.labels), dtype=least.dtype, device=least.device)
        inside = (least[:, None] <= labels) & (labels <= most[:, None])
        return (inside & (least == most)[:, None]).to(least.dtype), inside.to(least.dtype)
