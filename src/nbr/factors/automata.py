"""Sums too long for a table: a running total that goes from part to part, with as few states as tell results apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nbr.ways import Unfit

STATES = 1024  # of a running total
DIGITS = 10  # of the largest total, to which totals are the same


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
    totals: list[list[float]] = [[0.0]]
    for part in parts:
        totals.append(sorted({round(total + each, digits) + 0.0 for total in totals[-1] for each in part}))
        if len(totals[-1]) > STATES:
            raise Unfit(f"a sum of {len(parts)} parts has more than {STATES} totals")
    accepted = [accept(total) for total in totals[-1]]
    kinds = sorted(set(accepted))
    after = {total: kinds.index(each) for total, each in zip(totals[-1], accepted, strict=True)}
    steps = []
    for before, part in zip(reversed(totals[:-1]), reversed(parts), strict=True):
        follows: dict[tuple[int, ...], int] = {}
        state = {}
        for total in before:
            row = tuple(after[round(total + each, digits) + 0.0] for each in part)
            state[total] = follows.setdefault(row, len(follows))
        steps.append(tuple(follows))
        after = state
    return Automaton(tuple(reversed(steps)), tuple(kinds))
