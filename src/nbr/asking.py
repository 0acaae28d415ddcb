"""From a question to grades, to an engine, to an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from nbr.answer import Answer, Bounds
from nbr.errors import NbrError
from nbr.inference import ENGINES, Limits, Problem, solve
from nbr.inference.reduce import front
from nbr.language import Expression, parse
from nbr.rows import Rows, Set, collect
from nbr.rules import Fuzzy, Rule
from nbr.world import World

if TYPE_CHECKING:
    from nbr.reasoner import Proposition, Reasoner

PAIRS = 1 << 22  # grades of pairs of points held at a time


@dataclass(frozen=True)
class Ways:
    """How a question is to be answered."""

    engine: str = "auto"
    budget: float = 10.0
    tolerance: float = 1e-3
    grid: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        if self.engine not in ("auto", *ENGINES):
            raise NbrError(f"unknown engine {self.engine!r}; there are auto, {', '.join(ENGINES)}")
        if not self.budget > 0 or math.isnan(self.budget):
            raise NbrError(f"the budget is a number of seconds above 0, not {self.budget:g}")
        if not 0 <= self.tolerance < 1:
            raise NbrError(f"the tolerance is a number from 0 to 1, not {self.tolerance:g}")
        if self.grid < 1:
            raise NbrError(f"the grid needs at least 1 piece, not {self.grid}")


def ask(reasoner: Reasoner, question: Proposition, given: Proposition | None, ways: Ways) -> Answer:
    limits = Limits.within(ways.budget, ways.tolerance, ways.seed)
    proposition = _set(question, reasoner.world, "question")
    condition = None if given is None else _set(given, reasoner.world, "condition")
    beliefs = reasoner.beliefs.detach()
    if isinstance(condition, Rule):  # a fuzzy condition is one more rule, always present
        beliefs = torch.cat([beliefs, beliefs.new_ones(1)])
    with torch.no_grad():
        rows = collect(reasoner, proposition, condition, grid=ways.grid, seed=ways.seed, limits=limits)
        _possible(rows, beliefs, reasoner.rules, condition is not None)
        plan = (_crisp if isinstance(proposition, Expression) else _fuzzy)(rows, beliefs)
        estimate = solve(plan.problem(), ways.engine, limits)
    yes_low, yes_high = estimate.ratio(*plan.yes_low)[0], estimate.ratio(*plan.yes_high)[1]
    no_low, no_high = estimate.ratio(*plan.no_low)[0], estimate.ratio(*plan.no_high)[1]
    least, most = estimate.bounds(plan.all_low)[0], estimate.bounds(plan.all_high)[1]
    return Answer(
        question=_words(question),
        given=None if given is None else _words(given),
        bounds=Bounds((1 - no_high, 1 - no_low), (yes_low, yes_high), (1 - most, 1 - least), estimate.kind),
        exact=estimate.exact and rows.tight,
        engine=estimate.engine,
        rules=len(reasoner.rules),
        points=rows.points,
    )


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


def _possible(rows: Rows, beliefs: Tensor, rules: tuple[Rule, ...], conditional: bool) -> None:
    """Raise an error that names the reason if every world has mass 0.

    The world of the rules that are always present is the only one that all others contain, so it decides.
    """
    if not rows.complete:
        return
    if not len(rows.most):
        raise NbrError("the condition cannot hold: no point of the world meets it")
    blame = [i for i in range(len(beliefs)) if beliefs[i] == 1]

    def contradictory(some: list[int]) -> bool:
        return bool(some) and float(rows.most[:, some].amin(dim=1).max()) == 0

    if not contradictory(blame):
        return
    for rule in list(blame):
        others = [i for i in blame if i != rule]
        if contradictory(others):
            blame = others
    named = [f"rule {i + 1} ({rules[i]})" for i in blame if i < len(rules)]
    if not named:
        raise NbrError("the condition cannot hold: its grade is 0 at every point")
    if conditional:
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


def _crisp(rows: Rows, beliefs: Tensor) -> _Plan:
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


def _fuzzy(rows: Rows, beliefs: Tensor) -> _Plan:
    """Equation (6), with its scaling of every world to a highest grade of 1.

    Bel(A) = 1 - E[max over z of min(mu_Y(z), M_Y (1 - A(z)))] / E M_Y with M_Y = max mu_Y. As M_Y is itself a
    maximum, the numerator is a maximum over pairs of points (z, z') with the grades min(R(z), (1 - A(z)) R(z')), and
    one more rule, always present, that grades them 1 - A(z): any engine can take it.
    """
    plan = _Plan(torch.cat([beliefs, beliefs.new_ones(1)]))
    low = plan.add(_scaled_sets(rows.grades, rows.member, 1 - rows.member))
    high = low
    if not rows.tight:
        most = _covered(rows, torch.cat([rows.most, rows.member_most[:, None], 1 - rows.member_least[:, None]], dim=1))
        high = plan.add(_scaled_sets(most[:, :-2], most[:, -2], most[:, -1]))
    (yes_low, no_low, plan.all_low), (yes_high, no_high, plan.all_high) = (
        map(plan.union, part) for part in (low, high)
    )
    plan.yes_low, plan.yes_high = (yes_low, plan.all_high), (yes_high, plan.all_low)
    plan.no_low, plan.no_high = (no_low, plan.all_high), (no_high, plan.all_low)
    return plan


def _covered(rows: Rows, most: Tensor) -> Tensor:
    """The most that grades can be; where cells are missing, a point that all rules allow may be among them."""
    return most if rows.complete else torch.cat([most, most.new_ones(1, most.shape[1])])


def _scaled_sets(grades: Tensor, member: Tensor, against: Tensor) -> list[Tensor]:
    """Pairs for A, pairs for not A, and all points, each with the grade of the rule that caps them."""
    top = front(grades)
    return [_pairs(grades, member, top), _pairs(grades, against, top), _capped(top, top.new_ones(len(top)))]


def _pairs(grades: Tensor, member: Tensor, top: Tensor) -> Tensor:
    found = grades.new_zeros(0, grades.shape[1] + 1)
    inside = torch.unique(_capped(grades, member)[member > 0], dim=0)
    for chunk in inside.split(max(1, PAIRS // max(1, top.numel()))):
        scale = chunk[:, -1, None, None]
        paired = torch.minimum(chunk[:, None, :-1], scale * top)
        caps = chunk[:, None, -1:].expand(-1, len(top), -1)
        found = front(torch.cat([found, torch.cat([paired, caps], dim=2).flatten(0, 1)]))
    return found


def _capped(grades: Tensor, cap: Tensor) -> Tensor:
    return torch.cat([grades, cap[:, None]], dim=1)
