"""Identical rows of a small world, counted instead of kept."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from nbr.points import NumberedPoints, numbered_points
from nbr.tables.table import Table
from nbr.world import World

POINTS = 1 << 17  # of a world whose rows are counted
DISTINCT = 1 << 20  # rows that are too many to be counted


class Tally:
    """How often each row was seen: complete ones by the number of their point, others by what each cell is."""

    def __init__(self, listed: NumberedPoints) -> None:
        self.world = listed.world
        self.sizes = np.array([len(column) for column in listed.grid.centres])
        kinds = self.world.variables.values()
        self.low = torch.tensor([kind.low if kind.numeric else 0.0 for kind in kinds], dtype=torch.float64)
        self.step = torch.tensor([kind.step if kind.numeric else 1.0 for kind in kinds], dtype=torch.float64)
        self.complete = np.zeros(listed.count, dtype=np.int64)
        self.keys, self.counts = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    @classmethod
    def of(cls, world: World) -> Tally | None:
        """An empty one; None if the world is too large."""
        listed = numbered_points(world, POINTS)
        if listed is None or math.prod(len(column) + 2 for column in listed.grid.centres) >= 1 << 52:
            return None
        return cls(listed)

    @property
    def overflows(self) -> bool:
        return len(self.keys) > DISTINCT

    def add(self, codes: Tensor) -> None:
        place = codes if not bool(self.low.any()) and bool((self.step == 1).all()) else self._places(codes)
        strange = ~((place >= 0) & (place <= torch.from_numpy(self.sizes - 1.0)))  # holes too
        if bool(strange.any()):
            odd = strange.any(dim=1)
            size = torch.from_numpy(self.sizes.astype(float))
            cells = torch.where(strange, torch.where(codes.isnan(), size, size + 1), place)[odd]
            self._take(*np.unique((cells @ _strides(self.sizes + 2)).long().numpy(), return_counts=True))
            place = place[~odd]
        self.complete += np.bincount((place @ _strides(self.sizes)).long().numpy(), minlength=len(self.complete))

    def merge(self, other: Tally) -> None:
        self.complete += other.complete
        self._take(other.keys, other.counts)

    def table(self, notes: tuple[str, ...]) -> Table:
        """The distinct rows and how often each was seen."""
        numbers = np.flatnonzero(self.complete)
        whole = self._codes(np.unravel_index(numbers, self.sizes))
        others = self._codes(np.unravel_index(self.keys, self.sizes + 2))
        counts = np.concatenate([self.complete[numbers], self.counts])
        return Table(self.world, torch.cat([whole, others]), notes, torch.from_numpy(counts))

    def _places(self, codes: Tensor) -> Tensor:
        return ((codes - self.low) / self.step).round()

    def _take(self, keys: np.ndarray, counts: np.ndarray) -> None:
        if len(keys):
            self.keys, place = np.unique(np.concatenate([self.keys, keys]), return_inverse=True)
            both = np.concatenate([self.counts, counts])
            self.counts = np.bincount(place, weights=both, minlength=len(self.keys)).astype(np.int64)

    def _codes(self, places: tuple[np.ndarray, ...]) -> Tensor:
        found = torch.from_numpy(np.stack(places, axis=1).astype(np.float64))
        size = torch.from_numpy(self.sizes.astype(float))
        codes = torch.where(found == size + 1, self._beyond(), self.low + self.step * found)
        return torch.where(found == size, math.nan, codes)

    def _beyond(self) -> Tensor:
        """A code that is no value of each variable."""
        kinds = self.world.variables.values()
        return torch.tensor([k.high + k.step if k.numeric else -1.0 for k in kinds], dtype=torch.float64)


def _strides(sizes: np.ndarray) -> Tensor:
    return torch.tensor([float(math.prod(sizes[at + 1 :].tolist())) for at in range(len(sizes))], dtype=torch.float64)
