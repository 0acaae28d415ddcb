"""Many small problems at once: the same few points each, such as the labels of one input, and any number of rules.

For a set T of points, E_Y[min over T of mu_Y] is what Dempster and Shafer call its commonality. That of single points
decides which is the most plausible; those of all sets give E[max over S of mu_Y] for every S, by inclusion-exclusion.
Logarithms are kept, since products over thousands of rules are small.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import linear

from nbr.calculus.few import minima
from nbr.calculus.point import keep_probability

CHUNK = 1 << 22  # numbers held at a time
CERTAIN = 1e7  # the weight of evidence of a rule that is certain: far above all others, and sums keep nine digits


class Groups:
    """Which group each rule puts each point in, (rules, points): 0, 1 and so on, -1 where it makes no judgement.

    All points of a group have the same grade, and points that a rule makes no judgement about have grade 1.
    """

    def __init__(self, table: Tensor) -> None:
        self.table = table
        self._sides: dict[torch.dtype, Tensor] = {}

    def __len__(self) -> int:
        return len(self.table)

    @property
    def points(self) -> int:
        return self.table.shape[1]

    @cached_property
    def binary(self) -> bool:
        """Whether every rule tells two groups apart."""
        return not len(self) or int(self.table.max()) < 2

    @cached_property
    def complete(self) -> bool:
        """Whether every rule judges all points."""
        return bool((self.table >= 0).all())

    @cached_property
    def rank(self) -> Tensor:
        """1 for the points in group 1 of a rule, -1 for those in group 0, 0 outside: (points, rules)."""
        table = self.table.T
        return (table == 1).double() - (table == 0).double()

    def sides(self, dtype: torch.dtype) -> Tensor:
        """Half the rank in another precision: (points, rules)."""
        if dtype not in self._sides:
            self._sides[dtype] = (self.rank / 2).to(dtype).contiguous()
        return self._sides[dtype]

    def rising(self, first: Tensor, second: Tensor) -> Tensor:
        """How log E of one point minus that of another moves with each weight: 1 up, -1 down, 0 not at all.

        The two points may differ from problem to problem, (n,): the answer is (n, rules).
        """
        return (self.rank[first] - self.rank[second]).sign()


class Batch(ABC):
    """Problems that share their rules."""

    @abstractmethod
    def points(self) -> Tensor:
        """log E[mu_Y(z)] of every point, up to a constant of the problem: (..., points)."""

    @abstractmethod
    def sets(self) -> Tensor:
        """log E[min over T of mu_Y] of every set T of points, a bit mask: (..., 2^points)."""

    @abstractmethod
    def alone(self, point: Tensor) -> Tensor:
        """log E[mu_Y(z)] if a rule were the only one, for each rule and a point of each problem: (n, rules)."""


@dataclass(frozen=True, eq=False)
class FuzzyBatch(Batch):
    """Grades (..., points, rules) as they are, by the one-point formula; beliefs (rules,) or (..., rules)."""

    grades: Tensor
    beliefs: Tensor

    def points(self) -> Tensor:
        tiny = torch.finfo(self.grades.dtype).tiny
        return keep_probability(self.grades, self._beside).clamp(min=tiny).log()

    def sets(self) -> Tensor:
        *batch, points, rules = self.grades.shape
        size = max(1, CHUNK // ((1 << points) * max(1, rules)))
        grades = self.grades.reshape(-1, points, rules).split(size)
        if self.beliefs.dim() == 1:
            found = [keep_probability(minima(part), self.beliefs) for part in grades]
        else:
            beliefs = self.beliefs.expand(*batch, rules).reshape(-1, 1, rules).split(size)
            found = [keep_probability(minima(part), belief) for part, belief in zip(grades, beliefs, strict=True)]
        return torch.cat(found).log().reshape(*batch, 1 << points)

    def alone(self, point: Tensor) -> Tensor:
        tiny = torch.finfo(self.grades.dtype).tiny
        grades = self.grades[torch.arange(len(point)), point]
        return (1 - self.beliefs * (1 - grades)).clamp(min=tiny).log()

    @property
    def _beside(self) -> Tensor:
        return self.beliefs if self.beliefs.dim() == 1 else self.beliefs[..., None, :]


@dataclass(frozen=True, eq=False)
class CrispBatch(Batch):
    """Crisp rules of two groups, each with its own belief in every problem: Dempster's rule, a product.

    A rule has a weight of evidence w, (..., rules). It rules out its group 0 if w > 0, and its group 1 if w < 0, with
    belief 1 - exp(-|w|): E[mu_Y(z)] is the product of exp(-|w|) over the rules that rule z out.
    """

    weights: Tensor
    groups: Groups

    def points(self) -> Tensor:
        """w/2 for group 1, -w/2 for group 0, and -|w|/2 for both where some points are spared; summed over rules."""
        sides = self.groups.sides(self.weights.dtype)
        found = linear(self.weights, sides)
        return found if self.groups.complete else found - linear(self.weights.abs(), sides.abs())

    def sets(self) -> Tensor:
        points = self.groups.points
        bits = (torch.arange(1 << points)[:, None] >> torch.arange(points) & 1).to(self.weights.dtype)
        total = self.weights.new_zeros(*self.weights.shape[:-1], 1 << points)
        for group, loss in ((1, self.weights.clamp(max=0)), (0, (-self.weights).clamp(max=0))):
            member = (self.groups.table == group).to(bits.dtype)
            total = total + loss @ (member @ bits.T > 0).to(loss.dtype)
        return total.masked_fill(total < -CERTAIN / 2, -torch.inf)

    def alone(self, point: Tensor) -> Tensor:
        return (self.groups.rank[point].to(self.weights.dtype) * self.weights).clamp(max=0)

    @property
    def beliefs(self) -> Tensor:
        """Of the crisp rules, in each problem: (..., rules)."""
        return -torch.expm1(-self.weights.abs())

    @property
    def grades(self) -> Tensor:
        """Of the crisp rules, 0 or 1: (..., points, rules)."""
        out = self.groups.rank.to(self.weights.dtype) * self.weights[..., None, :] < 0
        return (~out).to(self.weights.dtype)


@dataclass(frozen=True, eq=False)
class CautiousBatch(Batch):
    """Rules that are not distinct: of all that speaks against a point only the strongest counts, the cautious rule.

    Logs of E[mu_Y(z)] if each rule were the only one, (..., points, rules), none above 0. As a belief function, each
    point by itself is ruled out to the degree that the strongest objection has.
    """

    logs: Tensor

    def points(self) -> Tensor:
        return self.logs.amin(dim=-1)

    def sets(self) -> Tensor:
        points = self.points()
        bits = torch.arange(1 << points.shape[-1])[:, None] >> torch.arange(points.shape[-1]) & 1
        total = points.clamp(min=-CERTAIN) @ bits.T.to(points.dtype)
        return total.masked_fill(total < -CERTAIN / 2, -torch.inf)

    def alone(self, point: Tensor) -> Tensor:
        return self.logs[torch.arange(len(point)), point]


def scaled(grades: Tensor, beliefs: Tensor, groups: Groups) -> Batch:
    """The scaling trick (section 4.3 of the paper): fuzzy rules as rules that are crisp wherever they have two groups.

    Within its frame v'' = (v - v_min) / (v_max - v_min) and b'' = b (v_max - v_min) / (1 - b + b v_max), for each
    input. With two groups that is a crisp rule whose weight of evidence is log(1 - b + b v_1) - log(1 - b + b v_0).
    A rule that grades its whole frame alike says nothing. Grades are (..., points, rules).
    """
    if groups.binary:
        every = torch.arange(len(groups))
        ends = [grades[..., (groups.table == group).int().argmax(dim=1), every] for group in (0, 1)]
        kept = [torch.log1p(beliefs * (end - 1)) for end in ends]
        weights = torch.where(ends[0] == ends[1], 0.0, kept[1] - kept[0])
        return CrispBatch(weights.clamp(-CERTAIN, CERTAIN), groups)
    inside = groups.table.T >= 0
    highest = grades.masked_fill(~inside, -torch.inf).amax(dim=-2)
    lowest = grades.masked_fill(~inside, torch.inf).amin(dim=-2)
    spread = highest - lowest
    some = torch.where(spread > 0, spread, 1.0)
    stretched = torch.where(inside, (grades - lowest[..., None, :]) / some[..., None, :], 1.0)
    doubt = torch.where(spread > 0, 1 - beliefs + beliefs * highest, 1.0)
    return FuzzyBatch(stretched, torch.where(spread > 0, beliefs * spread / doubt, 0.0))
