"""Answering from points: grades of witnesses and covers, and an engine that takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from nbr import clock
from nbr.asking.asked import AskedPart
from nbr.asking.components import Component
from nbr.asking.outcome import Contradiction, Outcome
from nbr.calculus import (
    Presence,
    Problem,
    detached,
    distinct_rows,
    few,
    ganak,
    pareto_front,
    presence_probabilities,
    sat,
    solve,
    with_certain,
)
from nbr.encodings import COARSE_PIECES, Branching, Listing, Rows, Set
from nbr.language import Expression
from nbr.model import Model
from nbr.rules import Rule
from nbr.ways import NEVER, SHARES, Cost, Limits, Way

PAIRS = 1 << 20  # grades of pairs of points held at a time
FINEST = 1_000_000  # pieces of a grid
RULES = 16  # up to which listed points give an exact answer at once


class Points(Way[AskedPart, Outcome]):
    """Points listed or probed, ever finer along reals that rules read smoothly; any part of a question fits."""

    name = "points"

    def __init__(self, engine: str = "auto") -> None:
        self.engine = engine

    def cost(self, asked: AskedPart) -> Cost:
        """Listing is what takes time; what engines do with many rules cannot be foretold."""
        few_rules = len(asked.part.model.rules) <= RULES
        if not few_rules and asked.crisp and asked.no_statements is None and (ganak.available() or sat.available()):
            return NEVER  # statements are counted, or decided
        sure = few_rules or asked.listing.count <= few.MOST
        return Cost(asked.listing.seconds, sure and not asked.listing.grid.boxes)

    def solve(self, asked: AskedPart, limits: Limits) -> Outcome:
        grid, part, began = asked.grid, asked.part, clock.now()
        pieces = grid or COARSE_PIECES
        found = _attempt(part, self.engine, pieces, limits)
        while grid is None and found.finer and found.width > limits.tolerance and pieces < FINEST:
            spent, began = clock.now() - began, clock.now()
            if limits.left < 10 * spent:
                break
            pieces, before = 4 * pieces, found
            found = _attempt(part, self.engine, pieces, limits)
            if found.width > 0.9 * before.width:  # also where there was no time to go through the finer grid
                found = min(found, before, key=lambda each: each.width)
                break
        untold = None if found.exact else asked.untold
        return replace(found, why=_why(asked, found), notes=() if untold is None else (untold,))


def _why(asked: AskedPart, found: Outcome) -> str:
    """Why points were gone through, and what would make the answer exact."""
    if found.exact:
        return "points are few enough to list"
    if found.kind == "95%":
        return (
            f"points can be listed, but {len(asked.part.rules)} rules make too many worlds; fewer rules, or more time"
        )
    reasons = (asked.no_statements, Branching.unfit(*asked.part.question))
    said = "; ".join(dict.fromkeys(reason for reason in reasons if reason is not None))
    return f"points are too many to list{f', and no other way fits: {said}' if said else ''}"


def _attempt(part: Component, engine: str, grid: int, limits: Limits) -> Outcome:
    rows = Listing.of(*part.question, grid).rows(limits)
    return from_rows(rows, *part.question, engine, limits)


def from_rows(
    rows: Rows, model: Model, proposition: Set, condition: Set | None, engine: str, limits: Limits
) -> Outcome:
    """The answer that witnesses and covers give."""
    presence = detached(model.presence)
    if isinstance(condition, Rule):  # a fuzzy condition is one more rule, always present
        presence = with_certain(presence)
    _possible(rows, presence_probabilities(presence), len(model.rules))
    plan = (_crisp if isinstance(proposition, Expression) else _fuzzy)(rows, presence, limits)
    estimate = solve(plan.problem(), engine, limits)
    return Outcome(
        plausibility=(estimate.ratio(*plan.yes_low)[0], estimate.ratio(*plan.yes_high)[1]),
        doubt=(estimate.ratio(*plan.no_low)[0], estimate.ratio(*plan.no_high)[1]),
        whole=(estimate.bounds(plan.all_low)[0], estimate.bounds(plan.all_high)[1]),
        kind=estimate.kind,
        engine=estimate.engine,
        points=rows.seen,
        finer=rows.finer,
    )


def _possible(rows: Rows, beliefs: Tensor, rules: int) -> None:
    """Raise an error that knows the reason if every world has mass 0.

    The world of the rules that are always present is the only one that all others contain, so it decides.
    """
    most = rows.most
    if not len(most):
        raise Contradiction([])
    blame = [i for i in range(len(beliefs)) if beliefs[i] == 1]

    def contradictory(some: list[int]) -> bool:
        return bool(some) and float(most[:, some].amin(dim=1).max()) == 0

    if not contradictory(blame):
        return
    for rule in list(blame):
        others = [i for i in blame if i != rule]
        if contradictory(others):
            blame = others
    raise Contradiction([i for i in blame if i < rules])


class _Plan:
    """The expectations that a question needs, and which ratios of them are its answer.

    A ratio is a pair of unions, (numerator, denominator). Each comes twice, from the witnesses alone and with the
    covers: plausibility rises with the grades of the points for the question and falls with those against it. Where
    there are no covers both are the same, and computed once.
    """

    yes_low: tuple[int, int]
    yes_high: tuple[int, int]
    no_low: tuple[int, int]
    no_high: tuple[int, int]
    all_low: int
    all_high: int

    def __init__(self, beliefs: Presence) -> None:
        self.beliefs = beliefs
        self.groups: list[Tensor] = []
        self.unions: dict[tuple[int, ...], int] = {}

    def add(self, sets: Sequence[Tensor]) -> list[int]:
        """Take sets of points in as groups; their numbers."""
        first = len(self.groups)
        self.groups.extend(sets)
        return list(range(first, len(self.groups)))

    def union(self, *groups: int) -> int:
        return self.unions.setdefault(tuple(sorted(set(groups))), len(self.unions))

    def problem(self) -> Problem:
        return Problem(tuple(self.groups), tuple(self.unions), self.beliefs)


def _crisp(rows: Rows, beliefs: Presence, limits: Limits) -> _Plan:
    """Equations (7) and (8): f_Q over the points where Q holds, f_N over the others, f_C over both."""
    plan = _Plan(beliefs)
    holds = rows.member > 0
    yes_low, no_low = low = plan.add([rows.witnesses[holds], rows.witnesses[~holds]])
    yes_high, no_high = low
    if not rows.complete:
        yes_high, no_high = plan.add([rows.most[rows.member_most > 0], rows.most[rows.member_least < 1]])
    plan.yes_low = plan.union(yes_low), plan.union(yes_low, no_high)
    plan.yes_high = plan.union(yes_high), plan.union(yes_high, no_low)
    plan.no_low = plan.union(no_low), plan.union(no_low, yes_high)
    plan.no_high = plan.union(no_high), plan.union(no_high, yes_low)
    plan.all_low, plan.all_high = plan.union(yes_low, no_low), plan.union(yes_high, no_high)
    return plan


def _fuzzy(rows: Rows, beliefs: Presence, limits: Limits) -> _Plan:
    """Equation (6), with its scaling of every world to a highest grade of 1.

    Bel(A) = 1 - E[max over z of min(mu_Y(z), M_Y (1 - A(z)))] / E M_Y with M_Y = max mu_Y. As M_Y is itself a
    maximum, the numerator is a maximum over pairs of points (z, z') with the grades min(R(z), (1 - A(z)) R(z')), and
    one more rule, always present, that grades them 1 - A(z): any engine can take it.
    """
    plan = _Plan(with_certain(beliefs))
    pairing = limits.share(SHARES["pairs"])
    found, complete = _scaled_sets(rows.witnesses, rows.member, 1 - rows.member, pairing.deadline)
    low = high = plan.add(found)
    if not (rows.complete and complete):
        most, for_most, against_most = rows.most, rows.member_most, 1 - rows.member_least
        found, complete = _scaled_sets(most, for_most, against_most, pairing.deadline)
        if not complete:  # a pair of points that all rules allow may be among those not looked at
            for position, cap in enumerate((for_most, against_most)):
                spare = torch.cat([most.new_ones(1, most.shape[1]), cap.max().view(1, 1)], dim=1)
                found[position] = torch.cat([found[position], spare])
        high = plan.add(found)
    (yes_low, no_low, plan.all_low), (yes_high, no_high, plan.all_high) = (
        map(plan.union, part) for part in (low, high)
    )
    plan.yes_low, plan.yes_high = (yes_low, plan.all_high), (yes_high, plan.all_low)
    plan.no_low, plan.no_high = (no_low, plan.all_high), (no_high, plan.all_low)
    return plan


def _scaled_sets(grades: Tensor, member: Tensor, against: Tensor, deadline: float) -> tuple[list[Tensor], bool]:
    """Pairs for A, pairs for not A, and all points, each with the grade of the rule that caps them.

    Also whether there was time for all pairs.
    """
    top = pareto_front(grades, deadline)
    (yes, all_yes), (no, all_no) = (_pairs(grades, part, top, deadline) for part in (member, against))
    return [yes, no, _capped(top, top.new_ones(len(top)))], all_yes and all_no


def _pairs(grades: Tensor, member: Tensor, top: Tensor, deadline: float) -> tuple[Tensor, bool]:
    inside = distinct_rows(_capped(grades, member)[member > 0])
    inside = inside[inside.sum(dim=1).argsort(descending=True)]
    found = inside[:0]
    at_once = max(1, PAIRS // max(1, top.numel()))
    for start in range(0, len(inside), at_once):
        if clock.now() > deadline:
            return found, False
        chunk = inside[start : start + at_once]
        scale = chunk[:, -1, None, None]
        paired = torch.minimum(chunk[:, None, :-1], scale * top)
        caps = chunk[:, None, -1:].expand(-1, len(top), -1)
        found = pareto_front(torch.cat([found, torch.cat([paired, caps], dim=2).flatten(0, 1)]), deadline)
    return found, True


def _capped(grades: Tensor, cap: Tensor) -> Tensor:
    return torch.cat([grades, cap[:, None]], dim=1)
