"""The probability that rules present at random kill every one of some points, for many such problems at once.

A problem is counted rule by rule. A state is the set of points still standing after the rules met so far, with its
probability; equal states merge. Where states grow too many, the least telling ones are bracketed instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nbr import clock
from nbr.clock import OutOfTime

Bits = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1 << 14
TINY = 1e-300


def all_killed(
    left: Flags, rivals: Flags, chance: Floats, *, beam: int, most: int, deadline: float
) -> tuple[Floats, Floats]:
    """For each piece, bounds on P(every rival is killed); left[piece, point, rule] marks killers.

    A piece that holds more than `most` states is cut back to the `beam` widest.
    """
    count, points, _ = left.shape
    each = np.arange(count)
    some_rival = _any(rivals)
    low = (~some_rival).astype(float)
    high = low.copy()
    hopeful = some_rival & ~_any(rivals & ~_any(left))
    left &= hopeful[:, None, None]
    packed = _pack(left)
    if beam:
        _absorb(left, packed)

    piece = np.flatnonzero(hopeful)
    standing = _pack(_any(left))[piece]
    weight = np.ones(len(piece))
    touched = np.zeros((count, points), bool)
    while len(piece):
        _check(deadline)
        if len(piece) > most:
            keep = _cut(piece, standing, weight, left, chance, beam, most, deadline, low, high)
            piece, standing, weight = piece[keep], standing[keep], weight[keep]
        if len(piece) == 0:
            break
        rule = _next_rule(left, touched)
        hit = left[each, :, rule]
        touched |= hit
        left[each, :, rule] = False
        packed[each, :, rule >> 6] &= ~(np.uint64(1) << (rule & 63).astype(np.uint64))[:, None]
        some_left = _any(packed)
        # Only a point that just lost a killer can newly need no more rules than another does.
        owner, y = np.nonzero(hit & some_left)
        beats = _beats(packed, owner, y, some_left[owner])
        beaten_by = np.zeros((count, points, standing.shape[1]), np.uint64)
        beaten_by[owner, y] = _pack(beats)
        beating = np.zeros((count, points), bool)
        beating[owner, y] = _any(beats)
        safe, victims, beating_bits = _pack(hit & ~some_left), _pack(hit), _pack(beating)

        struck = _any(standing & victims[piece])
        s_piece, s_standing, s_weight = piece[struck], standing[struck], weight[struck]
        odds = chance[rule[s_piece]]
        fallen = s_standing & ~victims[s_piece]
        dead = ~_any(fallen)
        low += (ended := np.bincount(s_piece[dead], (s_weight * odds)[dead], count))
        high += ended
        open_absent = ~_any(s_standing & safe[s_piece]) & (odds < 1)
        a_piece, a_standing = s_piece[open_absent], s_standing[open_absent]
        beaters = a_standing & beating_bits[a_piece]
        some = np.flatnonzero(_any(beaters))
        if len(some):
            place, beater = np.nonzero(_unpack(beaters[some], points))
            state = some[place]
            first = _starts(state)
            a_standing[state[first]] &= ~np.bitwise_or.reduceat(beaten_by[a_piece[state], beater], first, axis=0)

        piece = np.concatenate([piece[~struck], a_piece, s_piece[~dead]])
        standing = np.concatenate([standing[~struck], a_standing, fallen[~dead]])
        weight = np.concatenate([weight[~struck], (s_weight * (1 - odds))[open_absent], (s_weight * odds)[~dead]])
        piece, standing, weight = _merge(piece, standing, weight, count, points)
        seen = np.zeros((count, points), bool)
        if len(piece):
            first = _starts(piece)
            seen[piece[first]] = _unpack(np.bitwise_or.reduceat(standing, first, axis=0), points)
        left &= seen[:, :, None]
        packed[~seen] = 0
    return low, high


def _absorb(left: Flags, packed: Bits) -> None:
    """Drop each point whose killers include all of another's: once that one is dead, so is it."""
    count, points, _ = left.shape
    for y in range(points):
        beaten = _beats(packed, np.arange(count), np.full(count, y), _any(packed))
        beaten[~_any(packed[:, y])] = False
        left[beaten] = False
        packed[beaten] = 0


def _next_rule(left: Flags, touched: Flags) -> Ints:
    """Rules that finish off points needing few more, and bring few untouched points into play."""
    needs = left.sum(2)
    urgency = np.where(needs > 0, np.exp2(-needs.astype(np.float32)), 0)
    rules = left.astype(np.float32)
    gain = (urgency[:, None, :].astype(np.float32) @ rules)[:, 0]
    newcomers = ((~touched).astype(np.float32)[:, None, :] @ rules)[:, 0]
    return np.asarray((gain / (1 + 2 * newcomers)).argmax(axis=1))


def _beats(packed: Bits, owner: Ints, y: Ints, candidates: Flags) -> Flags:
    """For each (owner, y): the candidates whose killers include all of y's (of equals, the later ones)."""
    mine = packed[owner, y][:, None]
    theirs = packed[owner]
    later = np.arange(packed.shape[1]) > y[:, None]
    return ~_any(mine & ~theirs) & (_any(mine ^ theirs) | later) & candidates


def _merge(piece: Ints, standing: Bits, weight: Floats, count: int, points: int) -> tuple[Ints, Bits, Floats]:
    if len(piece) == 0:
        return piece, standing, weight
    shift = np.uint64(64 - count.bit_length())
    if points <= int(shift):
        digest = standing[:, 0]
    else:
        # Equal sets share a digest; unequal ones that collide only miss a merge.
        mixer = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
        digest = (standing * np.resize(mixer, standing.shape[1])).sum(1, dtype=np.uint64)
        digest = (digest ^ (digest >> np.uint64(29))) * mixer[0] >> (np.uint64(64) - shift)
    order = np.argsort((piece.astype(np.uint64) << shift) | digest)
    piece, standing, weight = piece[order], standing[order], weight[order]
    new = np.append(True, (piece[1:] != piece[:-1]) | _any(standing[1:] ^ standing[:-1]))
    first = np.flatnonzero(new)
    return piece[first], standing[first], np.add.reduceat(weight, first)


def _cut(
    piece: Ints,
    standing: Bits,
    weight: Floats,
    left: Flags,
    chance: Floats,
    beam: int,
    most: int,
    deadline: float,
    low: Floats,
    high: Floats,
) -> Flags:
    """Settle all but the beam widest states of overfull pieces by bounds, added to low and high."""
    keep = np.ones(len(piece), bool)
    first = _starts(piece)
    for start, stop in zip(first, np.append(first[1:], len(piece)), strict=True):
        if stop - start > most:
            owner, mass = piece[start], weight[start:stop]
            least, highest = _bracket(standing[start:stop], left[owner], chance, deadline)
            width = mass * (highest - least)
            gone = np.argpartition(-width, beam)[beam:]
            low[owner] += mass[gone] @ least[gone]
            high[owner] += mass[gone] @ highest[gone]
            keep[start + gone] = False
    return keep


def _bracket(standing: Bits, left: Flags, chance: Floats, deadline: float) -> tuple[Floats, Floats]:
    """Bounds on P(all standing points killed), for each set of standing points.

    Deaths are increasing events of independent bits, so Harris' inequality gives
    P(all die) >= prod P(each dies). Splitting survival by the first survivor k and applying the same
    inequality given that k's killers are absent gives
    P(someone survives) >= sum over k of P(k survives) * prod over j before k of P(j dies | k survives).
    """
    used = np.flatnonzero(_unpack(np.bitwise_or.reduce(standing, axis=0), len(left)))
    killers = left[used].astype(float)
    shared = (killers * np.log(np.maximum(1 - chance, TINY))) @ killers.T
    order = np.argsort(-np.diag(shared), kind="stable")
    shared = shared[np.ix_(order, order)]
    alone = np.diag(shared)
    survive = np.exp(alone)
    dies = np.log(np.maximum(-np.expm1(alone), TINY))
    dies_given = np.triu(np.log(np.maximum(-np.expm1(np.minimum(alone[:, None] - shared, 0)), TINY)), 1)
    least, most = np.empty(len(standing)), np.empty(len(standing))
    for start in range(0, len(standing), BLOCK):
        _check(deadline)
        block = slice(start, start + BLOCK)
        members = _unpack(standing[block], len(left))[:, used[order]].astype(float)
        least[block] = np.exp(members @ dies)
        most[block] = 1 - (members * np.exp(members @ dies_given)) @ survive
    return least, np.maximum(most, least)


def _check(deadline: float) -> None:
    if clock.now() > deadline:
        raise OutOfTime


def _pack(flags: Flags) -> Bits:
    packed = np.packbits(flags, axis=-1, bitorder="little")
    padding = -packed.shape[-1] % 8
    return np.pad(packed, [(0, 0)] * (packed.ndim - 1) + [(0, padding)]).view(np.uint64)


def _unpack(bits: Bits, width: int) -> Flags:
    return np.unpackbits(np.ascontiguousarray(bits).view(np.uint8), axis=-1, count=width, bitorder="little").view(bool)


def _any(bits: Bits | Flags) -> Flags:
    """Whether something is set along the last axis; one word is the usual case, and quick."""
    return np.asarray(bits[..., 0] != 0 if bits.shape[-1] == 1 else bits.any(-1))


def _starts(values: Ints) -> Ints:
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))
