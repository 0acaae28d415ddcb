"""The distribution of one number, as its column has it: skewed, with many equal values, with long tails.

The range is cut into cells that hold about as many rows each, midway between values that occur. A value that fills a
cell of its own is an atom: draws give it back exactly. Within any other cell all values are alike. Beyond the range
lies a small mass, as much as one more row would have: 1 / (rows + 2) on either side, falling off like a square.

All scores are densities. An atom counts as its share over the smallest step between values, so that density times step
is the probability of the recorded value throughout; where the variable has a step, that is what is scored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.variables import FINEST
from nbr.world import Variable

FINE = 128  # cells, where there are rows enough
ROWS = 4  # of a cell
LOOSE = 0.01  # the share of an atom's cell that is spread over the rest of it, for scoring
BLIND = 1e-9  # the mass beyond either end where nothing was observed
NEXT_TO_NOTHING = 1e-3  # of a piece in which no number can be recorded
ROUNDING = 1e-6  # by which masses may be off from a sum of 1
REACH = 8  # the scale of the tails: the range over this

Piece = tuple[float, float]  # an open interval, or, where both ends are equal, a point


@dataclass(frozen=True)
class NumberCells:
    """Cells in order: lower and upper edge, the value of an atom (else NaN), and the mass, tails included."""

    variable: Variable
    cells: Tensor  # (cells, 4), float64
    tails: Tensor  # the mass below and above the range
    step: float  # draws are rounded to it, when it is above 0
    grain: float  # the smallest step between values, which atoms are as wide as

    def __post_init__(self) -> None:
        low, high, atom, mass = (
            self.cells.T if self.cells.dim() == 2 and self.cells.shape[1] == 4 else torch.zeros(4, 0)
        )
        edges = torch.cat([low, high])
        ordered = bool((low <= high).all()) and torch.equal(low[1:], high[:-1])  # one value alone has no width
        if not len(low) or not bool(edges.isfinite().all()) or not ordered:
            raise NbrError("the cells of a number follow each other from the lowest to the highest")
        if not bool((atom.isnan() | ((atom >= low) & (atom <= high))).all()):
            raise NbrError("the value of a cell of a number lies in the cell")
        if not bool((mass >= 0).all()) or not bool((mass.sum() - 1).abs() < ROUNDING):
            raise NbrError("the masses of the cells of a number sum to 1")
        sound = bool(((self.tails >= 0) & (self.tails <= 1)).all()) and 0 < self.grain < math.inf
        span = self.variable.high - self.variable.low
        if not sound or not 0 <= self.step < math.inf or (self.step and span / self.step > FINEST):
            raise NbrError("the tails, the step and the grain of a number are not numbers that could be so")

    @property
    def mass(self) -> Tensor:
        return self.cells[:, 3]

    def packed(self) -> Tensor:
        """All of it as one tensor, for a file: the cells, and below them the tails, the step and the grain."""
        sizes = torch.tensor([self.step, self.grain], dtype=torch.float64)
        return torch.cat([self.cells, torch.cat([self.tails, sizes])[None]])

    @classmethod
    def unpacked(cls, variable: Variable, packed: Tensor) -> NumberCells:
        if packed.dim() != 2 or packed.shape[1] != 4 or len(packed) < 2:
            raise NbrError(f"the cells of a number are rows of 4, not of shape {tuple(packed.shape)}")
        packed = packed.double()
        return cls(variable, packed[:-1], packed[-1, :2], float(packed[-1, 2]), float(packed[-1, 3]))

    def find(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """The cell of each value, and the log density within it; a NaN is in cell 0 and scores 0."""
        low, high, atom, mass = self.cells.T
        filled = values.nan_to_num(nan=float(low[0]))
        cell = torch.searchsorted(high[:-1].contiguous(), filled.contiguous(), right=True)
        width, at = (high - low)[cell], filled == atom[cell]
        grain = self.grain
        loose = torch.where(width > 1.5 * grain, LOOSE, 0.0)
        beside = torch.where(at, 1 - loose, loose.clamp(min=1e-6))
        share = torch.where(atom[cell].isnan(), 1.0, beside)
        size = torch.where(at, grain, torch.where(atom[cell].isnan(), width, (width - grain).clamp(min=grain)))
        beyond = (self._beyond(cell) / mass[cell]).nan_to_num(nan=0.0).clamp(max=1 - BLIND)  # a cell may have no mass
        density = (share * (1 - beyond) / size).log()
        scale = (self.variable.high - self.variable.low) / REACH
        for far, tail in zip((low[0] - filled, filled - high[-1]), self.tails, strict=True):
            outside = (tail / mass[cell] / scale).log() - 2 * torch.log1p(far.clamp(min=0) / scale)
            density = torch.where(far > 0, outside, density)
        density = density + math.log(self.variable.step) if self.variable.step else density
        return cell, density.masked_fill(values.isnan(), 0.0)

    def draw(self, cell: Tensor, share: Tensor, pieces: Sequence[Piece] | None = None) -> Tensor:
        """A value from each cell, as uniform shares say; only from the pieces given. All are within the range."""
        low, high, atom, _ = self.cells.T
        if pieces is None:
            drawn = torch.where(atom[cell].isnan(), low[cell] + share * (high - low)[cell], atom[cell])
            return self._rounded(drawn)
        drawn = torch.full_like(share, math.nan)
        for index in torch.unique(cell).tolist():
            parts = self._parts(index, pieces)
            sizes = torch.tensor([part[2] for part in parts], dtype=torch.float64)
            ends = (sizes.cumsum(0) / sizes.sum()).clamp(max=1.0)
            mine = cell == index
            pick = torch.searchsorted(ends[:-1].contiguous(), share[mine], right=True)
            start = torch.cat([ends.new_zeros(1), ends[:-1]])
            within = ((share[mine] - start[pick]) / (ends - start)[pick]).clamp(0, 1)
            below, above, _, low, high = torch.tensor(parts, dtype=torch.float64)[pick].T
            drawn[mine] = self._rounded(below + within * (above - below), low, high)
        return drawn

    def allowed(self, pieces: Sequence[Piece]) -> Tensor:
        """The share of each cell that lies in some pieces: (cells,)."""
        shares = [sum(part[2] for part in self._parts(index, pieces)) for index in range(len(self.cells))]
        return torch.tensor(shares, dtype=torch.float64)

    def _parts(self, index: int, pieces: Sequence[Piece]) -> list[tuple[float, float, float, float, float]]:
        """What pieces leave of a cell: from, to, the share of the cell, and the piece; the shares add up."""
        low, high, atom, _ = self.cells[index].tolist()
        if not math.isnan(atom):
            return [(atom, atom, 1.0, atom, atom)] if any(a < atom < b or a == b == atom for a, b in pieces) else []
        found = []
        for piece in pieces:
            start, end = self._recorded(*piece)
            size = min(end, high) - max(start, low)
            if size > 1e-9 * (high - low):
                inside = piece if piece[0] == piece[1] else (max(start, low), min(end, high))
                found.append((*inside, size / (high - low), *piece))
        return found

    def _recorded(self, start: float, end: float) -> Piece:
        """Where numbers lie that are recorded as one in a piece; a piece between two of them keeps next to nothing.

        A recorded number stands for half a grain on either side, so that x<c, x=c and x>c share nothing.
        """
        step, point = self.variable.step or self.step, start == end
        beside = 1.5 * step or self.variable.high - self.variable.low  # wide enough for both ends
        start, end = max(start, self.variable.low - beside), min(end, self.variable.high + beside)
        if step:
            ends = (start / step, end / step)
            first, last = (round(each) if abs(each - round(each)) < 1e-6 else None for each in ends)
            first = math.ceil(ends[0]) if first is None else first + (not point)
            last = math.floor(ends[1]) if last is None else last - (not point)
            if first <= last or self.variable.step:
                return (first - 0.5) * step, (last + 0.5) * step
        middle, half = (start + end) / 2, (end - start) / 2
        if point:
            half = self.grain / 2 * (NEXT_TO_NOTHING if step else 1.0)
        else:
            half = max(half - self.grain / 2, NEXT_TO_NOTHING * half)
        return middle - half, middle + half

    def _rounded(self, values: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
        """Values as a column would have them: on its steps, where they stay in the piece, and in its range."""
        if self.step:
            decimals = max(0, 2 - math.floor(math.log10(self.step)))
            near = torch.round(torch.round(values / self.step) * self.step, decimals=min(decimals, 15))
            inside = True if low is None or high is None else (near > low) & (near < high)
            inside = inside if not self.variable.step else True
            values = torch.where(torch.as_tensor(inside), near, values)
        return values.clamp(self.variable.low, self.variable.high)

    def _beyond(self, cell: Tensor) -> Tensor:
        """The mass of the tails that the cells have in them."""
        below, above = self.tails
        return torch.where(cell == 0, below, 0.0) + torch.where(cell == len(self.cells) - 1, above, 0.0)


def learn(values: Tensor, variable: Variable) -> NumberCells:
    """The distribution of a column, from its observed values; uniform if there are none."""
    seen = values.clamp(variable.low, variable.high).numpy()
    worth = 1 / (len(seen) + 2)
    distinct, counts = np.unique(seen, return_counts=True)
    step = variable.step or _step(distinct, len(seen))
    gaps = np.diff(distinct)
    grain = step or max(1e-9 * (variable.high - variable.low), float(gaps.min()) if len(gaps) else 0.0)
    half = step / 2
    low, high = variable.low - half, variable.high + half
    if not len(seen):
        cells = [[low, high, math.nan, 1.0]]
        tails = torch.full((2,), BLIND, dtype=torch.float64)
        return NumberCells(variable, torch.tensor(cells, dtype=torch.float64), tails, step, grain)
    groups = group(counts, max(ROWS, len(seen) / FINE))
    ends = np.flatnonzero(np.diff(groups))
    inner = _between(distinct[ends], distinct[ends + 1], variable.step)
    edges = [low, *inner.tolist(), high]
    mass = np.bincount(groups, counts) + 0.25
    single = np.bincount(groups) == 1
    atom = np.where(single & (mass > ROWS), distinct[np.r_[0, ends + 1]], math.nan)
    rows = [[a, b, v, m] for a, b, v, m in zip(edges, edges[1:], atom.tolist(), mass.tolist(), strict=False)]
    rows, tails = _outer(rows, distinct, half, worth * mass.sum())
    cells_ = torch.tensor(rows, dtype=torch.float64)
    total = cells_[:, 3].sum()
    cells_[:, 3] /= total
    return NumberCells(variable, cells_, tails / total, step, grain)


def group(counts: np.ndarray, need: float) -> np.ndarray:
    """Neighbours together until they have enough rows; one that has enough alone stays alone: (values,)."""
    groups, number, held = np.zeros(len(counts), dtype=np.int64), 0, 0.0
    for index, count in enumerate(counts.tolist()):
        if held and (held >= need or count >= need):
            number, held = number + 1, 0.0
        groups[index] = number
        held += count
    return groups


def _outer(
    rows: list[list[float]], distinct: np.ndarray, half: float, worth: float
) -> tuple[list[list[float]], Tensor]:
    """Where the range is wider than what was seen, a cell for the rest; and the mass beyond, within the end cells."""
    tails = torch.full((2,), worth, dtype=torch.float64)
    least, most = distinct[0] - half, distinct[-1] + half
    margin = 1e-9 * (rows[-1][1] - rows[0][0])
    if least - rows[0][0] > margin:
        rows = [[rows[0][0], least, math.nan, worth], [least, *rows[0][1:]], *rows[1:]]
        tails[0] /= 2
    else:
        rows[0][3] += worth
    if rows[-1][1] - most > margin:
        rows = [*rows[:-1], [rows[-1][0], most, *rows[-1][2:]], [most, rows[-1][1], math.nan, worth]]
        tails[1] /= 2
    else:
        rows[-1][3] += worth
    return rows, tails


def _step(distinct: np.ndarray, rows: int) -> float:
    """The step between values that were rounded to one, as most recorded numbers are; 0 if they were not."""
    if len(distinct) < 2 or len(distinct) > 0.9 * rows:
        return 0.0
    step = float(np.diff(distinct).min())
    power = 10.0 ** math.floor(math.log10(step) + 1e-6)
    return next((power * f for f in (5, 2.5, 2, 1, 0.5, 0.1) if _on(distinct, power * f)), 0.0)


def _on(distinct: np.ndarray, step: float) -> bool:
    return bool((np.abs(distinct / step - np.round(distinct / step)) < 1e-4).all())


def _between(left: np.ndarray, right: np.ndarray, step: float) -> np.ndarray:
    """Midway between neighbours; between whole steps, so that each belongs to one cell."""
    gap = np.round((right - left) / step) if step else 0.0
    middle: np.ndarray = left + step * (np.floor((gap - 1) / 2) + 0.5) if step else (left + right) / 2
    return middle
