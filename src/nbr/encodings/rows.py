"""What a source that goes through points offers: witnesses that some point attains, and covers for all others."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Rows:
    """Grade vectors of points that meet a condition, with how far each is in the proposition.

    Every *witness* is attained by its point. Every point that meets the condition has the grades of a witness, or
    grades (and a membership) that some *cover* dominates. Witnesses bound expectations from below, and witnesses
    and covers together from above; without covers both are the same.
    """

    witnesses: Tensor  # (rows, rules)
    points: Tensor  # (rows, variables): one point for each
    member: Tensor  # (rows,): in the proposition
    covers: Tensor  # (covers, rules)
    cover_least: Tensor  # (covers,): bounds on the membership of what it covers
    cover_most: Tensor
    seen: int  # how many points were gone through
    finer: bool = False  # whether a finer grid would tell more

    @property
    def complete(self) -> bool:
        """Whether no point is unseen."""
        return not len(self.covers)

    @property
    def most(self) -> Tensor:
        """Witnesses and covers together."""
        return torch.cat([self.witnesses, self.covers])

    @property
    def member_most(self) -> Tensor:
        return torch.cat([self.member, self.cover_most])

    @property
    def member_least(self) -> Tensor:
        return torch.cat([self.member, self.cover_least])
