"""Which rows are trained on, which choices are made by, and which are left to measure the end by."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.tables import Table

SHARE = 0.1  # of the rows for choices, and as many again to measure by
ENOUGH = 100  # rows from which on some are left to measure by


@dataclass(frozen=True)
class Split:
    """Rows to train on, rows to choose by, and rows that neither sees, if there are enough."""

    train: Table
    valid: Table
    test: Table | None

    @property
    def trainable(self) -> Table:
        """All rows but those to measure by."""
        return _both(self.train, self.valid)

    @property
    def every(self) -> Table:
        """All rows."""
        return self.trainable if self.test is None else _both(self.trainable, self.test)


def split(data: Table, seed: int) -> Split:
    """A random tenth to choose by, and another to measure by."""
    count = len(data)
    held = max(1, round(SHARE * count))
    if count - held < 1:
        raise NbrError(f"{count} rows are too few to hold some out; give valid= a table of its own")
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    measured = held if count >= ENOUGH else 0
    valid, test, train = order[:held], order[held : held + measured], order[held + measured :]
    return Split(_rows(data, train), _rows(data, valid), _rows(data, test) if measured else None)


def _both(first: Table, second: Table) -> Table:
    return Table(first.world, torch.cat([first.codes, second.codes]))


def _rows(data: Table, chosen: Tensor) -> Table:
    return data.part(chosen.sort().values)
