"""From a question to the parts that it is about, to a way of answering each, to an answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from nbr.asking import by_points, by_statements
from nbr.asking.answer import Answer, Bounds
from nbr.asking.components import Component, components
from nbr.asking.outcome import Contradiction, Outcome
from nbr.errors import NbrError
from nbr.inference import ENGINES, Limits, ganak, sat
from nbr.inference.problem import Interval
from nbr.language import Expression, parse
from nbr.language.expressions import Constant
from nbr.rules import Clause, Fuzzy, Rule
from nbr.rules.knowledge import Knowledge
from nbr.sources import SOURCES, Listing, Statements
from nbr.sources.source import Set
from nbr.world import World

ROUNDING = 1e-12
ASKED = 0.7  # of the time, for the part that a question is about, if there are others
QUICK = 0.02  # seconds of listing that are not worth asking a counter for
FEW_RULES = 16  # up to which listed points give an exact answer at once
WITHOUT_POINTS = ("counting", "drawn")

Memo = dict[object, Outcome]  # what was found out about parts that other questions share
Proposition = str | Expression | Rule | Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Settings:
    """How a question is to be answered."""

    engine: str = "auto"
    budget: float = 10.0
    tolerance: float = 1e-3
    grid: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        known = ("auto", *ENGINES, *WITHOUT_POINTS, *SOURCES)
        if self.engine not in known:
            raise NbrError(f"unknown engine {self.engine!r}; there are {', '.join(known)}")
        if not _is_number(self.budget) or not self.budget > 0:
            raise NbrError(f"the budget is a number of seconds above 0, not {self.budget}")
        if not _is_number(self.tolerance) or not 0 <= self.tolerance < 1:
            raise NbrError(f"the tolerance is a number from 0 to 1, not {self.tolerance}")
        finest = by_points.FINEST
        if self.grid is not None and (not isinstance(self.grid, int) or not 1 <= self.grid <= finest):
            raise NbrError(f"the grid is a whole number of pieces from 1 to {finest:,}, not {self.grid}")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 1 << 63:
            raise NbrError(f"the seed is a whole number from 0 to 2^63, not {self.seed}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def ask(
    knowledge: Knowledge,
    question: Proposition,
    given: Proposition | None,
    settings: Settings,
    memo: Memo | None = None,
) -> Answer:
    """Bounds on belief, plausibility and conflict; equal ones where the answer is exact.

    Questions that are asked with the same `memo` share what they have in common.
    """
    limits = Limits.within(settings.budget, settings.tolerance, settings.seed)
    proposition = as_set(question, knowledge.world, "question")
    condition = None if given is None else as_set(given, knowledge.world, "condition")
    with torch.no_grad():
        asked, *others = components(knowledge, proposition, condition)
        found = _checked(asked, knowledge, condition, settings, limits.share(ASKED) if others else limits, memo)
        rest = [
            _checked(part, knowledge, condition, settings, limits.share(1 / (len(others) - done)), memo)
            for done, part in enumerate(others)
        ]
    everything = [found, *rest]
    points = [each.points for each in everything if each.points is not None]
    bounds = _bounds(found, rest)
    return Answer(
        question=_words(question),
        given=None if given is None else _words(given),
        bounds=bounds,
        exact=bounds.kind == "proved" and _width(bounds) == 0,
        engine=" and ".join(dict.fromkeys(each.engine for each in everything)),
        rules=len(knowledge.rules),
        points=sum(points) if len(points) == len(everything) else None,
        sure=None if found.sure is None else _bounds(found.sure, [each.sure or each for each in rest]),
        notes=tuple(dict.fromkeys(note for each in everything for note in each.notes)),
        how=tuple(_how(part, each) for part, each in zip([asked, *others], everything, strict=True)),
    )


def _how(part: Component, found: Outcome) -> str:
    """Which way a part was answered, for those who want to know."""
    about = "the question" if part.asked else "what has nothing to do with the question"
    sure = "exact" if found.exact else f"{found.kind} bounds {found.width:.2g} apart"
    why = f": {found.why}" if found.why else ""
    return f"{about}: {len(part.rules)} rules, engine {found.engine}, {sure}{why}"


def _checked(
    part: Component, whole: Knowledge, condition: Set | None, settings: Settings, limits: Limits, memo: Memo | None
) -> Outcome:
    """Answer a part, unless that was done; a contradiction is told with the numbers of rules in the whole model."""
    key = None if memo is None else _key(part)
    if memo is not None and key in memo:
        return memo[key]
    try:
        found = _answered(part, settings, limits, memo)
        if memo is not None and key is not None and found.exact:
            memo[key] = found
        return found
    except Contradiction as error:
        positions = [part.rules[rule] for rule in error.rules]
        named = " and ".join(f"rule {position + 1} ({whole.rules[position]})" for position in positions)
    if not named:
        everywhere = (
            "no point of the world meets it" if isinstance(condition, Expression) else "its grade is 0 everywhere"
        )
        raise NbrError(f"the condition cannot hold: {everywhere}")
    if part.condition is not None:
        raise NbrError(f"the condition contradicts {named}, which must hold (belief 1)")
    raise NbrError(f"{named} must hold (belief 1) and contradict each other")


def _answered(part: Component, settings: Settings, limits: Limits, memo: Memo | None) -> Outcome:
    if settings.engine in WITHOUT_POINTS:
        return _without_points(part, settings.engine, limits)
    if settings.engine in SOURCES:
        return _from_source(part, settings.engine, limits)
    if settings.engine == "auto":
        found = _auto(part, settings, limits, memo)
        if found is not None:
            return found
    return _from_points(part, settings, limits)


def _auto(part: Component, settings: Settings, limits: Limits, memo: Memo | None) -> Outcome | None:
    """Statements where listing points would take long or leave too many rules for an exact answer; else None."""
    knowledge, proposition, condition = part.knowledge, part.proposition, part.condition
    if not isinstance(proposition, Expression) or Statements.unfit(knowledge, condition):
        return None
    few, listed = len(knowledge.rules) <= FEW_RULES, math.inf
    why = f"{len(knowledge.rules)} rules are too many for listed points"
    if few:
        listing = Listing.of(knowledge, proposition, condition)
        listed, why = listing.seconds, f"{listing.count:.3g} points"
        if listed < QUICK:
            return None
    assert condition is None or isinstance(condition, Expression)
    notes = []
    found: list[Outcome] = []
    if ganak.available():
        share = limits.share(by_statements.COUNTED)
        counted = by_statements.counted(knowledge, proposition, condition, share, _whole(part, memo))
        if memo is not None and counted is not None and counted.exact:
            memo[_key(replace(part, proposition=Constant(True)))] = replace(counted, plausibility=(1, 1), doubt=(0, 0))
        if counted is not None and (counted.exact or counted.width <= settings.tolerance):
            return replace(counted, why=f"{why}, so statements are counted")
        found += [counted] if counted is not None else []
    else:
        notes.append(by_statements.COUNTER)
    if listed < 0.3 * limits.left:
        return None
    if sat.available():
        drawn = by_statements.from_draws(knowledge, proposition, condition, limits)
        found += [drawn] if drawn is not None else []
    else:
        notes.append(by_statements.SOLVER)
        found += [_from_points(part, settings, limits)]
    if not found:
        return None
    best = min(found, key=lambda each: each.width)
    said = f"{why}, and counting did not finish in its half of the time: a larger budget may make it exact"
    return replace(best, notes=(*best.notes, *notes), why=said)


def _from_points(part: Component, settings: Settings, limits: Limits) -> Outcome:
    engine = "auto" if settings.engine in WITHOUT_POINTS else settings.engine
    return by_points.answer(
        part.knowledge, part.proposition, part.condition, engine=engine, grid=settings.grid, limits=limits
    )


def _without_points(part: Component, engine: str, limits: Limits) -> Outcome:
    """By the engine that the user named, or an error that says why not."""
    knowledge, proposition, condition = part.knowledge, part.proposition, part.condition
    reason = Statements.unfit(knowledge, condition)
    if not isinstance(proposition, Expression):
        reason = "the question is fuzzy"
    available, needs = (
        (ganak.available, by_statements.COUNTER) if engine == "counting" else (sat.available, by_statements.SOLVER)
    )
    if not available():
        raise NbrError(needs)
    if reason is None:
        assert isinstance(proposition, Expression)
        assert condition is None or isinstance(condition, Expression)
        solve = by_statements.counted if engine == "counting" else by_statements.from_draws
        found = solve(knowledge, proposition, condition, limits)
        if found is not None:
            return found
        reason = "not even one count was done in time" if engine == "counting" else "the rules are fuzzy"
    raise NbrError(f"the engine {engine!r} does not fit: {reason}; leave the choice to 'auto'")


def _from_source(part: Component, name: str, limits: Limits) -> Outcome:
    """By what a source offers: its rows, or else its formula."""
    source = SOURCES[name].of(part.knowledge, part.proposition, part.condition)
    rows = source.rows(limits)
    if rows is not None:
        return by_points.from_rows(rows, part.knowledge, part.proposition, part.condition, "auto", limits)
    found = by_statements.from_formulas(source, limits)
    if found is None:
        raise NbrError(f"the source {name!r} did not give an answer in time; leave the choice to 'auto'")
    return found


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


def as_set(words: Proposition, world: World, what: str) -> Set:
    """A question or condition as a set of points of a world."""
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


def _whole(part: Component, memo: Memo | None) -> float | None:
    """E f_C of a part, if an earlier question found it out."""
    known = None if memo is None else memo.get(_key(replace(part, proposition=Constant(True))))
    return None if known is None else known.whole[0]


def _key(part: Component) -> object | None:
    """What tells one part from another, where that can be said: where all its rules are statements."""
    if not all(isinstance(rule, Clause) for rule in part.knowledge.rules):
        return None
    if not all(each is None or isinstance(each, Expression) for each in (part.proposition, part.condition)):
        return None
    rules = tuple((rule.text, rule.degree) for rule in part.knowledge.rules if isinstance(rule, Clause))
    return part.knowledge.world, rules, part.proposition, part.condition
