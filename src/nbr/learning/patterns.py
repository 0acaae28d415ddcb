"""Patterns of a few literals that rows have less often than a model expects: what a clause would rule out.

Rows are packed into words of 64 bits, so that all pairs of literals, and what the best of them grow to, are counted in
a second. A pattern that the model has with probability m and rows have with probability v < m is worth

    KL(v, m) = v log(v / m) + (1 - v) log((1 - v) / (1 - m))

nats a row, if its clause is believed to the degree b with 1 - b = v (1 - m) / (m (1 - v)).

Where a model has every column as often as rows do, chance moves a pattern of several literals by less than a share of
that size would move by itself: given how often each of its literals holds, p_1 .. p_k, its variance is

    m (1 - m) - m^2 (sum over i of (1 - p_i) / p_i),     of two literals m (1 - p_1) (1 - p_2).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, log

import numpy as np
from scipy.special import ndtri

from nbr.learning.coarse import Coarse

LONGEST = 4  # literals of a clause
BEAM = 64, 1024  # patterns of each length that grow, at the least and at the most; else as many as there are rows
CHANCE = 0.05  # that a search finds anything where there is nothing
AT_ONCE = 256
LEAST = 5  # rows in which a model expects a pattern
LEFT = 0.1  # of a variance, at the least, where it is known how often each literal holds


@dataclass(frozen=True)
class Pattern:
    """Literals by number, how often rows and the model have them together, and what that is worth."""

    literals: tuple[int, ...]
    seen: float
    expected: float
    gain: float  # nats a row
    worth: float  # nats of all rows, base rates being as they are, beyond what the best of as many would have by chance

    @property
    def belief(self) -> float:
        return 1 - self.seen * (1 - self.expected) / (self.expected * (1 - self.seen))


class Packed:
    """Where each literal holds, and where its column is observed, as bits."""

    def __init__(self, coarse: Coarse, codes: np.ndarray) -> None:
        holds = [literal.mask[codes[literal.column]] & (codes[literal.column] >= 0) for literal in coarse.literals]
        self.holds = _pack(np.array(holds, dtype=bool).reshape(len(holds), codes.shape[1]))
        self.rows = codes.shape[1]
        known = codes >= 0
        self.known = None if known.all() else _pack(known[[literal.column for literal in coarse.literals]])

    def shares(self, held: np.ndarray, known: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """How often patterns hold among rows that show their columns, and how many rows do."""
        count = np.bitwise_count(held).sum(axis=1, dtype=np.int64)
        rows = np.full(len(held), self.rows) if known is None else np.bitwise_count(known).sum(axis=1, dtype=np.int64)
        return (count + 0.5) / (rows + 1), rows


def search(coarse: Coarse, rows: Packed, draws: Packed, together: int, rated: bool = False) -> list[Pattern]:
    """Patterns that rows have less often than draws of the model, and not by chance; the best first.

    `rated`: whether the model has every column as often as rows do.
    """
    columns = np.array([literal.column for literal in coarse.literals])
    beam = np.arange(len(columns))[:, None]
    found: list[Pattern] = []
    for length in range(1, LONGEST + 1):
        if not len(beam):
            break
        gain, score, seen, expected = _scored(beam, rows, draws, together, rated)
        best = np.argsort(-gain, kind="stable")[: min(BEAM[1], max(BEAM[0], rows.rows))]
        best = best[gain[best] > 0]
        tried = comb(len(columns), length)
        sure, worth = -float(ndtri(CHANCE / tried)), score**2 / 2 - log(tried)
        found += [
            Pattern(tuple(beam[at].tolist()), float(seen[at]), float(expected[at]), float(gain[at]), float(worth[at]))
            for at in best
            if score[at] > sure
        ]
        beam = _grown(beam if length == 1 else beam[best], columns)
    return _ordered(found, columns)


def _ordered(found: list[Pattern], columns: np.ndarray) -> list[Pattern]:
    """The columns with the most worth first, and of patterns on the same columns the most telling.

    Given base rates, (a, not b) and (not a, b) are worth the same: it is one fact. The rarer one makes the better rule.
    """
    reads = [tuple(sorted(columns[list(pattern.literals)].tolist())) for pattern in found]
    most: dict[tuple[int, ...], float] = {}
    for pattern, read in zip(found, reads, strict=True):
        most[read] = max(most.get(read, pattern.worth), pattern.worth)
    order = sorted(range(len(found)), key=lambda at: (-most[reads[at]], reads[at], -found[at].gain, found[at].literals))
    return [found[at] for at in order]


def _grown(beam: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Every pattern with one more literal, of a column that it does not speak of yet, each once."""
    literals = np.arange(len(columns))
    wide = np.concatenate([np.repeat(beam, len(literals), axis=0), np.tile(literals, len(beam))[:, None]], axis=1)
    wide = wide[(columns[wide[:, :-1]] != columns[wide[:, -1:]]).all(axis=1)]
    places = len(columns) ** np.arange(wide.shape[1])[::-1]  # as one number each: rows of a matrix are sorted slowly
    number = np.unique(np.sort(wide, axis=1) @ places)
    return np.asarray(number[:, None] // places % len(columns))


def _scored(beam: np.ndarray, rows: Packed, draws: Packed, together: int, rated: bool) -> tuple[np.ndarray, ...]:
    """What each pattern is worth (0 unless it is rarer than expected), by how many errors, and both shares."""
    parts = []
    alone, _ = draws.shares(draws.holds, draws.known)
    for index in np.array_split(beam, len(beam) // AT_ONCE + 1):
        seen, count = rows.shares(*_together(rows, index))
        expected, drawn = draws.shares(*_together(draws, index))
        gain = seen * np.log(seen / expected) + (1 - seen) * np.log((1 - seen) / (1 - expected))
        both = (seen * count + expected * drawn) / (count + drawn)
        spread = both * (1 - both)
        moved = np.maximum(spread - both**2 * (1 / alone[index] - 1).sum(axis=1), LEFT * spread) if rated else spread
        score = (expected - seen) / np.sqrt(moved / np.maximum(count, 1) + spread / drawn)
        fits = (seen < expected) & (count >= together) & (expected * count >= LEAST)
        parts.append((np.where(fits, gain, 0.0), score, seen, expected))
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def _together(packed: Packed, index: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    held = np.bitwise_and.reduce(packed.holds[index], axis=1)
    known = None if packed.known is None else np.bitwise_and.reduce(packed.known[index], axis=1)
    return held, known


def _pack(bits: np.ndarray) -> np.ndarray:
    packed = np.packbits(bits, axis=1)
    spare = -packed.shape[1] % 8
    return np.pad(packed, ((0, 0), (0, spare))).view(np.uint64)
