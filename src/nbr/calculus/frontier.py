"""Expectations of rules that lie along a line: which points are still possible, world by world, as the line is walked.

Variables come one after the other, and stay in the *frontier* until every rule that reads them has been met. What the
past leaves possible is then a set of points of the frontier. Rule i is there with probability b_i, and cuts its
violations out of the set; worlds that leave the same set are one *state*, and their probabilities add up. At the end
E f_Q, E f_N and E f_C are the probabilities of the states in which a point for the question, one against it, or any
is left. This is exact while states are few, however small E f_C is and however many worlds there are.

Where they become too many there are two ways on. States of little probability are thinned out at random so that every
expectation keeps its mean; independent walks then give an interval. Or states are put together, by their union for a
bound from above and by their intersection for one from below: these hold for certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from nbr.calculus.problem import Estimate, Interval
from nbr.ways import SHARES, Limits

Words = NDArray[np.uint64]  # (states, sides, words): 64 points of the frontier in each word
Weights = NDArray[np.float64]  # (states,)
Thinning = Callable[[Words, Weights], tuple[Words, Weights]]

STATES = 1 << 18  # up to which a walk is exact
HELD = 1 << 24  # words of all states together
TRIAL, MOST = 256, 1 << 15  # states of a walk that is thinned out, or in which states are put together
STUDENT = {4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}  # 97.5% of Student's t, by how many walks there were
NEVER = 12.0  # what n states do not show has a share of at most 3 / n, 95 times in 100, if they were independent
ALIKE = 0.5  # of the runs that must count: where few carry the sums, no interval is claimed
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class RuleStep:
    """A rule: points that it allows, of the words given, and its belief."""

    mask: NDArray[np.uint64]
    belief: float


@dataclass(frozen=True)
class FrontierSplit:
    """The question: from here on the points for it and those against it are told apart."""

    mask: NDArray[np.uint64]


@dataclass(frozen=True)
class Drop:
    """A variable leaves the frontier: a point stands for all that differ from it in that variable alone.

    Points lie `stride` apart, `size` of them; the place is then free for another variable.
    """

    stride: int
    size: int


Step = RuleStep | FrontierSplit | Drop


class TooManyStates(Exception):
    """An exact walk is out of reach."""


@dataclass(frozen=True)
class WalkedEstimate(Estimate):
    """95% intervals from independent walks; `sure` has bounds that hold for certain."""

    runs: NDArray[np.float64] = field(kw_only=True)  # (runs, 3): the expectations, up to a common factor
    states: int = field(kw_only=True)  # of each run, after it was thinned out
    sure: Estimate = field(kw_only=True)

    def ratio(self, union: int, of: int) -> Interval:
        """Between the runs' ratios, by how far they differ; never outside what is certain."""
        least, most = self.sure.ratio(union, of)
        if union == of:
            return least, most
        part, whole = self.runs[:, union], self.runs[:, of]
        value = float(part.sum() / whole.sum())
        spread = part - value * whole
        error = STUDENT[len(part)] * float(spread.std(ddof=1)) / (math.sqrt(len(part)) * float(whole.mean()))
        error = max(error, NEVER / (len(part) * self.states))  # what no run has shown may still be there
        return min(max(value - error, least), most), max(min(value + error, most), least)


def exact(steps: Sequence[Step], points: int, limits: Limits) -> Estimate | None:
    """The expectations while states are few, else None; `points` is the size of the frontier."""
    most = min(STATES, HELD // (2 * _words(points)))
    try:
        values, log = _walked(steps, points, None, most, limits)
    except TooManyStates:
        return None
    found = torch.from_numpy(values)
    return Estimate(found, found, "frontier", scale=math.exp(log))


def bounded(steps: Sequence[Step], points: int, limits: Limits) -> Estimate:
    """Bounds that hold for certain and, if the runs agree well enough to claim one, a 95% interval within them."""
    sure = _bounds(steps, points, limits.share(SHARES["walked proof"]))
    try:
        found, kept = _runs(steps, points, limits)
    except TooManyStates:
        return sure
    whole = found[:, 2]
    if whole.sum() ** 2 < ALIKE * len(whole) * (whole**2).sum():
        return sure
    return WalkedEstimate(sure.low, sure.high, "frontier", "95%", sure.scale, runs=found, states=kept, sure=sure)


def _runs(steps: Sequence[Step], points: int, limits: Limits) -> tuple[NDArray[np.float64], int]:
    """The expectations by independent walks, over a common factor, with as many states as time allows; and how many."""
    runs: list[tuple[NDArray[np.float64], float]] = []
    kept = TRIAL
    try:
        while len(runs) < max(STUDENT):
            generator = np.random.default_rng([limits.seed, kept, len(runs)])
            before = limits.left
            runs.append(_walked(steps, points, _thinned(generator, kept), 2 * kept, limits))
            larger = _affordable(kept, before - limits.left, limits, max(STUDENT))
            if kept == TRIAL and larger > 2 * kept:  # the first was a trial
                kept, runs = larger, []
    except TooManyStates:
        if len(runs) < min(STUDENT):
            raise
    top = max(log for _, log in runs)
    return np.stack([values * math.exp(log - top) for values, log in runs]), kept


def _affordable(kept: int, spent: float, limits: Limits, times: int) -> int:
    """How many states there is time for in each of some walks, if one with `kept` states took the seconds spent."""
    return int(min(MOST, kept * SHARES["walks"] * limits.left / (times * max(spent, 1e-6))))


def _bounds(steps: Sequence[Step], points: int, limits: Limits) -> Estimate:
    """Proved bounds of the three expectations, over a common factor; from 0 to 1 where time was too short."""

    def walk(join: np.ufunc, kept: int) -> tuple[NDArray[np.float64], float]:
        return _walked(steps, points, _together(join, kept), 2 * kept, limits)

    low = high = None
    try:
        before = limits.left
        high = walk(np.bitwise_or, TRIAL)
        kept = max(TRIAL, _affordable(TRIAL, before - limits.left, limits, 2))
        low = walk(np.bitwise_and, kept)
        high = walk(np.bitwise_or, kept)
    except TooManyStates:
        pass
    if high is None:
        return Estimate(torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64), "frontier")
    values, log = low or (np.zeros(3), high[1])
    least = torch.from_numpy(values * math.exp(log - high[1]))
    return Estimate(least, torch.from_numpy(high[0]).maximum(least), "frontier", scale=math.exp(high[1]))


def _words(points: int) -> int:
    return -(-points // 64)


def _walked(
    steps: Sequence[Step], points: int, thin: Thinning | None, most: int, limits: Limits
) -> tuple[NDArray[np.float64], float]:
    """The expectations of points for the question, against it, and any, over a factor whose log comes with them."""
    words = _words(points)
    first: NDArray[np.uint64] = np.full(words, ~np.uint64(0))
    if points % 64:
        first[-1] = np.uint64((1 << points % 64) - 1)
    states: Words = np.broadcast_to(first, (1, 2, words)).copy()
    weights, log = np.ones(1), 0.0
    for step in steps:
        if isinstance(step, Drop):
            states = _dropped(states, step, points)
        elif isinstance(step, FrontierSplit):
            states = states & np.stack([step.mask, ~step.mask])
        else:
            states, weights = _cut(states, weights, step)
        states, weights = merged_states(states, weights)
        if not len(weights):
            return np.zeros(3), log
        if len(weights) > most:
            if thin is None:
                raise TooManyStates
            states, weights = merged_states(*thin(states, weights))
        if limits.left <= 0:
            raise TooManyStates
        whole = weights.sum()
        weights, log = weights / whole, log + math.log(whole)
    left = states.any(axis=2).astype(np.float64)
    return weights @ np.concatenate([left, left.max(axis=1, keepdims=True)], axis=1), log


def _cut(states: Words, weights: Weights, step: RuleStep) -> tuple[Words, Weights]:
    cut = states & step.mask
    if step.belief == 1:
        return cut, weights
    changed = (cut != states).any(axis=(1, 2))
    without = np.where(changed, weights * (1 - step.belief), weights)
    return np.concatenate([states, cut[changed]]), np.concatenate([without, weights[changed] * step.belief])


def _dropped(states: Words, step: Drop, points: int) -> Words:
    """Each point is possible from here on if one that differs in the variable alone was."""
    stride, size = step.stride, step.size
    if size == 2 and 64 % (2 * stride) == 0:  # no pair lies across two words
        mask = np.uint64(sum(1 << bit for bit in range(64) if not bit // stride % 2))
        shift = np.uint64(stride)
        either = (states | (states >> shift)) & mask
        return either | (either << shift)
    if stride % 64 == 0:
        shape = (*states.shape[:2], -1, size, stride // 64)
        either = np.bitwise_or.reduce(states.reshape(shape), axis=3, keepdims=True)
        return np.broadcast_to(either, states.reshape(shape).shape).reshape(states.shape)
    bits = np.unpackbits(states.view(np.uint8), axis=2, bitorder="little", count=points)
    shape = (*states.shape[:2], -1, size, stride)
    either = np.broadcast_to(bits.reshape(shape).max(axis=3, keepdims=True), bits.reshape(shape).shape)
    packed = np.packbits(either.reshape(bits.shape), axis=2, bitorder="little")
    full = np.zeros((*states.shape[:2], 8 * states.shape[2]), dtype=np.uint8)
    full[:, :, : packed.shape[2]] = packed
    return full.view(np.uint64)


def merged_states(states: Words, weights: Weights) -> tuple[Words, Weights]:
    """Each state once, with the sum of its probabilities; none that leaves no point."""
    alive = states.any(axis=(1, 2)) & (weights > 0)
    states, weights = states[alive], weights[alive]
    if not len(states):
        return states, weights
    _, first, place = np.unique(_hashes(states), return_index=True, return_inverse=True)
    if not np.array_equal(states[first][place], states):  # two states with one hash
        _, first, place = np.unique(states.reshape(len(states), -1), axis=0, return_index=True, return_inverse=True)
    summed: Weights = np.bincount(place.ravel(), weights=weights, minlength=len(first)).astype(np.float64)
    return states[first], summed


def _hashes(states: Words) -> NDArray[np.uint64]:
    found = np.zeros(len(states), dtype=np.uint64)
    for column in states.reshape(len(states), -1).T:
        found = (found ^ column) * MIX
        found ^= found >> np.uint64(29)
    return found


def _thinned(generator: np.random.Generator, kept: int) -> Thinning:
    """Of states of little probability some are kept, each as often as it is probable, with the same weight.

    Those above a threshold c stay as they are, the others with probability w / c and the weight c, where c is such that
    `kept` are left: no expectation changes in the mean, and none of this kind changes less. Every so many in a row are
    thinned out to one, and alike states stand beside each other, so that each sort keeps its share.
    """

    def thin(states: Words, weights: Weights) -> tuple[Words, Weights]:
        order = _alike(states)
        states, weights = states[order], weights[order]
        ordered = np.sort(weights)
        above = np.arange(len(weights))[::-1]  # how many are heavier than each
        threshold = np.cumsum(ordered) / np.maximum(kept - above, 1e-9)
        c = threshold[(ordered <= threshold) & (threshold <= np.append(ordered[1:], np.inf)) & (kept > above)][0]
        heavy = weights > c
        rest = np.flatnonzero(~heavy)
        marks = np.floor(np.cumsum(weights[rest] / c) + generator.random())
        chosen = rest[np.diff(marks, prepend=0.0) > 0]
        pick = np.concatenate([np.flatnonzero(heavy), chosen])
        return states[pick], np.where(heavy[pick], weights[pick], c)

    return thin


def _alike(states: Words) -> NDArray[np.intp]:
    """An order in which neighbours are alike: first by which sides are left, then by their points."""
    columns, sides = states.reshape(len(states), -1), np.asarray(states.any(axis=2))
    return np.lexsort([*columns.T, *sides.T])


def _together(join: np.ufunc, kept: int) -> Thinning:
    """The more probable half stays; of the others, neighbours in the order of their points are put together."""

    def thin(states: Words, weights: Weights) -> tuple[Words, Weights]:
        order = np.argsort(weights)[::-1]
        heavy, light = order[: kept // 2], order[kept // 2 :]
        light = light[_alike(states[light])]
        starts = np.linspace(0, len(light), kept // 2, endpoint=False).astype(int)
        joined = join.reduceat(states[light], starts, axis=0)
        summed = np.add.reduceat(weights[light], starts)
        return np.concatenate([states[heavy], joined]), np.concatenate([weights[heavy], summed])

    return thin
