"""What is expected of two columns before rows are looked at cell by cell: numbers go together as normal curves do.

Every number is looked at by its rank, as the score that a normal curve has there. One number given another then lies
about a straight line, one given a label about a mean of that label, each with one deviation. Tables of counts
are smoothed towards that: with few rows a straight line is most of what can be known, with many the counts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nbr.priors.columns import Column

NARROWEST = 0.02  # deviation of a score around what is expected
SHRUNK = 2.0  # rows that the mean of a label has beside its own, at the mean of all
FAR = 9.0  # a score beyond all others


@dataclass(frozen=True)
class Scores:
    """The ends of each state as scores, (columns, states + 1), and its middle; columns of labels have none."""

    ordered: np.ndarray  # (columns,)
    ends: np.ndarray
    middle: np.ndarray  # (columns, states), 0 where there is none

    @classmethod
    def of(cls, columns: Sequence[Column], most: int) -> Scores:
        ordered = np.array([column.numbers is not None for column in columns])
        ends, middle = np.full((len(columns), most + 1), FAR), np.zeros((len(columns), most))
        for at, column in enumerate(columns):
            if not ordered[at]:
                continue
            mass = np.bincount(column.state.numpy(), column.mass.numpy())
            above = np.cumsum(mass) / mass.sum()
            ends[at, 0] = -FAR
            ends[at, 1 : len(mass)] = _score(above[:-1])
            middle[at, : len(mass)] = _score(above - mass / mass.sum() / 2)
        return cls(ordered, ends, middle)

    def expected(self, counts: np.ndarray, parent: np.ndarray, own: np.ndarray) -> np.ndarray:
        """P(state | parent's state) by curves, from counts of both; its own distribution where no curve is known.

        `counts`: (columns, states of the parent, states); `own`: (columns, states).
        """
        found: np.ndarray = np.repeat(own[:, None, :], counts.shape[1], axis=1)
        above = self.ordered[parent]
        line, label, back = self.ordered & above, self.ordered & ~above, ~self.ordered & above
        for chosen, way in ((line, self._line), (label, self._label), (back, self._back)):
            at = np.flatnonzero(chosen & (parent != np.arange(len(parent))))
            if len(at):
                found[at] = way(counts[at], at, parent[at], own[at])
        return found

    def _line(self, counts: np.ndarray, at: np.ndarray, parent: np.ndarray, own: np.ndarray) -> np.ndarray:
        x, y = self.middle[parent], self.middle[at]
        rows = counts.sum(axis=(1, 2)) + 1e-9
        left, right = counts.sum(axis=2), counts.sum(axis=1)
        mean_x, mean_y = (left * x).sum(axis=1) / rows, (right * y).sum(axis=1) / rows
        var_x = (left * x**2).sum(axis=1) / rows - mean_x**2
        var_y = (right * y**2).sum(axis=1) / rows - mean_y**2
        both = np.einsum("cij,ci,cj->c", counts, x, y) / rows - mean_x * mean_y
        slope = both / np.maximum(var_x, 1e-6)
        spread = np.sqrt(np.maximum(var_y - slope * both, NARROWEST**2))
        return self._curve(at, mean_y[:, None] + slope[:, None] * (x - mean_x[:, None]), spread[:, None])

    def _label(self, counts: np.ndarray, at: np.ndarray, parent: np.ndarray, own: np.ndarray) -> np.ndarray:
        means, spread = _means(counts, self.middle[at])
        return self._curve(at, means, spread)

    def _back(self, counts: np.ndarray, at: np.ndarray, parent: np.ndarray, own: np.ndarray) -> np.ndarray:
        """A label given a number, by the curve of each label."""
        means, spread = _means(counts.transpose(0, 2, 1), self.middle[parent])
        curves = self._curve(parent, means, spread)  # (columns, labels, states of the number)
        joint = curves.transpose(0, 2, 1) * own[:, None, :]
        total = joint.sum(axis=2, keepdims=True)
        found: np.ndarray = np.where(total > 1e-12, joint / np.maximum(total, 1e-12), own[:, None, :])
        return found

    def _curve(self, at: np.ndarray, mean: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """The mass of every state of columns: (columns, curves, states)."""
        off = (self.ends[at][:, None, :] - mean[:, :, None]) / spread[:, :, None]
        mass = np.diff(torch.special.ndtr(torch.from_numpy(off)).numpy(), axis=2)
        found: np.ndarray = mass / np.maximum(mass.sum(axis=2, keepdims=True), 1e-12)
        return found


def _score(share: np.ndarray) -> np.ndarray:
    """Below which a normal curve has a share of its mass."""
    found: np.ndarray = torch.special.ndtri(torch.from_numpy(share)).numpy()
    return found


def _means(counts: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean score of each label, drawn to that of all, (columns, labels), and one deviation, (columns, 1)."""
    rows, sums = counts.sum(axis=2), np.einsum("cij,cj->ci", counts, scores)
    total = rows.sum(axis=1, keepdims=True) + 1e-9
    whole = sums.sum(axis=1, keepdims=True) / total
    means = (sums + SHRUNK * whole) / (rows + SHRUNK)
    square = np.einsum("cij,cj->c", counts, scores**2)[:, None]
    within = (square + (rows * means**2 - 2 * means * sums).sum(axis=1, keepdims=True)) / total
    return means, np.sqrt(np.maximum(within, NARROWEST**2))


def told(pairs: np.ndarray, member: np.ndarray, sizes: np.ndarray, scores: Scores, flat: np.ndarray) -> np.ndarray:
    """What each column tells of each other by a curve, in nats, less what chance would seem to tell."""
    z = scores.middle.ravel()[flat]
    weight = member * z[:, None]
    rows = member.T @ pairs @ member
    first = member.T @ pairs @ weight  # the sum of the second's score where both are seen
    square = member.T @ pairs @ (weight * z[:, None])
    both = weight.T @ pairs @ weight
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = first / rows
        var = square / rows - mean**2
        cov = both / rows - mean * mean.T
        line = -0.5 * np.log1p(-np.minimum(cov**2 / (var * var.T), 1 - 1e-4)) - np.log(rows) / 2 / rows
        sums = pairs @ weight
        seen = pairs @ member
        between = member.T @ np.where(seen > 0, sums**2 / np.maximum(seen, 1e-12), 0.0) / rows - mean**2
        label = -0.5 * np.log1p(-np.clip(between / var, 0, 1 - 1e-4)) - np.log(rows) * (sizes[:, None] - 1) / 2 / rows
    number = scores.ordered
    gain = np.where(number[:, None] & number, line, np.where(~number[:, None] & number, label, -np.inf))
    gain = np.maximum(gain, gain.T)
    known: np.ndarray = np.where(np.isnan(gain), -np.inf, gain)
    return known
