"""Which rows a step sees: a function of the seed and the number of the step, shared out among processes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Process:
    """One of several processes that train together. All draw the same batch, and each works on its share.

    So the batch, and with it the gradient summed over processes, does not depend on how many there are.
    """

    rank: int = 0
    size: int = 1

    def share(self, rows: Tensor) -> Tensor:
        """The rows of a batch that this process works on.

        >>> [Process(rank, 2).share(torch.arange(5)).tolist() for rank in (0, 1)]
        [[0, 2, 4], [1, 3]]
        """
        return rows if self.size == 1 else rows[self.rank :: self.size]


ALONE = Process()


def generator(seed: int, step: int) -> torch.Generator:
    """Where the draws of a step come from.

    Torch's generator looks at 32 bits of its seed alone, so that the two are mixed, not set side by side.
    """
    mixed = np.random.SeedSequence((seed, step)).generate_state(1)
    return torch.Generator().manual_seed(int(mixed[0]))


def shuffled(count: int, size: int, source: torch.Generator) -> list[Tensor]:
    """A pass over rows in random order, in batches; what is left over counts if it is more than half a batch."""
    order = torch.randperm(count, generator=source)
    return [rows for rows in order.split(size) if 2 * len(rows) > min(size, count)]
