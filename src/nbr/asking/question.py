"""From a question to grades, to an engine, to an answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr.asking.answer import Answer, Bounds
from nbr.errors import NbrError
from nbr.inference import ENGINES, Estimate, Limits, Problem, solve
from nbr.inference.problem import Interval
from nbr.inference.reduce import distinct, front
from nbr.language import Expression, parse
from nbr.rules import Fuzzy, Rule
from nbr.rules.knowledge import Knowledge
from nbr.sources.listing import Rows, Set, collect, excluded
from nbr.world import World

COARSE, FINEST = 32, 1_000_000  # pieces of a grid
PAIRS = 1 << 20  # grades of pairs of points held at a time
ROUNDING = 1e-12

Proposition = str | Expression | Rule | Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Ways:
    """How a question is to be answered."""

    engine: str = "auto"
    budget: float = 10.0
    tolerance: float = 1e-3
    grid: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.engine not in ("auto", *ENGINES):
            raise NbrError(f"unknown engine {self.engine!r}; there are auto, {', '.join(ENGINES)}")
        if not _is_number(self.budget) or not self.budget > 0:
            raise NbrError(f"the budget is a number of seconds above 0, not {self.budget}")
        if not _is_number(self.tolerance) or not 0 <= self.tolerance < 1:
            raise NbrError(f"the tolerance is a number from 0 to 1, not {self.tolerance}")
        if self.grid is not None and (not isinstance(self.grid, int) or not 1 <= self.grid <= FINEST):
            raise NbrError(f"the grid is a whole number of pieces from 1 to {FINEST:,}, not {self.grid}")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 1 << 63:
            raise NbrError(f"the seed is a whole number from 0 to 2^63, not {self.seed}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def ask(knowledge: Knowledge, question: Proposition, given: Proposition | None, ways: Ways) -> Answer:
    limits = Limits.within(ways.budget, ways.tolerance, ways.seed)
    proposition = _set(question, knowledge.world, "question")
    condition = None if given is None else _set(given, knowledge.world, "condition")
    beliefs = knowledge.beliefs.detach()
    if isinstance(condition, Rule):  # a fuzzy condition is one more rule, always present
        beliefs = torch.cat([beliefs, beliefs.new_ones(1)])

    def attempt(grid: int) -> tuple[Rows, Estimate, Bounds]:
        rows = collect(knowledge, proposition, condition, grid=grid, seed=ways.seed, limits=limits)
        _possible(rows, beliefs, knowledge, condition)
        plan = (_crisp if isinstance(proposition, Expression) else _fuzzy)(rows, beliefs, limits)
        estimate = solve(plan.problem(), ways.engine, limits)
        return rows, estimate, _bounds(estimate, plan)

    with torch.no_grad():
        grid, began = ways.grid or COARSE, time.monotonic()
        rows, estimate, bounds = attempt(grid)
        # Where a grid leaves bounds too wide, lay finer ones while that helps and time allows.
        while ways.grid is None and rows.boxes and _width(bounds) > ways.tolerance and grid < FINEST:
            spent, began = time.monotonic() - began, time.monotonic()
            if limits.left < 10 * spent:
                break
            grid, before = 4 * grid, _width(bounds)
            rows, estimate, bounds = attempt(grid)
            if _width(bounds) > 0.9 * before:
                break
    return Answer(
        question=_words(question),
        given=None if given is None else _words(given),
        bounds=bounds,
        exact=estimate.kind == "proved" and _width(bounds) == 0,
        engine=estimate.engine,
        rules=len(knowledge.rules),
        points=rows.points,
    )


def _bounds(estimate: Estimate, plan: _Plan) -> Bounds:
    """The bounds of an answer: within [0, 1], belief not above plausibility, and equal where only rounding differs."""
    yes_low, yes_high = estimate.ratio(*plan.yes_low)[0], estimate.ratio(*plan.yes_high)[1]
    no_low, no_high = estimate.ratio(*plan.no_low)[0], estimate.ratio(*plan.no_high)[1]
    least, most = estimate.bounds(plan.all_low)[0], estimate.bounds(plan.all_high)[1]
    belief, plausibility = (1 - no_high, 1 - no_low), (yes_low, yes_high)
    return Bounds(
        belief=_tidy(belief[0], min(belief[1], plausibility[1])),
        plausibility=_tidy(max(belief[0], plausibility[0]), plausibility[1]),
        conflict=_tidy(1 - most, 1 - least),
        kind=estimate.kind,
    )


def _tidy(low: float, high: float) -> Interval:
    low, high = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    return (low, high) if high - low > ROUNDING else ((low + high) / 2,) * 2


def _width(bounds: Bounds) -> float:
    return max(high - low for low, high in (bounds.belief, bounds.plausibility, bounds.conflict))


def _set(words: Proposition, world: World, what: str) -> Set:
    try:
        if isinstance(words, Rule):
            return words.bind(world)
        if isinstance(words, str | Expression):
            expression = parse(words) if isinstance(words, str) else words
            expression.check(world)
            return expression
        return Fuzzy(words).bind(world)
    except NbrError as error:
        raise NbrError(f"{what}: {error}") from None


def _words(words: Proposition) -> str:
    return str(words) if isinstance(words, str | Expression | Rule) else getattr(words, "__name__", "a function")


def _possible(rows: Rows, beliefs: Tensor, knowledge: Knowledge, condition: Set | None) -> None:
    """Raise an error that names the reason if every world has mass 0.

    The world of the rules that are always present is the only one that all others contain, so it decides.
    """
    rules = knowledge.rules
    if rows.complete and not len(rows.most):
        raise NbrError("the condition cannot hold: no point of the world meets it")
    blame = [i for i in range(len(beliefs)) if beliefs[i] == 1]

    def contradictory(some: list[int]) -> bool:
        return bool(some) and float(rows.most[:, some].amin(dim=1).max()) == 0

    if not rows.complete:
        blame = excluded(knowledge, condition)[:1]
        if not blame:
            return
    elif not contradictory(blame):
        return
    for rule in list(blame) if rows.complete else []:
        others = [i for i in blame if i != rule]
        if contradictory(others):
            blame = others
    named = [f"rule {i + 1} ({rules[i]})" for i in blame if i < len(rules)]
    if not named:
        raise NbrError("the condition cannot hold: its grade is 0 at every point")
    if condition is not None:
        raise NbrError(f"the condition contradicts {' and '.join(named)}, which must hold (belief 1)")
    raise NbrError(f"{' and '.join(named)} must hold (belief 1) and contradict each other")


class _Plan:
    """The expectations that a question needs, and which ratios of them are its answer.

    A ratio is a pair of unions, (numerator, denominator). Each comes twice, because grades within a cell
    are known only between bounds: plausibility rises with the grades of the points for the question and falls
    with those against it. Where the grades are exact both are the same, and computed once.
    """

    yes_low: tuple[int, int]
    yes_high: tuple[int, int]
    no_low: tuple[int, int]
    no_high: tuple[int, int]
    all_low: int
    all_high: int

    def __init__(self, beliefs: Tensor) -> None:
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


def _crisp(rows: Rows, beliefs: Tensor, limits: Limits) -> _Plan:
    """Equations (7) and (8): f_Q over the points where Q holds, f_N over the others, f_C over both."""
    plan = _Plan(beliefs)
    holds = rows.member > 0
    yes_low, no_low = low = plan.add([rows.grades[holds], rows.grades[~holds]])
    yes_high, no_high = low if rows.tight else plan.add([_covered(rows, rows.most[at]) for at in (holds, ~holds)])
    plan.yes_low = plan.union(yes_low), plan.union(yes_low, no_high)
    plan.yes_high = plan.union(yes_high), plan.union(yes_high, no_low)
    plan.no_low = plan.union(no_low), plan.union(no_low, yes_high)
    plan.no_high = plan.union(no_high), plan.union(no_high, yes_low)
    plan.all_low, plan.all_high = plan.union(yes_low, no_low), plan.union(yes_high, no_high)
    return plan


def _fuzzy(rows: Rows, beliefs: Tensor, limits: Limits) -> _Plan:
    """Equation (6), with its scaling of every world to a highest grade of 1.

    Bel(A) = 1 - E[max over z of min(mu_Y(z), M_Y (1 - A(z)))] / E M_Y with M_Y = max mu_Y. As M_Y is itself a
    maximum, the numerator is a maximum over pairs of points (z, z') with the grades min(R(z), (1 - A(z)) R(z')), and
    one more rule, always present, that grades them 1 - A(z): any engine can take it.
    """
    plan = _Plan(torch.cat([beliefs, beliefs.new_ones(1)]))
    pairing = limits.share(0.5)
    found, complete = _scaled_sets(rows.grades, rows.member, 1 - rows.member, pairing.deadline)
    low = high = plan.add(found)
    if not (rows.tight and complete):
        most, for_most, against_most = (
            _covered(rows, part) for part in (rows.most, rows.member_most, 1 - rows.member_least)
        )
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


def _covered(rows: Rows, most: Tensor) -> Tensor:
    """The most that grades can be; where cells are missing, a point that all rules allow may be among them."""
    return most if rows.complete else torch.cat([most, most.new_ones(1, *most.shape[1:])])


def _scaled_sets(grades: Tensor, member: Tensor, against: Tensor, deadline: float) -> tuple[list[Tensor], bool]:
    """Pairs for A, pairs for not A, and all points, each with the grade of the rule that caps them.

    Also whether there was time for all pairs.
    """
    top = front(grades, deadline)
    (yes, all_yes), (no, all_no) = (_pairs(grades, part, top, deadline) for part in (member, against))
    return [yes, no, _capped(top, top.new_ones(len(top)))], all_yes and all_no


def _pairs(grades: Tensor, member: Tensor, top: Tensor, deadline: float) -> tuple[Tensor, bool]:
    inside = distinct(_capped(grades, member)[member > 0])
    inside = inside[inside.sum(dim=1).argsort(descending=True)]
    found = inside[:0]
    for chunk in inside.split(max(1, PAIRS // max(1, top.numel()))):
        if time.monotonic() > deadline:
            return found, False
        scale = chunk[:, -1, None, None]
        paired = torch.minimum(chunk[:, None, :-1], scale * top)
        caps = chunk[:, None, -1:].expand(-1, len(top), -1)
        found = front(torch.cat([found, torch.cat([paired, caps], dim=2).flatten(0, 1)]), deadline)
    return found, True


def _capped(grades: Tensor, cap: Tensor) -> Tensor:
    return torch.cat([grades, cap[:, None]], dim=1)
