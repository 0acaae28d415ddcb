"""From a question to the parts that it is about, to a way of answering each, to an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nbr import clock
from nbr.asking import by_points
from nbr.asking.answer import Answer, Bounds
from nbr.asking.asked import Memo
from nbr.asking.asked import key as key_of
from nbr.asking.components import Component, components
from nbr.asking.outcome import UNKNOWN, Contradiction, Outcome
from nbr.asking.private import without_private
from nbr.asking.ways import answered, names
from nbr.calculus import Interval
from nbr.clock import OutOfTime
from nbr.encodings import Set
from nbr.errors import NbrError, suggest
from nbr.language import Expression, as_statement
from nbr.model import Model
from nbr.rules import Fuzzy, Rule, worded
from nbr.ways import SHARES, Limits
from nbr.world import World

ROUNDING = 1e-12
GRACE = 0.2  # seconds beyond its time that a part may take before it is given up: what is small is always done

Proposition = str | Expression | Rule | Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class AskSettings:
    """How a question is to be answered."""

    engine: str = "auto"
    budget: float = 10.0
    tolerance: float = 1e-3
    grid: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.engine not in names():
            raise NbrError(f"unknown engine {self.engine!r}" + suggest(self.engine, names()))
        if not _is_number(self.budget) or not self.budget > 0:
            raise NbrError(f"the budget must be a number of seconds above 0, not {self.budget}")
        if not _is_number(self.tolerance) or not 0 <= self.tolerance < 1:
            raise NbrError(f"the tolerance must be a number from 0 to 1, not {self.tolerance}")
        finest = by_points.FINEST
        if self.grid is not None and (not isinstance(self.grid, int) or not 1 <= self.grid <= finest):
            raise NbrError(f"the grid must be a whole number of pieces from 1 to {finest:,}, not {self.grid}")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 1 << 63:
            raise NbrError(f"the seed must be a whole number from 0 to 2^63, not {self.seed}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def ask(
    model: Model,
    question: Proposition,
    given: Proposition | None,
    settings: AskSettings,
    memo: Memo | None = None,
) -> Answer:
    """Bounds on belief, plausibility and conflict; equal ones where the answer is exact.

    Questions that are asked with the same `memo` share what they have in common.
    """
    limits = Limits.within(settings.budget, settings.tolerance, settings.seed)
    proposition = as_set(question, model.world, "question")
    model, condition = under_condition(model, given)
    with torch.no_grad(), clock.until(limits.deadline + GRACE):
        asked, *others = _parted(model, proposition, condition)
        found = _checked(
            asked, model, condition, settings, limits.share(SHARES["asked part"]) if others else limits, memo
        )
        rest = [
            _checked(part, model, condition, settings, limits.share(1 / (len(others) - done)), memo)
            for done, part in enumerate(others)
        ]
    everything = [found, *rest]
    points = [each.points for each in everything if each.points is not None]
    bounds, unmade = _bounds(found, rest), _unmade(model, proposition)
    return Answer(
        question=words_of(question),
        given=None if given is None else words_of(given),
        bounds=bounds,
        exact=bounds.kind == "proved" and _width(bounds) == 0,
        engine=" and ".join(dict.fromkeys(each.engine for each in everything)),
        rules=len(model.rules),
        points=sum(points) if len(points) == len(everything) else None,
        sure=None if found.sure is None else _bounds(found.sure, [each.sure or each for each in rest]),
        notes=tuple(dict.fromkeys([*(note for each in everything for note in each.notes), *unmade])),
        how=tuple(_how(part, each) for part, each in zip([asked, *others], everything, strict=True)),
    )


def _unmade(model: Model, proposition: Set) -> list[str]:
    """What is said of closed variables in a question that no rule can make true."""
    names = proposition.names() & model.closed if isinstance(proposition, Expression) else frozenset()
    unmade = [name for name in sorted(names) if not model.program.of(name)]
    fuzzy = [rule for rule in model.rules if rule.expression is None]
    why = dict.fromkeys(unmade, "no rule says it")
    why |= {name: f"the rule {rule} has degrees, and counts as a constraint" for rule in fuzzy for name in rule.inputs}
    return [f"nothing makes {name} so: it is closed, and {why[name]}" for name in unmade]


def _parted(model: Model, proposition: Set, condition: Set | None) -> list[Component]:
    """The parts of a question; where there is no time to tell them apart, all is one."""
    try:
        return components(*without_private(model, proposition, condition))
    except OutOfTime:
        return [Component(model, tuple(range(len(model.rules))), proposition, condition, True)]


def _how(part: Component, found: Outcome) -> str:
    """Which way a part was answered, for those who want to know."""
    about = "the question" if part.asked else "what has nothing to do with the question"
    sure = "exact" if found.exact else f"{found.kind} bounds {found.width:.2g} apart"
    why = f": {found.why}" if found.why else ""
    return f"{about}: {len(part.rules)} rules, engine {found.engine}, {sure}{why}"


def _checked(
    part: Component, whole: Model, condition: Set | None, settings: AskSettings, limits: Limits, memo: Memo | None
) -> Outcome:
    """Answer a part, unless that was done; a contradiction is told with the numbers of rules in the whole model."""
    try:
        with clock.until(limits.deadline + GRACE):
            clock.check()
            key = None if memo is None else key_of(part)
            known = None if memo is None else memo.get(key)
            if known is not None:
                return known
            found = answered(part, settings.engine, settings.grid, limits, memo)
        if memo is not None and key is not None and found.exact:
            memo[key] = found
        return found
    except OutOfTime:
        return UNKNOWN
    except Contradiction as error:
        positions = [part.rules[rule] for rule in error.rules if rule < len(part.rules)]
        named = " and ".join(f"rule {position + 1} ({whole.rules[position]})" for position in positions)
    if not named:
        everywhere = (
            "no point of the world meets it" if isinstance(condition, Expression) else "its grade is 0 everywhere"
        )
        raise NbrError(f"the condition cannot hold: {everywhere}")
    if part.condition is not None:
        raise NbrError(f"the condition contradicts {named}, which must hold (belief 1)")
    raise NbrError(f"{named} must hold (belief 1) and contradict each other")


def _bounds(asked: Outcome, others: Sequence[Outcome]) -> Bounds:
    """The bounds of an answer: within [0, 1], belief not above plausibility, and equal where only rounding differs."""
    belief, plausibility = (1 - asked.doubt[1], 1 - asked.doubt[0]), asked.plausibility
    whole = [math.prod(each.whole[end] for each in (asked, *others)) for end in (0, 1)]
    return Bounds(
        belief=tidy(belief[0], min(belief[1], plausibility[1])),
        plausibility=tidy(max(belief[0], plausibility[0]), plausibility[1]),
        conflict=tidy(1 - whole[1], 1 - whole[0]),
        kind="proved" if all(each.kind == "proved" for each in (asked, *others)) else "95%",
    )


def tidy(low: float, high: float) -> Interval:
    """Bounds within [0, 1], equal where only rounding differs."""
    low, high = min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0)
    if high - low > ROUNDING:
        return low, high
    middle = (low + high) / 2
    return (float(round(middle)),) * 2 if abs(middle - round(middle)) < ROUNDING / 100 else (middle, middle)


def _width(bounds: Bounds) -> float:
    return max(high - low for low, high in (bounds.belief, bounds.plausibility, bounds.conflict))


def under_condition(model: Model, given: Proposition | None) -> tuple[Model, Set | None]:
    """The model for one condition, and the condition as a set of points; what has a degree is a rule of the model."""
    if given is None or isinstance(given, str | Expression):
        return model.observing(given)
    return model, as_set(given, model.world, "condition")


def as_set(words: Proposition, world: World, what: str) -> Set:
    """A question or condition as a set of points of a world."""
    try:
        if isinstance(words, Rule):
            if words.degree != 1:
                raise NbrError(
                    f"{words} is believed to {words.degree:g}, and a {what} is a set of points without a degree: "
                    "give belief=1, or make it a rule of the model"
                )
            return words.bind(world)
        if not isinstance(words, str | Expression):
            return Fuzzy(words).bind(world)
    except NbrError as error:
        raise NbrError(f"{what}: {error}") from None
    found = as_statement(words, world, what)
    return worded(found, world) or found


def words_of(words: Proposition) -> str:
    """A question or condition as its author would know it again."""
    return str(words) if isinstance(words, str | Expression | Rule) else getattr(words, "__name__", "a function")
