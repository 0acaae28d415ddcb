"""Short statements that agree with a table of truth values, one axis for each variable.

Two ideas do it. A statement that only counts (a literal, all, any, at least k of, a majority, a parity) is found by
taking the variables that matter most, turned so that each speaks for the truth, and looking at the truth as a function
of how many of them do. And a table may come apart: with one variable v fixed it becomes f0 and f1, and it is v & f1
where f0 is never true, v | f0 where f1 always is, v -> f1, ~v & f0 or v <-> f1 likewise; then what is left is looked at
in the same way. Where no variable comes off, a statement about two of them may.

A choice with more than two labels counts by the place of its label among those in order of how often they are true, so
that a threshold on a sum of places is found as a count of `size in {m, l}`, `size=l` and so on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nbr.language import And, Constant, Count, Expression, Iff, Implies, Majority, Not, Or
from nbr.restating.axes import Axis

Truth = NDArray[np.bool_]
WIDTH = 3  # ways to take a table apart that are followed
DEPTH = 4  # times that a table is taken apart
ALIKE = 0.1  # of the range of shares of truth, within which places count as one
SPLIT_LOSS = 0.06  # of the points, that taking apart may get wrong


@dataclass(frozen=True)
class Guess:
    """A statement, and what it says of every place of a table."""

    statement: Expression
    truth: Truth

    def loss(self, table: Truth) -> float:
        return float((self.truth != table).mean())


def guesses(table: Truth, axes: Sequence[Axis], depth: int = DEPTH) -> list[Guess]:
    """Statements that may agree with a table; the one that agrees best is among the first."""
    influence = [_influence(table, axis) for axis in range(table.ndim)]
    order = sorted(range(table.ndim), key=lambda axis: -influence[axis])
    mattering = [axis for axis in order if influence[axis] > 0]
    found = [Guess(Constant(value), np.full_like(table, value)) for value in (True, False)]
    for some in range(1, len(mattering) + 1):
        found += _counting(table, axes, mattering[:some])
    found.sort(key=lambda guess: guess.loss(table))
    if depth and found[0].loss(table) > 0 and len(mattering) > 1:
        found += _apart(table, axes, mattering, depth)
        found.sort(key=lambda guess: guess.loss(table))
    return found


def _influence(table: Truth, axis: int) -> float:
    """The share of what is left fixed at which the variable decides."""
    return float((table.any(axis=axis) != table.all(axis=axis)).mean())


def _counting(table: Truth, axes: Sequence[Axis], chosen: Sequence[int]) -> Iterator[Guess]:
    """The best statement that only counts how many of some variables speak for the truth."""
    total: NDArray[np.int64] = np.zeros(table.shape, dtype=np.int64)
    parts: list[Expression] = []
    for axis in sorted(chosen):
        ranks, sets = _ranked(table, axis)
        shape = [1] * table.ndim
        shape[axis] = -1
        total = total + ranks.reshape(shape)
        parts += [axes[axis].among(places) for places in sets]
    most = len(parts)
    weight = np.bincount(total.ravel(), minlength=most + 1)
    share = np.bincount(total.ravel(), weights=table.ravel(), minlength=most + 1) / np.maximum(weight, 1)
    pattern = share >= 0.5
    binary = all(table.shape[axis] == 2 for axis in chosen)
    for statement, says in _told(parts, pattern, binary):
        yield Guess(statement, says[total])


def _ranked(table: Truth, axis: int) -> tuple[NDArray[np.int64], list[list[int]]]:
    """The rank of each place of an axis, from how often it is true, and the sets of places from each rank on."""
    share = np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1).mean(axis=1)
    levels, spread = np.sort(share), float(np.ptp(share))
    if spread < 1e-9:  # as in a parity: no place speaks for the truth more than another
        ranks = np.arange(2) if len(share) == 2 else np.zeros(len(share), dtype=np.int64)
    else:
        starts = levels[1:][np.diff(levels) > ALIKE * spread]
        ranks = np.searchsorted(starts, share, side="right")
    return ranks, [np.flatnonzero(ranks >= rank).tolist() for rank in range(1, int(ranks.max(initial=0)) + 1)]


def _told(parts: Sequence[Expression], pattern: Truth, binary: bool) -> Iterator[tuple[Expression, Truth]]:
    """Statements about the number of parts that hold, for a pattern of which numbers are true."""
    most = len(parts)
    if not most:
        return
    numbers = np.arange(most + 1)
    changes = (np.flatnonzero(pattern[1:] != pattern[:-1]) + 1).tolist()
    if len(changes) == 1:
        (start,) = changes
        above = numbers >= start
        rising = bool(pattern[start])
        yield (
            (_at_least(parts, start) if rising else _at_least([_denied(part) for part in parts], most - start + 1)),
            (above if rising else ~above),
        )
    elif len(changes) == 2 and not (binary and most == 2):
        low, high = changes
        inside = (numbers >= low) & (numbers < high)
        said: Expression = Count(tuple(parts), "=", float(low))
        if high - low > 1:
            said = And((_at_least(parts, low), Count(tuple(parts), "<=", float(high - 1))))
        if not pattern[low]:
            said = Count(tuple(parts), "!=", float(low)) if high - low == 1 else Not(said)
        yield said, inside if pattern[low] else ~inside
    if binary and most > 1 and len(changes) >= 2:
        # a <-> b <-> .. holds where an even number of parts is false
        even = (most - numbers) % 2 == 0
        agrees = bool((even == pattern).mean() >= 0.5)
        first = parts[0] if agrees else _denied(parts[0])
        yield Iff((first, *parts[1:])), even if agrees else ~even


def _at_least(parts: Sequence[Expression], number: int) -> Expression:
    if len(parts) == 1:
        return parts[0]
    if number == 1:
        return Or(tuple(parts))
    if number == len(parts):
        return And(tuple(parts))
    if all(isinstance(part, Not) for part in parts) and 2 * number != len(parts) + 2:
        plain, most = tuple(map(_denied, parts)), len(parts) - number
        return Not(Majority(plain)) if 2 * number == len(parts) + 1 else Count(plain, "<=", float(most))
    if 2 * number in (len(parts) + 1, len(parts) + 2):
        return Majority(tuple(parts))
    return Count(tuple(parts), ">=", float(number))


def _denied(part: Expression) -> Expression:
    return part.part if isinstance(part, Not) else Not(part)


def _apart(table: Truth, axes: Sequence[Axis], mattering: Sequence[int], depth: int) -> list[Guess]:
    """Statements that join one variable, or a statement about two, with a statement about the others."""
    ways = [way for axis in mattering for way in _ways(table, axes, axis) if way.loss <= SPLIT_LOSS]
    if not any(way.loss == 0 for way in ways) and len(mattering) > 2:
        ways += [way for pair in combinations(sorted(mattering), 2) for way in _pairs(table, axes, pair)]
    found = []
    for way in sorted(ways, key=lambda way: way.loss)[:WIDTH]:
        rest = guesses(way.rest, [axis for number, axis in enumerate(axes) if number not in way.taken], depth - 1)
        for guess in rest[:WIDTH]:
            truth = np.expand_dims(guess.truth, way.taken)
            shape = [size if axis in way.taken else 1 for axis, size in enumerate(table.shape)]
            truth = _join(way.sign, way.mask.reshape(shape), truth)
            found.append(Guess(_joined(way.sign, way.said, guess.statement), truth))
    return found


@dataclass(frozen=True)
class Pair:
    """Two variables as one: its places are pairs of theirs."""

    first: Axis
    second: Axis

    def among(self, places: Collection[int]) -> Expression:
        mask = np.zeros(self.first.size * self.second.size, dtype=bool)
        mask[list(places)] = True
        return guesses(mask.reshape(self.first.size, self.second.size), [self.first, self.second])[0].statement


def _pairs(table: Truth, axes: Sequence[Axis], pair: tuple[int, int]) -> Iterator[_Way]:
    """Ways to take a table apart by a statement about two variables, whose pairs of values must be of two kinds."""
    merged = np.moveaxis(table, pair, (0, 1)).reshape(-1, *np.delete(table.shape, pair))
    if int(_ranked(merged, 0)[0].max()) != 1:
        return
    rest = [axis for number, axis in enumerate(axes) if number not in pair]
    for way in _ways(merged, [Pair(axes[pair[0]], axes[pair[1]]), *rest], 0):
        if way.loss <= SPLIT_LOSS:
            yield replace(way, taken=pair)


@dataclass(frozen=True)
class _Way:
    """How a table comes apart: axes, those of their places that make a statement v, a sign, and what is left."""

    taken: tuple[int, ...]
    mask: Truth
    said: Expression
    sign: str
    rest: Truth
    loss: float


def _ways(table: Truth, axes: Sequence[Axis | Pair], axis: int) -> Iterator[_Way]:
    for places in _splits(table, axis):
        mask = np.zeros(table.shape[axis], dtype=bool)
        mask[places] = True
        said, share = axes[axis].among(places), float(mask.mean())
        inside = table.compress(mask, axis=axis).mean(axis=axis)
        outside = table.compress(~mask, axis=axis).mean(axis=axis)
        yes, no = inside >= 0.5, outside >= 0.5
        blur = (  # what is lost by taking the places of each side together
            share * float(np.minimum(inside, 1 - inside).mean()),
            (1 - share) * float(np.minimum(outside, 1 - outside).mean()),
        )
        yield _Way((axis,), mask, said, "and", yes, (1 - share) * float(outside.mean()) + blur[0])
        yield _Way((axis,), mask, said, "if", yes, (1 - share) * float((1 - outside).mean()) + blur[0])
        yield _Way((axis,), mask, said, "not", no, share * float(inside.mean()) + blur[1])
        yield _Way((axis,), mask, said, "or", no, share * float((1 - inside).mean()) + blur[1])
        yield _Way((axis,), mask, said, "iff", yes, min(share, 1 - share) * float((yes == no).mean()) + sum(blur))


def _splits(table: Truth, axis: int) -> list[list[int]]:
    """Sets of places worth naming: those from each rank on, and for a parity of a bit the bit itself."""
    if table.shape[axis] == 2:
        return [[1]]
    ranks, sets = _ranked(table, axis)
    return sets or [[place] for place in range(len(ranks))]


def _joined(sign: str, said: Expression, rest: Expression) -> Expression:
    match sign, rest:
        case "iff", Iff():
            return Iff((said, *rest.parts))
        case "iff", _:
            return Iff((said, rest))
        case "and", _:
            return And((said, *(rest.parts if isinstance(rest, And) else (rest,))))
        case "not", _:
            return And((_denied(said), *(rest.parts if isinstance(rest, And) else (rest,))))
        case "or", _:
            return Or((said, *(rest.parts if isinstance(rest, Or) else (rest,))))
    return Implies(said, rest)


def _join(sign: str, mask: Truth, rest: Truth) -> Truth:
    match sign:
        case "and":
            return mask & rest
        case "if":
            return ~mask | rest
        case "not":
            return ~mask & rest
        case "or":
            return mask | rest
    same: Truth = mask == rest
    return same
