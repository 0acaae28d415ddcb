"""What rules say about some inputs, evaluated once; labels, intervals, proofs and reasons all follow from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.calculus import Batch, CautiousBatch, FuzzyBatch, Groups, scaled
from nbr.classify import certificate
from nbr.classify.intervals import Intervals, check_labels, intervals
from nbr.classify.rules import NonexpansiveRules, ScoredRules
from nbr.errors import NbrError, suggest

FEW, MANY = 32, 1024  # inputs at a time, so that
NEXT = 1e-9  # a radius that is smaller by less is not looked for again
WAYS = ("scaled", "exact", "cautious")
CACHED = 1 << 18  # intermediate results stay in a fast cache


@dataclass(frozen=True, eq=False)
class Evaluation(ABC):
    """Inputs as the rules see them."""

    combine: str  # scaled, exact or cautious
    groups: Groups  # (rules, labels)

    @abstractmethod
    def rows(self) -> Iterator[slice]:
        """The inputs, some at a time."""

    @abstractmethod
    def batch(self, rows: slice) -> Batch:
        """The belief functions of some inputs."""

    def scores(self) -> Tensor:
        """log Pl of each label, up to a constant of the input: (n, labels)."""
        return torch.cat([self.batch(rows).points() for rows in self.rows()])

    def intervals(self) -> Intervals:
        """Belief, plausibility and conflict."""
        check_labels(self.groups.points)
        parts = [intervals(self.batch(rows).sets(), rows.start) for rows in self.rows()]
        names = ("belief", "plausibility", "conflict")
        return Intervals(*(torch.cat([getattr(part, name) for part in parts]) for name in names))

    def contributions(self, label: Tensor, rival: Tensor) -> Tensor:
        """What each rule by itself says for a label against another: (n, rules)."""
        parts = []
        for rows in self.rows():
            batch = self.batch(rows)
            parts.append(batch.alone(label[rows]) - batch.alone(rival[rows]))
        return torch.cat(parts)

    def rule_radius(self) -> Tensor | None:
        """How far each rule goes on speaking for the same group: (n, rules); None if nothing is known."""
        return None

    def radius(self, most: float) -> Tensor | None:
        """A proved radius for each input; None where the rules allow no proof."""
        return None


@dataclass(frozen=True, eq=False)
class GradedRules(Evaluation):
    """Rules of which nothing is known but their grades (n, labels, rules)."""

    grades: Tensor
    beliefs: Tensor

    def rows(self) -> Iterator[slice]:
        return _slices(len(self.grades), self.grades[:1].numel())

    def batch(self, rows: slice) -> Batch:
        if self.combine == "exact":
            return FuzzyBatch(self.grades[rows], self.beliefs)
        if self.combine == "cautious":
            return CautiousBatch(torch.log1p(self.beliefs * (self.grades[rows] - 1)))
        return scaled(self.grades[rows], self.beliefs, self.groups)


@dataclass(frozen=True, eq=False)
class Scored(Evaluation):
    """Rules of two groups with scores (n, rules) that change by at most `steepness` times the distance of inputs."""

    rules: ScoredRules
    values: Tensor
    steepness: Callable[[], Tensor]
    slack: Callable[[Tensor], Tensor]  # how far scores may be off within so far of each input, (n, rules)

    def rows(self) -> Iterator[slice]:
        return _slices(len(self.values), len(self.groups))

    def batch(self, rows: slice) -> Batch:
        return self.rules.batch(self.values[rows], self.combine)

    def rule_radius(self) -> Tensor:
        slack, steepness = self._slack, self.steepness()
        near = (self.values.abs() - 2 * slack).clamp(min=0) / steepness
        return certificate.without_double_slack(near, (self.slack(near) - slack) / steepness)

    def radius(self, most: float) -> Tensor:
        rules = self.rules
        if self.combine == "scaled" and rules.plain:
            return self.rule_radius()[:, 0]  # the label is what the only rule says
        slack, steepness = self._slack, self.steepness()
        doubt = rules.doubt(self.values, 2 * slack + steepness * most, self.combine)
        near = self._proved(self.values, 2 * slack, doubt, torch.full_like(doubt, most))
        beyond = torch.maximum(slack, self.slack(near[:, None]))
        found = certificate.without_double_slack(near, ((beyond - slack) / steepness).amax(dim=1))
        some = near - found > NEXT  # where all rules are not off by as much as the one that is most
        found[some] = self._proved(self.values[some], (slack + beyond)[some], doubt[some], near[some])
        return found

    def _proved(self, values: Tensor, slack: Tensor, doubt: Tensor, most: Tensor) -> Tensor:
        def combined(scores: Tensor) -> Tensor:
            return self.rules.batch(scores, self.combine).points()

        parts = [values[:0, 0]]
        for rows in _slices(len(values), len(self.groups)):
            known = (values[rows], slack[rows], doubt[rows], self.steepness(), self.groups, combined)
            exact, shared = self.combine == "exact", self.combine == "cautious"
            parts.append(certificate.proved_radius(*known, exact=exact, most=most[rows], shared=shared))
        return torch.cat(parts)

    @property
    def _slack(self) -> Tensor:
        """At the inputs themselves."""
        return self.slack(torch.zeros(len(self.values), 1, dtype=torch.float64))


def evaluate(rules: NonexpansiveRules, points: Tensor, combine: str) -> Scored:
    """What nonexpansive rules say about points in float64."""
    with torch.no_grad():
        scores = rules.scores(points)

    def slack(within: Tensor) -> Tensor:
        return rules.slack(points, scores, within)

    return Scored(combine, rules.groups, rules, scores, lambda: rules.steepness, slack)


def check_combine(combine: str) -> str:
    """One of the ways to combine rules."""
    if combine not in WAYS:
        raise NbrError(f"unknown way to combine {combine!r}" + suggest(str(combine), WAYS))
    return combine


def _slices(count: int, width: int) -> Iterator[slice]:
    size = min(max(CACHED // max(1, width), FEW), MANY)
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
