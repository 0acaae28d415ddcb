"""Which rows are trained on, which choices are made by, and which are left to measure the end by."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.tables import Table, split_counts

SHARE = 0.1  # of the rows for choices, and as many again to measure by
FEW = 20  # rows to choose by: fewer say hardly anything, so a third of a table may be taken
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
    """A random tenth to choose by, more where that would be few, and another tenth to measure by."""
    count = data.rows
    tenth = max(1, round(SHARE * count))
    held = max(tenth, min(FEW, count // 3))
    if count - held < 1:
        raise NbrError(f"{count} rows are too few to hold some out; give valid= a table of its own")
    measured = tenth if count >= ENOUGH else 0
    if data.counts is not None:
        return _counted(data, held, measured, seed)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    valid, test, train = order[:held], order[held : held + measured], order[held + measured :]
    return Split(_rows(data, train), _rows(data, valid), _rows(data, test) if measured else None)


def _counted(data: Table, held: int, measured: int, seed: int) -> Split:
    """The same of rows that are counted."""
    assert data.counts is not None
    valid, others = split_counts(data.counts, held, seed)
    test, train = split_counts(others, measured, seed + 1)
    parts = [replace(data, counts=counts).part(counts > 0) for counts in (train, valid, test)]
    return Split(parts[0], parts[1], parts[2] if measured else None)


def _both(first: Table, second: Table) -> Table:
    codes = torch.cat([first.codes, second.codes])
    if first.counts is None and second.counts is None:
        return Table(first.world, codes)
    counts = [
        torch.ones(len(each), dtype=torch.long) if each.counts is None else each.counts for each in (first, second)
    ]
    return Table(first.world, codes, counts=torch.cat(counts))


def _rows(data: Table, chosen: Tensor) -> Table:
    return data.part(chosen.sort().values)
