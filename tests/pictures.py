"""Pictures of two kinds, for tests of what reads MNIST."""

from __future__ import annotations

import numpy as np


def bars(labels, part: str):
    """Upright bars (0) and lying ones (1)."""
    dice = np.random.default_rng(len(part))
    y = dice.integers(0, 2, 60)
    X = np.zeros((60, 28, 28))
    for picture, label in zip(X, y, strict=True):
        at = dice.integers(10, 16)
        picture[(slice(5, 23), slice(at, at + 4))[:: 1 - 2 * label]] = 1
    return X, y
