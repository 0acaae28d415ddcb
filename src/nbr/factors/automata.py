"""Sums too long for a table: a running total that goes from part to part, with as few states as tell results apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from nbr.ways import Unfit

STATES = 1024  # of a running total
DIGITS = 10  # of the largest total, to which totals are the same
EXACT = 1e15  # from here on floats skip whole numbers


@dataclass(frozen=True)
class Automaton:
    """For each part the state after it, by the state before it and by which of its contributions it makes."""

    steps: tuple[tuple[tuple[int, ...], ...], ...]  # (parts, states before, contributions)
    accepts: tuple[bool, ...]  # of each state after the last part


def automaton(parts: Sequence[Sequence[float]], accept: Callable[[float], bool]) -> Automaton:
    """The sum of one contribution of each part, accepted or not; totals from which all follows alike are one state.

    >>> automaton([[0, 1]] * 3, lambda total: total >= 1).steps
    (((0, 1),), ((0, 1), (1, 1)), ((0, 1), (1, 1)))
    """
    largest = sum(max(abs(each) for each in part) for part in parts)
    digits = DIGITS - math.ceil(math.log10(largest)) if largest else DIGITS

    def add(_: int, total: float, each: float) -> float:
        return round(total + each, digits) + 0.0

    return _smallest(parts, 0.0, add, accept)


def equality(
    weights: Sequence[float], parts: Sequence[Sequence[float]], number: float
) -> tuple[list[int], Automaton] | None:
    """Whether a weighted sum is a number, all of them whole: the order to take the parts in, and their automaton.

    Parts with the smallest units come first. What the rest can add is a multiple of a common divisor, and bounded: a
    total that the rest cannot bring to the number has failed. So of long numbers that are added only carries are left.
    Numbers count as they are written, so that 1e99 is a one with 99 noughts. None where something is not whole.

    >>> order, machine = equality([10, 1, -10, -1], [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2, 3]], 0)
    >>> order, [len(step) for step in machine.steps]
    ([1, 3, 0, 2], [1, 3, 2, 4])
    """
    goal, scales, values = (
        _whole(number),
        [_whole(each) for each in weights],
        [list(map(_whole, each)) for each in parts],
    )
    if None in (goal, *scales, *(each for part in values for each in part)):
        return None
    made = [[scale * each for each in part] for scale, part in zip(scales, values, strict=True)]  # type: ignore[operator]
    low = [min(part) for part in made]
    above = [[each - least for each in part] for part, least in zip(made, low, strict=True)]  # all from 0 on
    order = sorted(range(len(parts)), key=lambda place: (math.gcd(*above[place]), place))
    rests = [0, *accumulate(max(above[place]) for place in reversed(order))][-2::-1]  # the most that later parts add
    divisors = [0, *accumulate((math.gcd(*above[place]) for place in reversed(order)), math.gcd)][-2::-1]
    missing = goal - sum(low)  # type: ignore[operator]

    def add(place: int, total: int | None, each: int) -> int | None:
        if total is None:
            return None
        left, divisor = missing - total - each, divisors[place]
        fits = 0 <= left <= rests[place] and (left % divisor == 0 if divisor else left == 0)
        return total + each if fits else None

    return order, _smallest([above[place] for place in order], 0, add, lambda total: total is not None)


def _whole(number: float) -> int | None:
    """A number as it is written, if that is whole: of large floats not the nearest number that they stand for.

    >>> _whole(1e23), _whole(0.5)
    (100000000000000000000000, None)
    """
    if abs(number) < EXACT:
        return int(number) if float(number).is_integer() else None
    return int(Decimal(repr(float(number))))


def _smallest(
    parts: Sequence[Sequence[float]],
    start: Hashable,
    add: Callable[..., Hashable],
    accept: Callable[..., bool],
) -> Automaton:
    """All totals from part to part, then those of which all follows alike taken together, from the last on."""
    totals: list[list[Hashable]] = [[start]]
    follows: list[dict[tuple[Hashable, float], Hashable]] = []
    for place, part in enumerate(parts):
        after = {(total, each): add(place, total, each) for total in totals[-1] for each in part}
        follows.append(after)
        totals.append(sorted(set(after.values()), key=lambda total: (total is None, total)))
        if len(totals[-1]) > STATES:
            raise Unfit(f"a sum of {len(parts)} terms has more than {STATES} possible totals")
    accepted = [accept(total) for total in totals[-1]]
    kinds = sorted(set(accepted))
    state = {total: kinds.index(each) for total, each in zip(totals[-1], accepted, strict=True)}
    steps = []
    for before, part, after in zip(reversed(totals[:-1]), reversed(parts), reversed(follows), strict=True):
        rows: dict[tuple[int, ...], int] = {}
        state = {
            total: rows.setdefault(tuple(state[after[total, each]] for each in part), len(rows)) for total in before
        }
        steps.append(tuple(rows))
    return Automaton(tuple(reversed(steps)), tuple(kinds))
