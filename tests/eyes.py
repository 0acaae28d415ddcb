"""Sensors that say what they are told to: an input is the log plausibilities of all labels."""

from __future__ import annotations

import numpy as np
import torch

from nbr.rules.sensor import LEAST_LOG, PlainEvidence


class Blunt(PlainEvidence):
    """Each log plausibility moves by at most the slope times the distance."""

    slope = 1.0

    def within(self, distance):
        move = self.slope * distance[..., None]
        return tuple((self.log_plausibility + way * move).clamp(LEAST_LOG, 0) for way in (-1, 1))

    def only(self, rows):
        return Blunt(self.labels, self.log_plausibility[list(rows)])


class Eye:
    """Takes (labels,) or (n, labels)."""

    def __init__(self, *labels: object, proved: bool = True) -> None:
        self.labels = tuple(map(str, labels))
        self.kind = Blunt if proved else PlainEvidence

    def batch(self, inputs):
        found = np.asarray(inputs, dtype=float)
        return (found[None], False) if found.ndim == 1 else (found, True)

    def read(self, path):
        return np.loadtxt(path)

    def look(self, inputs):
        return self.kind(self.labels, torch.from_numpy(inputs).clamp(LEAST_LOG, 0))

    def spec(self):
        return {"sensor": "eye"}, {}


def glances(seed: int, *shape: int) -> np.ndarray:
    """Log plausibilities, the largest of each input 0 or a little less."""
    drawn = -np.random.default_rng(seed).exponential(2.0, shape)
    return drawn - drawn.max(axis=-1, keepdims=True) * np.random.default_rng(seed + 1).integers(0, 2, (*shape[:-1], 1))
