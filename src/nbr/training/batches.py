"""Which rows a step sees: a function of the seed and the number of the step."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


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
