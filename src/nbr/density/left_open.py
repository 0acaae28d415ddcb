"""What stays open: the range of P(Q | C) over all distributions that agree with the model on sets of columns.

Columns that a question does not read and that only one set has are summed over, which changes nothing; so are sets
within others. What is then left is one set that holds the whole question, whose answer is settled; two sets, which are
coupled for each value of the columns they share; or several, a linear program over all cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from torch import Tensor

from nbr.density.classes import Classes, crossed_points, number_of
from nbr.density.couplings import Couplings, Joint
from nbr.density.resampling import spread
from nbr.density.shared import SharedSample, sampled
from nbr.density.weighted import listed
from nbr.errors import install
from nbr.language import And, Expression, compares_numbers, conjunction, conjuncts
from nbr.model import Model

CELLS = 1 << 14  # of a joint distribution in one linear program
COUPLED = 1 << 22  # pairs of classes over all values of shared columns

Range = tuple[float, float]


@dataclass(frozen=True)
class Open:
    """The range, or None where there is none or nothing is known, and what a user should know of it."""

    range: Range | None
    note: str = ""
    error: Range | None = None  # of either end, over tables of as many rows

    @property
    def widened(self) -> Range | None:
        return wider(self.range, self.error)


def wider(found: Range | None, error: Range | None) -> Range | None:
    """A range with the sampling error of either end, if that is known."""
    if found is None or error is None:
        return found
    return max(0.0, found[0] - error[0]), min(1.0, found[1] + error[1])


def left_open(
    model: Model,
    question: Expression,
    condition: Expression | None,
    value: float | None,
    deadline: float,
    generator: torch.Generator,
) -> Open:
    """The range around the value of the model, if that is known; with the rows behind each view, also its error."""
    seen = model.seen
    if seen is None or not seen.views:
        return Open(None)
    reads = question.names() | (frozenset() if condition is None else condition.names())
    sets = reduced(seen.views, reads)
    if any(reads <= each for each in sets):
        return Open(None if value is None else (value, value))
    if compares_numbers([question, condition]):
        return Open(None, "what stays open of a comparison between numbers is not computed")
    rows = dict(zip(map(frozenset, seen.views), seen.counts, strict=True))
    asked = _Asked(model, question, condition, reads, generator, deadline, rows)
    try:
        found = asked.range(sets)
    except ModuleNotFoundError as error:
        return Open(None, f"what stays open needs {error.name}: {install('solve')}")
    if found.range is None:
        return found
    low, high = found.range
    if value is not None:
        low, high = min(low, value), max(high, value)
    return Open((max(0.0, low), min(1.0, high)), found.note, found.error)


def reduced(views: Sequence[Sequence[str]], reads: frozenset[str]) -> list[frozenset[str]]:
    """Sets of columns without those that make no difference.

    >>> [sorted(each) for each in reduced([("a", "b", "z"), ("z", "c", "d"), ("d", "e")], frozenset({"a", "c"}))]
    [['a', 'z'], ['c', 'z']]
    """
    sets = list(dict.fromkeys(frozenset(view) for view in views))
    while True:
        often = [name for each in sets for name in each]
        smaller = [frozenset(name for name in each if name in reads or often.count(name) > 1) for each in sets]
        smaller = list(dict.fromkeys(smaller))
        smaller = [each for each in smaller if each and not any(each < other for other in smaller)]
        if smaller == sets:
            return sets
        sets = smaller


@dataclass(frozen=True)
class _Asked:
    model: Model
    question: Expression
    condition: Expression | None
    reads: frozenset[str]
    generator: torch.Generator
    deadline: float
    rows: dict[frozenset[str], int | None]

    def range(self, sets: list[frozenset[str]]) -> Open:
        if len(sets) == 2 and self.reads <= sets[0] | sets[1]:
            return self.coupled(sets[0], sets[1])
        names = sorted(self.reads.union(*sets))
        found = self.joint(names, sets)
        if found is not None:
            return found
        pairs = [(one, other) for one, other in combinations(sets, 2) if self.reads <= one | other]
        if pairs:  # each leaves agreements out, so that each range holds the one wanted, and so does what they share
            found_each = [self.coupled(one, other) for one, other in pairs]
            ranges = [each.range for each in found_each if each.range is not None]
            if len(ranges) < len(found_each):
                return Open(None)
            shared = max(low for low, _ in ranges), min(high for _, high in ranges)
            notes = [each.note for each in found_each if each.note]
            return Open(shared, "; ".join(["wider than it must be: two sets of columns at a time", *notes[:1]]))
        found = self.joint(sorted(self.reads), [each & self.reads for each in sets if each & self.reads])
        if found is None:
            return Open((0.0, 1.0), "not computed: the question and the condition read too many values")
        return Open(found.range, "wider than it must be: only the columns asked about were made to agree")

    def coupled(self, one: frozenset[str], other: frozenset[str]) -> Open:
        """Two sets of columns: couple what each has alone for every value of what they share."""
        world, shared = self.model.world, sorted(one & other)
        left, right = sorted((one - other) & self.reads), sorted((other - one) & self.reads)
        found = listed(self.model, one | other)
        note = ""
        if found is not None:
            points, weights = found
            codes = points[:, [world.column(name) for name in shared]]
            number = torch.unique(codes, dim=0, return_inverse=True)[1] if shared else torch.zeros(len(points)).long()
            drawn = SharedSample(points, number, torch.softmax(weights, 0))
        elif self.model.base.log_mass({}) is None:
            return Open(None, "what stays open is not known: the prior cannot be drawn from inside a condition")
        else:
            told = self._told(one, other)
            drawn = sampled(self.model, shared, [*left, *right], told, self.deadline, self.generator)
            note = f"over {drawn.count:,} draws of the columns shared"
        sides = [Classes.of(world, names, self._statements) for names in (left, right)]
        pays = drawn.count * sides[0].count * sides[1].count
        if pays > COUPLED:
            return Open((0.0, 1.0), "not computed: the question and the condition read too many values")
        masses = [
            torch.zeros(drawn.count * side.count, dtype=torch.float64)
            .index_add(0, drawn.number * side.count + side.find(drawn.points), drawn.weights)
            .view(drawn.count, side.count)
            .numpy()
            for side in sides
        ]
        first = torch.zeros(drawn.count, dtype=torch.long)
        first[drawn.number] = torch.arange(len(drawn.points))
        cells = crossed_points(world, drawn.points[first], sides)
        shape = (drawn.count, sides[0].count, sides[1].count)
        yes, held = (part.reshape(shape) for part in self._truths(cells))
        order = [_lumped(yes, held, axis) for axis in (1, 2)]
        masses = [_summed(mass, lump) for mass, lump in zip(masses, order, strict=True)]
        keep = [np.unique(lump, return_index=True)[1] for lump in order]
        yes, held = (part[:, keep[0]][:, :, keep[1]] for part in (yes, held))
        couplings = Couplings(masses[0], masses[1], yes, held)
        return Open(couplings.range(), note, self._error(couplings, one, other))

    def _error(self, couplings: Couplings, one: frozenset[str], other: frozenset[str]) -> Range | None:
        known = [[n for view, n in self.rows.items() if side <= view] for side in (one, other)]
        rows = [max((n for n in each if n is not None), default=None if each else 1) for each in known]
        if rows[0] is None or rows[1] is None:
            return None
        seed = int(torch.randint(1 << 31, (1,), generator=self.generator))
        return spread(couplings, rows[0], rows[1], np.random.default_rng(seed), self.deadline)

    def joint(self, names: list[str], sets: list[frozenset[str]]) -> Open | None:
        """A linear program over all cells; None if there are too many."""
        world = self.model.world
        found = listed(self.model, names)
        often = [name for each in sets for name in each]
        if found is None:
            return None
        points, weights = found
        parts = [Classes.of(world, [name], None if often.count(name) > 1 else self._statements) for name in names]
        if math.prod(part.count for part in parts) > CELLS:
            return None
        cells = crossed_points(world, torch.zeros(1, len(world), dtype=torch.float64), parts)
        mass = torch.softmax(weights, 0)
        groups, sums = [], []
        for each in sets:
            chosen = [part for part, name in zip(parts, names, strict=True) if name in each]
            size = math.prod(part.count for part in chosen)
            groups.append(number_of(chosen, cells).numpy())
            total = torch.zeros(size, dtype=torch.float64).index_add(0, number_of(chosen, points), mass)
            sums.append(total.numpy())
        yes, held = self._truths(cells)
        return Open(Joint(tuple(groups), tuple(sums), yes, held).range())

    def _told(self, one: frozenset[str], other: frozenset[str]) -> Expression | None:
        """As much of the condition as one of two sets tells alone."""
        parts = [] if self.condition is None else list(conjuncts(self.condition))
        sides = [[part for part in parts if part.names() <= side] for side in (one, other)]
        return conjunction(max(sides, key=len))

    @property
    def _statements(self) -> list[Expression]:
        return [self.question, *([] if self.condition is None else [self.condition])]

    def _truths(self, points: Tensor) -> tuple[np.ndarray, np.ndarray]:
        world = self.model.world
        whole = self.question if self.condition is None else And((self.question, self.condition))
        held = torch.ones(len(points)) if self.condition is None else self.condition.holds(world, points)
        return whole.holds(world, points).double().numpy(), held.double().numpy()


def _lumped(yes: np.ndarray, held: np.ndarray, axis: int) -> np.ndarray:
    """Which classes of a side no question tells apart, whatever stands on the other."""
    rows = np.moveaxis(np.stack([yes, held]), axis + 1, 0).reshape(yes.shape[axis], -1)
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def _summed(mass: np.ndarray, lump: np.ndarray) -> np.ndarray:
    return np.stack([mass[:, lump == each].sum(axis=1) for each in np.unique(lump)], axis=1)
