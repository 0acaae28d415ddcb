"""Which columns are one variable: dummies of a choice, thresholds of a number, copies, complements, functions.

Nothing is taken for such that chance might well have made: with as many pairs of columns as there are, a pattern that
independent columns would have broken in all but one table of twenty.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nbr.priors.groups import MOST, ColumnGroup, learn
from nbr.priors.tree import TOGETHER
from nbr.tables import Table

LEVEL = 0.05  # of tables of independent columns in which something is found
ROWS = 1 << 15  # that are looked at
FEWEST = 3  # columns of which at most one is 1, or that lie in an order: of two a tree says as much
STATES = 4096  # of all columns, in which functions are looked for


def dependent(table: Table) -> list[ColumnGroup]:
    """The groups of bits and choices that are one variable each; no column is in two of them."""
    sizes = [variable.size or 0 for variable in table.world.variables.values()]
    codes = table.codes[:: max(1, len(table) // ROWS)].numpy()
    left = [at for at, size in enumerate(sizes) if 1 < size <= MOST]
    found: list[list[int]] = []
    for search in (_functions, _whole_choices, _choices, _orders):
        some = [columns for columns in search(codes, left, sizes) if len(columns) <= MOST]
        found += some
        taken = {at for columns in some for at in columns}
        left = [at for at in left if at not in taken]
    found = sorted(sorted(columns) for columns in found)
    return [group for columns in found if (group := learn(table, columns)) is not None]


@dataclass(frozen=True)
class _Bits:
    """Bits of a table: in which rows they are 1 and 0, and from how many expected rows on none is beyond chance."""

    places: list[int]
    ones: np.ndarray  # (rows, bits)
    zeros: np.ndarray
    surprise: float

    @classmethod
    def of(cls, codes: np.ndarray, places: list[int], sizes: list[int]) -> _Bits:
        mine = [at for at in places if sizes[at] == 2 and (codes[:, at] == 1).any() and (codes[:, at] == 0).any()]
        ones, zeros = ((codes[:, mine] == value).astype(np.float32) for value in (1, 0))
        return cls(mine, ones, zeros, math.log(max(1, len(mine) * (len(mine) - 1) / 2) / LEVEL))

    def covers(self, group: list[int]) -> bool:
        """Whether in every row that shows all of a group one is 1, and chance would have had rows with two."""
        ones = self.ones[:, group]
        seen = (ones + self.zeros[:, group]).all(axis=1)
        count = ones[seen].sum(axis=0)
        chance = (count.sum() ** 2 - (count**2).sum()) / 2 / max(1, seen.sum())
        return bool(ones[seen].any(axis=1).all()) and bool(chance > self.surprise)


def _whole_choices(codes: np.ndarray, places: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Bits of which always exactly one is 1."""
    bits = _Bits.of(codes, places, sizes)
    for group in _exclusive(bits, whole=True):
        yield [bits.places[at] for at in group]


def _choices(codes: np.ndarray, places: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Bits of which at most one is 1."""
    bits = _Bits.of(codes, places, sizes)
    for group in _exclusive(bits, whole=False):
        yield [bits.places[at] for at in group]


def _exclusive(bits: _Bits, whole: bool) -> Iterator[list[int]]:
    """Groups grown from the most frequent bits, by the one that is most frequent next, or else that stands nearest."""
    both, count = bits.ones.T @ bits.ones, bits.ones.sum(axis=0)
    shown = (bits.ones + bits.zeros).T @ (bits.ones + bits.zeros)
    apart = (both == 0) & (shown >= TOGETHER)
    left = np.ones(len(count), dtype=bool)
    nearness = -np.abs(np.subtract.outer(np.arange(len(count)), np.arange(len(count)))).astype(float)
    for first in np.argsort(-count, kind="stable").tolist():
        if not left[first]:
            continue
        for liked in (count + nearness[first] / (len(count) + 1), nearness[first]):
            group, may, covered = [first], apart[first] & left, count[first]
            while len(group) < MOST - 1:
                likely = may if whole else may & (count * covered / shown[first].clip(min=1) > bits.surprise)
                if not likely.any():
                    break
                group.append(int(np.argmax(np.where(likely, liked, -math.inf))))
                may, covered = may & apart[group[-1]], covered + count[group[-1]]
            if len(group) > 1 and bits.covers(group) if whole else len(group) >= FEWEST:
                left[group] = False
                yield group
                break


def _orders(codes: np.ndarray, places: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """Bits each of which is 1 only where the one before it is, as thresholds of one number are."""
    bits = _Bits.of(codes, places, sizes)
    breaking, count = bits.ones.T @ bits.zeros, bits.ones.sum(axis=0)
    expected = np.outer(count, bits.zeros.sum(axis=0)) / max(1, len(codes))
    shown = (bits.ones + bits.zeros).T @ (bits.ones + bits.zeros)
    within = (
        (breaking == 0) & (expected > bits.surprise) & (shown >= TOGETHER)
    )  # the first is 1 only where the second is
    left = np.ones(len(count), dtype=bool)
    order = np.argsort(-count, kind="stable").tolist()
    for start, first in enumerate(order):
        chain = [first]
        for at in order[start + 1 :]:
            if left[at] and within[at, chain].all() and len(chain) < MOST - 1:
                chain.append(at)
        if left[first] and len(chain) >= FEWEST:
            left[chain] = False
            yield [bits.places[at] for at in chain]


def _functions(codes: np.ndarray, places: list[int], sizes: list[int]) -> Iterator[list[int]]:
    """A column and all that its value decides: copies, complements, coarser labels."""
    if not places or sum(sizes[at] for at in places) > STATES:
        return
    states = np.concatenate([codes[:, at, None] == np.arange(sizes[at]) for at in places], axis=1).astype(np.float32)
    owner = np.repeat(np.arange(len(places)), [sizes[at] for at in places])
    member = (owner[:, None] == np.arange(len(places))).astype(np.float32)
    pairs = states.T @ states
    beside = (pairs > 0) @ member  # how many values of each column occur beside each state
    rows = pairs @ member
    several = (states.any(axis=0) @ member) > 1
    decided = member.sum(axis=0)[:, None] == ((beside <= 1).T @ member).T  # (column, what it decides)
    surprise = math.log(LEVEL / max(1, len(places) * (len(places) - 1)))
    for at in range(len(places)):
        share = states[:, owner == at].sum(axis=0)
        if not share.any():  # nothing was seen of it
            decided[:, at] = False
            continue
        share = share[share > 0] / share.sum()
        by_chance = member.T @ np.logaddexp.reduce(rows[:, at, None] * np.log(share), axis=1).clip(max=0.0)
        decided[:, at] &= (by_chance < surprise) & several
    shown = (states @ member).T @ (states @ member)
    decided &= several[:, None] & (shown >= TOGETHER)
    np.fill_diagonal(decided, False)
    left = np.ones(len(places), dtype=bool)
    for at in sorted(range(len(places)), key=lambda each: (-int(decided[each].sum()), -sizes[places[each]])):
        group = [at, *np.flatnonzero(decided[at] & left).tolist()]
        if left[at] and len(group) > 1:
            left[group] = False
            yield [places[each] for each in group]


def told(group: ColumnGroup, names: tuple[str, ...]) -> str:
    """A sentence on what the columns of a group are."""
    mine = [names[at] for at in group.columns]
    listed = ", ".join(mine[:6]) + (f" and {len(mine) - 6} more" if len(mine) > 6 else "")
    patterns = group.patterns.numpy()
    bits = all(len(chance) == 2 for chance in group.alone)
    sums = patterns.sum(axis=1)
    if bits and len(mine) == 2 and len(patterns) == 2:
        return f"{mine[1]} is {mine[0]}" if (patterns[:, 0] == patterns[:, 1]).all() else f"{mine[1]} is not {mine[0]}"
    if bits and (sums == 1).all():
        return f"one choice: exactly one of {listed} is 1"
    if bits and (sums <= 1).all():
        return f"one choice: at most one of {listed} is 1"
    if bits and (np.diff(patterns[np.argsort(sums, kind="stable")], axis=0) >= 0).all():
        order = [mine[at] for at in np.argsort(-patterns.sum(axis=0), kind="stable")]
        listed = ", ".join(order[:6]) + (f" and {len(order) - 6} more" if len(order) > 6 else "")
        return f"one ordered variable: {listed}, each 1 only where the one before it is"
    first = next((at for at in range(len(mine)) if len(set(patterns[:, at].tolist())) == len(patterns)), None)
    if first is None:
        return f"one variable: {listed} take {len(patterns)} combinations of values"
    others = [name for at, name in enumerate(mine) if at != first]
    listed = ", ".join(others[:6]) + (f" and {len(others) - 6} more" if len(others) > 6 else "")
    return f"{mine[first]} decides {listed}"
