"""From a question to the reasons for its answer."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import torch

from nbr import clock
from nbr.asking import reasons
from nbr.asking.answer import Answer, Bounds
from nbr.asking.asked import Memo
from nbr.asking.by_sets import Told
from nbr.asking.components import is_crisp, names_of
from nbr.asking.explanation import Effect, Explanation, Witness
from nbr.asking.listed_best import log_degrees
from nbr.asking.maxima import MAXIMA, WantedPoints
from nbr.asking.minimal import all_sets
from nbr.asking.observations import Gaps
from nbr.asking.points import best_points
from nbr.asking.question import GRACE, AskSettings, Proposition, as_set, ask, under_condition, words_of
from nbr.calculus import Interval, Selectors, detached, probability_together, sat
from nbr.clock import OutOfTime
from nbr.density import moved, probability_or_reason
from nbr.encodings import Listing, Set, StatementEncoding
from nbr.errors import NbrError
from nbr.language import And, Constant, Expression, Not
from nbr.model import Model
from nbr.ways import SHARES, Limits, auto

Names = tuple[str, ...]
HALF = 0.5  # the grade from which on a fuzzy rule counts as satisfied in a set of rules
OUTCOMES = 12  # of observing a variable, up to which each is looked at
LISTED = 0.3  # seconds of listing that are quicker than a solver's map


def explained(model: Model, question: Proposition, given: Proposition | None, settings: AskSettings) -> Explanation:
    """An explanation, and of a model with a prior how often and what moved that, for shares of the time."""
    if model.prior is None:
        return explain(model, question, given, settings)
    shares = SHARES["frequency explained"] * settings.budget, SHARES["moved"] * settings.budget
    found = explain(model, question, given, replace(settings, budget=settings.budget - sum(shares)))
    told = probability_or_reason(model, question, given, shares[0], settings.seed)
    if isinstance(told, str) or not isinstance(given, str | Expression) or not isinstance(question, str | Expression):
        return replace(found, probability=told)
    return replace(found, probability=told, moved=moved(model, question, given, shares[1], settings.seed))


def explain(
    model: Model, question: Proposition, given: Proposition | None, settings: AskSettings, memo: Memo | None = None
) -> Explanation:
    """The answer, and what it owes to which rules; all within the budget, saying what is not complete."""
    limits = Limits.within(settings.budget, settings.tolerance, settings.seed)
    proposition = as_set(question, model.world, "question")
    model, condition = under_condition(model, given)
    words, given = None if given is None else words_of(given), condition
    memo = {} if memo is None else memo
    answer = ask(model, question, given, _within(settings, limits.share(SHARES["answer explained"])), memo)
    found, witness, counter, observations = reasons.NOTHING, None, None, []
    share = limits.share(SHARES["reasons"])
    with torch.no_grad(), suppress(OutOfTime), clock.until(share.deadline + GRACE):
        found = minimal_sets(model, proposition, condition, share)
    effects = _effects(model, question, given, settings, answer, found, limits.share(SHARES["effects"]), memo)
    share = limits.share(SHARES["witnesses"])
    with torch.no_grad(), suppress(OutOfTime), clock.until(share.deadline + GRACE):
        if model.closed:
            witness = _likeliest(model, proposition, condition, share)
            denied = Not(proposition) if isinstance(proposition, Expression) else proposition
            counter = _likeliest(model, denied, condition, share)
        else:
            witness, counter = best_points(model, proposition, condition, share)
    with torch.no_grad(), suppress(OutOfTime), clock.until(limits.deadline + GRACE):
        gaps = Gaps(model, question, proposition, condition, found.families is not None, settings, limits, memo)
        observations = gaps.ranked(answer.ignorance)
    presence = detached(model.presence)
    moved = [each.rule - 1 for each in effects if each.change(answer) > 0 and each.computed(answer)]

    def ranked(sets: reasons.Sets) -> list[list[int]]:
        """The most probable first; rules that exclude one another are no reason together."""
        chance = sorted((-probability_together(presence, each), len(each), sorted(each)) for each in sets)
        chance = [each for each in chance if each[0] < 0 or not isinstance(presence, Selectors)]
        return [[rule + 1 for rule in rules] for _, _, rules in chance]

    conflicts, share = ranked(found.conflicts), limits.share(SHARES["clash"])
    alone = bool(conflicts) and condition is not None and _contradictory(model, conflicts[0], _within(settings, share))
    return Explanation(
        answer=replace(answer, given=words),
        rules=tuple(effects),
        supports=ranked(found.supports),
        against=ranked(found.against),
        conflicts=conflicts,
        supports_complete=found.supports_complete,
        conflicts_complete=found.conflicts_complete,
        witness=_told(model, witness),
        counter=_told(model, counter),
        next=tuple(observations),
        about=_about(model, (proposition, condition), found.mattering, moved),
        at_half=tuple(number for number, rule in enumerate(model.rules, 1) if not is_crisp(rule)),
        clash_alone=alone,
    )


def _contradictory(model: Model, numbers: Collection[int], settings: AskSettings) -> bool:
    """Whether some rules cannot all hold under no condition at all."""
    rules = [model.rules[number - 1] for number in numbers]
    if not rules:
        return False
    certain = [rule.with_belief(1.0).from_source(None) for rule in rules]
    try:
        found = ask(replace(model, closed=frozenset()).with_rules(certain), Constant(True), None, settings)
    except NbrError:  # nothing agrees with rules that must hold
        return True
    return found.bounds.conflict[0] > HALF


def _about(
    model: Model, sets: Iterable[Set | None], mattering: Collection[int] | None, moved: Collection[int]
) -> Names:
    """The variables of question and condition, and of the rules that matter, or else that read the question."""
    question, *others = [set() if part is None else set(names_of(part)) for part in sets]
    rules = [model.rules[position] for position in (moved if mattering is None else mattering)]
    rules = rules or [rule for rule in model.rules if question & set(rule.inputs)]
    wanted = question.union(*others, *(rule.inputs for rule in rules))
    return tuple(name for name in model.world.names if name in wanted)


def _within(settings: AskSettings, limits: Limits) -> AskSettings:
    return replace(settings, budget=max(limits.left, 1e-3))


def _effects(
    model: Model,
    question: Proposition,
    given: Proposition | None,
    settings: AskSettings,
    answer: Answer,
    found: reasons.Reasons,
    limits: Limits,
    memo: Memo,
) -> list[Effect]:
    """What the answer would be without each rule: asked again while time lasts, else bounded.

    Rules that stand in minimal sets come first; in a crisp model all others, if all sets are known, change nothing.
    """
    crisp = found.mattering is not None and all(is_crisp(rule) for rule in model.rules)
    named = {rule for each in (*found.supports, *found.against, *found.conflicts) for rule in each}
    order = sorted(range(len(model.rules)), key=lambda position: position not in named)
    asked = [position for position in order if model.rules[position].degree > 0]
    if crisp and found.mattering is not None:
        asked = [position for position in asked if position in found.mattering]
    without, told = {}, Told(model)
    for done, position in enumerate(asked):
        rule, left = model.rules[position], limits.share(max(SHARES["one effect"], 1 / (len(asked) - done)))
        bounds = told.without(found.families, position) if crisp and found.families is not None else None
        if bounds is not None:
            without[position] = replace(answer, bounds=bounds, exact=True, rules=len(model.rules) - 1)
            continue
        without[position] = _bounded(answer, rule.degree if rule.choice is None and not model.closed else 1.0)
        if limits.left > 0:
            with suppress(OutOfTime), clock.until(limits.deadline + GRACE):
                others = [other for other in model.rules if other is not rule]
                smaller = model.with_rules(others)
                without[position] = ask(smaller, question, given, _within(settings, left), memo)
    return [
        Effect(
            position + 1,
            str(rule),
            rule.degree,
            without.get(position, answer),
            None if rule.source is None else rule.source.name,
        )
        for position, rule in enumerate(model.rules)
    ]


def _bounded(answer: Answer, belief: float) -> Answer:
    """Without a rule of belief b every expectation is at least what it was, and at most that over 1 - b.

    So it is too where rules share a source: that a rule is absent makes the others no more likely to be there.
    """
    bounds, most = answer.bounds, math.inf if belief == 1 else 1 / (1 - belief)

    def ratio(interval: Interval) -> Interval:
        return interval[0] / most, min(1.0, interval[1] * most) if interval[1] > 0 else 0.0

    low, high = ratio((1 - bounds.belief[1], 1 - bounds.belief[0]))
    whole = 1 - bounds.conflict[0]
    wider = Bounds(
        belief=(1 - high, 1 - low),
        plausibility=ratio(bounds.plausibility),
        conflict=(max(0.0, 1 - min(1.0, whole * most)) if whole > 0 else 0.0, bounds.conflict[1]),
        kind=bounds.kind,
    )
    return replace(answer, bounds=wider, exact=False)


def _likeliest(model: Model, proposition: Set, condition: Set | None, limits: Limits) -> torch.Tensor | None:
    """The best point of a model with closed variables, inside question and condition; None where none was found."""
    if not isinstance(proposition, Expression) or not (condition is None or isinstance(condition, Expression)):
        return None
    both = proposition if condition is None else And((condition, proposition))
    found = auto(MAXIMA, WantedPoints(model, both, 1), limits.share(SHARES["one of two"])).found
    if found is None or (found.ranked is not None and not found.ranked.cells):
        return None
    return found.point if found.ranked is None else found.ranked.point(found.ranked.cells[0][1])


def minimal_sets(model: Model, proposition: Set, condition: Set | None, limits: Limits) -> reasons.Reasons:
    """Minimal sets, from a list of points where that is short, else by a solver.

    Where variables are closed, what follows from some rules need not follow from more: a set is one that suffices
    whichever other rules are there.
    """
    usable = np.array([rule.degree > 0 for rule in model.rules], dtype=bool)
    if not isinstance(proposition, Expression) or not (condition is None or isinstance(condition, Expression)):
        return reasons.NOTHING
    if model.closed:
        if not sat.available() or StatementEncoding.unfit(model, condition):
            return reasons.NOTHING
        formula = StatementEncoding.of(model, proposition, condition).sufficing(HALF)
        return reasons.by_solver(formula, usable, limits.deadline, both=True)
    whole = Listing.of(model, proposition, condition)
    if whole.seconds < min(LISTED, limits.left):
        rows = whole.rows(limits)
        if rows.complete:
            satisfied = (rows.witnesses >= HALF).numpy() & usable
            # A rule that is never present can be in no set: it is as if every point satisfied it.
            return reasons.by_points(satisfied | ~usable, (rows.member > 0).numpy())
    if not sat.available() or StatementEncoding.unfit(model, condition):
        return reasons.NOTHING
    formula = StatementEncoding.of(model, proposition, condition).formula(HALF)
    found = all_sets(formula, usable, limits.share(SHARES["all reasons"]).deadline)
    return reasons.by_solver(formula, usable, limits.deadline) if found is None else found


def _told(model: Model, point: torch.Tensor | None) -> Witness | None:
    if point is None:
        return None
    with torch.no_grad():
        grades = model.grades_of_observed(point[None])[0]
        kept = float(log_degrees(model, None, point[None]).exp())
    broken = ((grades < HALF) & (model.beliefs > 0)).nonzero()[:, 0].tolist()
    return Witness(model.world.show(point), kept, tuple(position + 1 for position in broken))
