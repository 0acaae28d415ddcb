"""Which way a part of a question is answered: listed points, boxes of them, counted statements, drawn worlds."""

from __future__ import annotations

import math
from collections.abc import Callable, MutableMapping
from dataclasses import replace

from nbr.asking import by_levels, by_points, by_statements
from nbr.asking.components import Component, is_crisp
from nbr.asking.outcome import Outcome, of_formula
from nbr.errors import NbrError
from nbr.inference import Limits, few, ganak, sat
from nbr.inference.frontier import WalkedEstimate
from nbr.language import Expression
from nbr.language.expressions import Constant
from nbr.model import Model
from nbr.rules import Clause, Rule
from nbr.sources import SOURCES, Branching, Listing, Statements
from nbr.sources.elimination import Elimination
from nbr.sources.listing import ties
from nbr.sources.path import Path
from nbr.sources.regions import why_not

QUICK = 0.02  # seconds of listing that are not worth asking a counter for
FEW_RULES = 16  # up to which listed points give an exact answer at once
BOXED = 0.6  # of the time, for boxes before statements are counted
LISTED = 0.3  # of the time: what can be listed so quickly is listed
GLANCE, LINED = 0.1, 0.15  # of the time: for a first try to count, and for an exact walk along a line of variables
INTERVAL = 0.7  # of what is left, for an interval from such walks
WITHOUT_POINTS = ("counting", "drawn", "frontier")

Memo = MutableMapping[object, Outcome]  # what was found out about parts that other questions share


def answered(part: Component, engine: str, grid: int | None, limits: Limits, memo: Memo | None) -> Outcome:
    """By the engine or source that is named; "auto" picks, and says why."""
    if isinstance(part.proposition, Rule) and _by_levels(part, engine, grid):
        levels = by_levels.levels(part) or []
        return by_levels.mean(
            levels, limits, lambda said, share: answered(replace(part, proposition=said), engine, grid, share, memo)
        )
    if engine in WITHOUT_POINTS:
        return _without_points(_folded(part), engine, limits)
    if engine in SOURCES:
        return _from_source(part, engine, limits)
    if engine == "auto":
        found = _auto(_folded(part), grid, limits, memo) or _from_boxes(part, grid, limits)
        if found is not None:
            return found
    untold = _untold(part, limits)
    found = _from_points(part, engine, grid, limits)
    notes = (*found.notes, *([] if untold is None else [untold]))
    return replace(found, why=found.why or _why_points(part, found, engine), notes=notes)


def _by_levels(part: Component, engine: str, grid: int | None) -> bool:
    """Whether a fuzzy question is better asked level by level than of listed points."""
    if engine not in ("auto", *WITHOUT_POINTS) or grid is not None or not by_levels.levels(part):
        return False
    at_once = engine == "auto" and len(part.model.rules) <= FEW_RULES
    return not at_once or Listing.of(*part.question).seconds >= QUICK


def _untold(part: Component, limits: Limits) -> str | None:
    """Why comparisons between numbers do not tell all that there is, in words for a user; None if they do."""
    if part.model.codec is not None:
        return None
    return why_not(ties(*part.question, seconds=LISTED * limits.left))


def _folded(part: Component) -> Component:
    """A fuzzy condition as one more rule that is always there."""
    if not isinstance(part.condition, Rule) or part.model.codec is not None:
        return part
    rules = (*part.model.rules, part.condition.with_belief(1.0))
    return replace(part, model=part.model.with_rules(rules), condition=None)


def _auto(part: Component, grid: int | None, limits: Limits, memo: Memo | None) -> Outcome | None:
    """Statements where listing points would take long or leave too many rules for an exact answer; else None."""
    model, proposition, condition = part.model, part.proposition, part.condition
    if not isinstance(proposition, Expression) or Statements.unfit(model, condition) or _untold(part, limits):
        return None
    listed, few_rules = math.inf, len(model.rules) <= FEW_RULES
    why = f"{len(model.rules)} rules are too many for listed points"
    listing = Listing.of(*part.question) if few_rules or not all(map(is_crisp, model.rules)) else None
    if listing is not None and (few_rules or listing.count <= few.MOST):
        listed, why = listing.seconds, f"{listing.grid.said} points"
        if listed < QUICK:
            return None
    assert condition is None or isinstance(condition, Expression)
    notes = []
    boxed = _from_boxes(part, grid, limits.share(BOXED))
    if boxed is not None and boxed.width <= limits.tolerance:
        return boxed
    found = [boxed] if boxed is not None else []
    lined = None
    if ganak.available():
        known = _whole(part, memo)
        counted = by_statements.counted(model, proposition, condition, limits.share(GLANCE), known)
        if counted is None or not counted.exact:  # what takes a counter long may lie along a line
            path = Path.of(model, proposition, condition)
            walked = None if path is None else path.exact(limits.share(LINED))
            if walked is not None and float(walked.high[2]) > 0:
                return replace(of_formula(walked), why=f"{why}, and rules lie along a line of variables")
            lined = None if path is None else _along(path, limits)
            found += [lined] if lined is not None else []
            counted = by_statements.counted(model, proposition, condition, limits.share(by_statements.COUNTED), known)
        whole = key(replace(part, proposition=Constant(True)))
        if memo is not None and whole is not None and counted is not None and counted.exact:
            memo[whole] = replace(counted, plausibility=(1, 1), doubt=(0, 0))
        if counted is not None and (counted.exact or counted.width <= limits.tolerance):
            return replace(counted, why=f"{why}, so statements are counted")
        found += [counted] if counted is not None else []
    else:
        notes.append(by_statements.COUNTER)
    if listed < LISTED * limits.left:
        return None
    thin = boxed is None and _from_tables(part, limits)
    if thin:
        found.append(thin if thin.exact or not found else replace(thin, sure=found[0]))
    elif boxed is not None:
        pass
    elif lined is None and sat.available():
        drawn = by_statements.from_draws(model, proposition, condition, limits)
        found += [drawn] if drawn is not None else []
    elif lined is None:
        notes.append(by_statements.SOLVER)
        found += [_from_points(part, "auto", grid, limits)]
    if not found:
        return None
    best = min(found, key=lambda each: each.width)
    said = f"{why}, and counting did not finish in its part of the time: a larger budget may make it exact"
    return replace(best, notes=(*best.notes, *notes), why=best.why or said)


def _along(path: Path, limits: Limits) -> Outcome | None:
    """A 95% interval along a line of variables, with what is certain beside it; None where none can be claimed."""
    found = path.bounded(limits.share(INTERVAL))
    return of_formula(found, found.sure) if isinstance(found, WalkedEstimate) else None


def _from_boxes(part: Component, grid: int | None, limits: Limits) -> Outcome | None:
    """Where some rule is fuzzy, all can bound themselves within boxes, and points are too many to list in time."""
    question = part.question
    if grid is not None or Branching.unfit(*question) or all(map(is_crisp, part.model.rules)):
        return None
    listing = Listing.of(*question)
    if not listing.grid.boxes and listing.seconds < LISTED * limits.left:
        return None
    found = _from_source(part, "boxes", limits)
    many = "reals have no last point" if listing.grid.boxes else f"{listing.grid.said} points are too many to list"
    more = "" if found.width <= limits.tolerance else "; a larger budget, or a condition that leaves less, narrows them"
    return replace(found, engine="boxes", why=f"{many}, so boxes of them are bounded and halved{more}")


def _from_tables(part: Component, limits: Limits) -> Outcome | None:
    """Where some rule is fuzzy and the rules are thinly knit: elimination in drawn worlds."""
    model, proposition, condition = part.model, part.proposition, part.condition
    if all(map(is_crisp, model.rules)) or Elimination.unfit(model, proposition, condition):
        return None
    assert isinstance(proposition, Expression)
    assert condition is None or isinstance(condition, Expression)
    found = of_formula(replace(Elimination(model, proposition, condition).solve(limits), engine="elimination"))
    return replace(found, why="rules are fuzzy and thinly knit, so variables are eliminated in worlds drawn at random")


def _why_points(part: Component, found: Outcome, engine: str) -> str:
    """Why points were gone through, and what would make the answer exact."""
    if engine != "auto":
        return "as you asked for"
    if found.exact:
        return "points are few enough to list"
    if found.kind == "95%":
        return f"points can be listed, but {len(part.rules)} rules make too many worlds; fewer rules, or more time"
    reasons = (Statements.unfit(part.model, part.condition), Branching.unfit(*part.question))
    said = "; ".join(dict.fromkeys(reason for reason in reasons if reason is not None))
    return f"points are too many to list{f', and no other way fits: {said}' if said else ''}"


def _from_points(part: Component, engine: str, grid: int | None, limits: Limits) -> Outcome:
    return by_points.answer(part.model, part.proposition, part.condition, engine=engine, grid=grid, limits=limits)


def _without_points(part: Component, engine: str, limits: Limits) -> Outcome:
    """By the engine that the user named, or an error that says why not."""
    model, proposition, condition = part.model, part.proposition, part.condition
    reason = Statements.unfit(model, condition) or _untold(part, limits)
    if not isinstance(proposition, Expression):
        reason = "the question is fuzzy"
    available, needs, solve, failed = NAMED[engine]
    if not available():
        raise NbrError(needs)
    if reason is None:
        assert isinstance(proposition, Expression)
        assert condition is None or isinstance(condition, Expression)
        found = solve(model, proposition, condition, limits)
        if found is not None:
            return found
        reason = failed
    raise NbrError(f"the engine {engine!r} does not fit: {reason}; leave the choice to 'auto'")


def _along_a_line(
    model: Model, proposition: Expression, condition: Expression | None, limits: Limits
) -> Outcome | None:
    """Exactly if states are few, else as narrow as time allows."""
    path = Path.of(model, proposition, condition)
    if path is None:
        return None
    found = path.exact(limits.share(by_statements.COUNTED)) or path.bounded(limits)
    if float(found.high[2]) == 0:
        return by_statements.counted(model, proposition, condition, limits)  # says what contradicts what
    return of_formula(found, found.sure if isinstance(found, WalkedEstimate) else None)


# For each engine that lists no points: what it needs, how it answers, and why it might not.
NAMED: dict[str, tuple[Callable[[], bool], str, Callable[..., Outcome | None], str]] = {
    "counting": (
        ganak.available,
        by_statements.COUNTER,
        by_statements.counted,
        "not even one count was done in time",
    ),
    "drawn": (sat.available, by_statements.SOLVER, by_statements.from_draws, "the rules are fuzzy"),
    "frontier": (
        lambda: True,
        "",
        _along_a_line,
        "only crisp rules that lie along a line of variables can be walked",
    ),
}


def _from_source(part: Component, name: str, limits: Limits) -> Outcome:
    """By what a source offers: its rows, or else its formula."""
    source = SOURCES[name].of(part.model, part.proposition, part.condition)
    rows = source.rows(limits)
    if rows is not None:
        return by_points.from_rows(rows, part.model, part.proposition, part.condition, "auto", limits)
    found = by_statements.from_formulas(source, limits)
    if found is None:
        raise NbrError(f"the source {name!r} did not give an answer in time; leave the choice to 'auto'")
    return found


def _whole(part: Component, memo: Memo | None) -> float | None:
    """E f_C of a part, if an earlier question found it out."""
    known = None if memo is None else memo.get(key(replace(part, proposition=Constant(True))))
    return None if known is None else known.whole[0]


def key(part: Component) -> object | None:
    """What tells one part from another, where that can be said: where all its rules are statements."""
    if not all(isinstance(rule, Clause) for rule in part.model.rules):
        return None
    if not all(each is None or isinstance(each, Expression) for each in (part.proposition, part.condition)):
        return None
    rules = tuple((rule.text, rule.degree) for rule in part.model.rules if isinstance(rule, Clause))
    return part.model.world, rules, part.proposition, part.condition
