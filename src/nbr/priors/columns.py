"""One column of a table as a few states, with a distribution inside each: what a tree of columns is made of.

A label is a state of its own; where there are many, the rare ones share one. Numbers fall into the cells of
`numbers`, and neighbouring cells share a state. A tree knows how states go together; inside a state a value is drawn
as often as the whole column has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nbr import registry
from nbr.errors import NbrError
from nbr.priors import numbers
from nbr.priors.numbers import NumberCells, Piece
from nbr.world import Variable

BEYOND = 1e-3  # what a label that the world does not have is scored as, outside of what sums to one
LABELS = 24  # states of a choice
ROUNDING = 1e-6  # by which masses may be off from a sum of 1
SMOOTHING = 0.5  # rows added to every label, so that none is impossible

Allowed = Tensor | Sequence[Piece]  # for a bit or a choice a mask over its values; for a real, pieces


@dataclass(frozen=True)
class Column:
    """The finest parts of a column (labels, or cells of a number), and the state that each belongs to."""

    variable: Variable
    state: Tensor  # (parts,), whole numbers
    mass: Tensor  # (parts,), sums to 1
    numbers: NumberCells | None  # None for labels

    def __post_init__(self) -> None:
        parts = self.variable.size if self.numbers is None else len(self.numbers.cells)
        if self.state.shape != (parts,) or self.mass.shape != (parts,) or not parts or not distributed(self.mass):
            raise NbrError(f"a column of {parts} parts needs a state for each, and masses that sum to 1")
        if bool((self.state < 0).any()) or int(self.state.max()) >= parts:
            raise NbrError(f"the states of a column of {parts} parts are numbered from 0 on")
        if not bool((torch.zeros(self.size).double().index_add(0, self.state, self.mass.double()) > 0).all()):
            raise NbrError("a state of a column has no mass")

    @property
    def size(self) -> int:
        return int(self.state.max()) + 1

    @property
    def share(self) -> Tensor:
        """How likely each part is within its state."""
        return self.mass / torch.zeros(self.size).double().index_add(0, self.state, self.mass)[self.state]

    def locate(self, codes: Tensor) -> tuple[Tensor, Tensor]:
        """The state of each cell, -1 where it is not known, and the log of what is left within the state."""
        if self.numbers is not None:
            part, score = self.numbers.find(codes)
            known = ~codes.isnan()
        else:
            known = (codes >= 0) & (codes < len(self.state))
            part = torch.where(known, codes, 0.0).long()
            score = torch.where(known | codes.isnan(), 0.0, math.log(BEYOND))
        score = score + torch.where(known, self.share.log()[part], 0.0)
        return torch.where(known, self.state[part], -1), score

    def admits(self, allowed: Allowed) -> Tensor:
        """The share of each part that is allowed."""
        if isinstance(allowed, Tensor):
            return allowed.double()
        assert self.numbers is not None
        return self.numbers.allowed(allowed)

    def draw(self, states: Tensor, generator: torch.Generator, allowed: Allowed | None = None) -> Tensor:
        """A code from each state, as likely as within the column; only allowed ones."""
        if self.numbers is None and self.size == len(self.state):  # a state is a label
            return self.state.argsort().double()[states]
        weight = self.mass if allowed is None else self.mass * self.admits(allowed)
        order = self.state.argsort(stable=True)
        ends = weight[order].cumsum(0)
        count = torch.bincount(self.state, minlength=self.size).cumsum(0)
        end = ends[count - 1]  # of each state
        start = torch.cat([ends.new_zeros(1), end[:-1]])
        share = torch.rand(len(states), generator=generator, dtype=torch.float64)
        at = torch.searchsorted(ends, start[states] + share * (end - start)[states], right=True)
        rank = torch.where(weight[order] > 0, torch.arange(len(order)), -1)
        last = rank.cummax(0).values[count - 1]  # rounding must not reach beyond, nor a weight of 0
        part = order[at.minimum(last[states])]
        if self.numbers is None:
            return part.double()
        share = torch.rand(len(part), generator=generator, dtype=torch.float64)
        return self.numbers.draw(part, share, None if allowed is None else allowed)  # type: ignore[arg-type]

    @property
    def edges(self) -> Tensor | None:
        """Between which all values of a number are alike; None where single values have a mass, or are rounded to."""
        if self.numbers is None or self.numbers.step or not bool(self.numbers.cells[:, 2].isnan().all()):
            return None
        return torch.cat([self.numbers.cells[:, 0], self.numbers.cells[-1:, 1]])

    def below(self, values: Tensor) -> Tensor:
        """How likely smaller numbers are."""
        assert self.edges is not None
        edges, sums = self.edges, torch.cat([self.mass.new_zeros(1), self.mass.cumsum(0)])
        at = torch.searchsorted(edges[1:-1].contiguous(), values.contiguous(), right=True)
        share = ((values - edges[at]) / (edges[at + 1] - edges[at])).clamp(0.0, 1.0)
        return sums[at] + share * self.mass[at]

    def spec(self) -> registry.Tensors:
        found = {"state": self.state, "mass": self.mass}
        return found if self.numbers is None else found | {"numbers": self.numbers.packed()}

    @classmethod
    def from_spec(cls, variable: Variable, parts: registry.Parts) -> Column:
        found = parts.tensors
        known = NumberCells.unpacked(variable, found["numbers"]) if variable.numeric else None
        return cls(variable, found["state"].long(), found["mass"].double(), known)


def distributed(masses: Tensor) -> bool:
    """Whether these are shares of 1."""
    return bool((masses >= 0).all()) and bool((masses.sum(dtype=torch.float64) - 1).abs() < ROUNDING)


def learn(values: Tensor, variable: Variable, states: int, labels: int = LABELS) -> Column:
    """A column of at most about so many states, from its observed codes; rare labels share the last one."""
    if variable.numeric:
        known = numbers.learn(values, variable)
        return Column(variable, torch.from_numpy(numbers.group(known.mass.numpy(), 1 / states)), known.mass, known)
    assert variable.size is not None
    weights = counts(values, variable.size)
    state = torch.arange(variable.size)
    if variable.size > labels:
        state[weights.argsort(descending=True, stable=True)] = torch.arange(variable.size).clamp(max=labels - 1)
    return Column(variable, state, weights / weights.sum(), None)


def counts(values: Tensor, size: int) -> Tensor:
    """How often each label is seen, and a little more; labels that the world does not have are left out."""
    return torch.bincount(values[(values >= 0) & (values < size)].long(), minlength=size).double() + SMOOTHING


def meets(codes: Tensor, allowed: Allowed) -> Tensor:
    """Which codes are allowed."""
    if isinstance(allowed, Tensor):
        known = (codes >= 0) & (codes < len(allowed))
        return known & allowed.bool()[torch.where(known, codes, 0.0).long()]
    found = torch.zeros_like(codes, dtype=torch.bool)
    for low, high in allowed:
        found |= (codes == low) if low == high else (codes > low) & (codes < high)
    return found


def pick(weights: Tensor, generator: torch.Generator) -> Tensor:
    """A position in each row, as likely as its weight: (rows,)."""
    ends = weights.cumsum(dim=1)
    share = torch.rand(len(weights), 1, generator=generator, dtype=torch.float64) * ends[:, -1:]
    found: Tensor = (ends <= share).sum(dim=1)
    last = weights.shape[1] - 1 - (weights.flip(1) > 0).double().argmax(dim=1)  # rounding must not reach a weight of 0
    return found.minimum(last)


def pad(columns: Sequence[Column]) -> np.ndarray:
    """Which of the states up to the largest number each column has: (columns, states)."""
    most = max(column.size for column in columns)
    return np.array([[state < column.size for state in range(most)] for column in columns])
