"""What rules leave possible, as a relation drawn at random: distributions over tables of truth, joined along an order.

World by world a rule is there or not, so what rules allow over a few variables is a table of truth with a probability
for each form that it may take. Two such tables that share no selectors are joined by every pair of their forms, what no
other table reads is summed over by "or", and forms that have become the same are one. At the end the probability that
anything is left is E f, since the rules are crisp. Evidence about single variables, ten labels each, leaves at most
2^10 forms; of a check digit, the residues that can be reached, again 2^10 at most.

Forms of next to no probability may be left out: what they had bounds E f from above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nbr import clock
from nbr.calculus import merged_states
from nbr.factors.order import Order, Step

ROOM = 1 << 24  # numbers held at a time
SMALL = 20  # entries of a table of which all forms can be listed


@dataclass(frozen=True)
class Forms:
    """Tables of truth (forms, *sizes), the probability of each, and how much was left out."""

    tables: Tensor
    weights: NDArray[np.float64]
    lost: float = 0.0

    @classmethod
    def of(cls, certain: Tensor, allowed: Sequence[tuple[Tensor, float]], kept: int, least: float) -> Forms:
        """A table that is always there, and what each of some rules allows, with its belief."""
        found = cls(certain.bool()[None], np.ones(1))
        for table, belief in allowed:
            cut = found.tables & table
            both = torch.cat([cut, found.tables]) if belief < 1 else cut
            weights = np.concatenate([belief * found.weights, (1 - belief) * found.weights])[: len(both)]
            found = _told_apart([both], [weights], found.lost)._thinned(kept, least)
        return found

    def _thinned(self, kept: int, least: float) -> Forms:
        """Without the least probable ones: those that have no more than `least` together, and all beyond `kept`."""
        order = np.argsort(-self.weights, kind="stable")
        behind = self.weights[order][::-1].cumsum()[::-1]
        count = min(kept, int((behind > least).sum()))
        if count == len(order):
            return self
        some = order[:count]
        lost = self.lost + float(behind[count])
        return Forms(self.tables[torch.from_numpy(some)], self.weights[some], lost)


def probability_possible(order: Order, parts: Sequence[Forms], kept: int, least: float) -> tuple[float, float]:
    """Bounds on the probability that some values of all variables are allowed by every table."""
    values = list(parts)
    for step in order.steps:
        values.append(_joined(values[step.left], values[step.right], step, kept, least)._thinned(kept, least))
        values[step.left] = values[step.right] = values[-1]  # nobody reads them again
    found = float(values[-1].weights.sum())
    return found, min(1.0, found + values[-1].lost)


def _joined(one: Forms, other: Forms, step: Step, kept: int, least: float) -> Forms:
    """Every pair of forms, with what both allow of the variables kept; thinned on the way where there is no room."""
    number = {variable: place for place, variable in enumerate((*step.kept, *step.summed), 2)}
    axes = [[side, *(number[variable] for variable in scope)] for side, scope in enumerate(step.scopes)]
    wanted = [0, 1, *(number[variable] for variable in step.kept)]
    left, right = one.tables.float(), other.tables.float()
    size = dict(zip(step.scopes[0], left.shape[1:], strict=True)) | dict(
        zip(step.scopes[1], right.shape[1:], strict=True)
    )
    entries = math.prod(size[variable] for variable in step.kept)
    columns = min(max(1, ROOM // entries), max(1, len(right)))
    rows = max(1, ROOM // (entries * columns))
    found = Forms(torch.zeros([0, *(size[variable] for variable in step.kept)], dtype=torch.bool), np.zeros(0))
    for start, begin in product(range(0, len(left), rows), range(0, len(right), columns)):
        clock.check()
        some, others = slice(start, start + rows), slice(begin, begin + columns)
        allowed = torch.einsum(left[some], axes[0], right[others], axes[1], wanted) > 0.5
        pairs = np.outer(one.weights[some], other.weights[others]).ravel()
        part = _told_apart([allowed.flatten(0, 1)], [pairs], 0.0)
        found = _told_apart([found.tables, part.tables], [found.weights, part.weights], found.lost)
        if found.tables.numel() > ROOM:
            found = found._thinned(kept, least)
    return Forms(found.tables, found.weights, found.lost + one.lost + other.lost)


def _told_apart(tables: Sequence[Tensor], weights: Sequence[NDArray[np.float64]], lost: float) -> Forms:
    """Each form once, with the sum of its probabilities; none that allows nothing."""
    every, shape = torch.cat(list(tables)), tables[0].shape[1:]
    bits = every.reshape(len(every), math.prod(shape)).numpy()
    count = bits.shape[1]
    if count <= SMALL:
        codes = (bits @ np.exp2(np.arange(count, dtype=np.float32))).astype(np.int64)
        chances = np.bincount(codes, np.concatenate(list(weights)), 1 << count).astype(np.float64)
        chances[0] = 0.0
        found = chances.nonzero()[0]
        forms = torch.from_numpy(found[:, None] >> np.arange(count) & 1).bool()
        return Forms(forms.reshape(len(found), *shape), chances[found], lost)
    packed = np.packbits(bits, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    states, summed = merged_states(words.view(np.uint64)[:, None], np.concatenate(list(weights)))
    bits = np.unpackbits(states[:, 0].view(np.uint8), axis=1, count=count)
    return Forms(torch.from_numpy(bits.astype(bool)).reshape(len(states), *shape), summed, lost)
