"""A model of networks as one of statements, and what that loses.

Every rule that is no statement is restated (`nbr.restating`). Where the words agree with it well enough they take its
place; elsewhere it stays as it was, or is dropped. What was lost is measured by asking both models the same questions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import torch
from torch import Tensor

from nbr import clock
from nbr.asking.many import ask_many
from nbr.asking.question import AskSettings
from nbr.errors import NbrError
from nbr.language import Atom, shortened
from nbr.model import Model
from nbr.priors import Prior
from nbr.restating import WORDS_DO, Restated, restate
from nbr.rules import Clause, Rule
from nbr.world import World

ASKED = 400  # questions of which the effect is measured
WORDLESS = f"no short statement describes it: none agrees on {WORDS_DO:.0%} of points"
EACH = 10  # of them at the most with one condition
SHOWN = {"in words": "rewritten", "as it was": "unchanged", "dropped": "dropped"}
R = TypeVar("R")
Asked = tuple[str | None, Sequence[str]]  # a condition, and questions


@dataclass(frozen=True)
class Fate:
    """What happened to a rule: `became` is "as it was", "in words" or "dropped"; `why` gives the reason."""

    rule: int
    text: str
    became: str
    restated: Restated | None = None
    why: str = ""

    def __str__(self) -> str:
        words = f"{self.restated}" if self.restated is not None else self.text
        return f"{SHOWN[self.became]}: {words}" + (f" ({self.why})" if self.why else "")

    def as_json(self) -> dict[str, object]:
        restated = None if self.restated is None else self.restated.as_json()
        return {"rule": self.rule, "text": self.text, "became": self.became, "why": self.why, "restated": restated}


@dataclass(frozen=True)
class Lost:
    """How far answers move: the number of questions that both models answer exactly, the mean and the largest
    change."""

    questions: int
    mean: float
    largest: float
    at: str  # the question whose answer moves most

    def __str__(self) -> str:
        if not self.questions:
            return "the loss is not known: no question was answered exactly by both models in time"
        asked = f"of {self.questions:,} questions about a variable, with some others known, answers move by"
        return f"{asked} {self.mean:.4f} on average and {self.largest:.4f} at most ({self.at})"


@dataclass(frozen=True)
class Distilled(Generic[R]):
    """A model of statements, what happened to each rule, and how far answers moved."""

    reasoner: R
    rules: tuple[Fate, ...]
    lost: Lost

    @property
    def complete(self) -> bool:
        """Whether every rule is a statement now, and none was dropped."""
        return all(fate.became == "in words" or (fate.restated is None and not fate.why) for fate in self.rules)

    def as_json(self) -> dict[str, object]:
        lost = {name: getattr(self.lost, name) for name in ("questions", "mean", "largest", "at")}
        return {"complete": self.complete, "rules": [fate.as_json() for fate in self.rules], "lost": lost}

    def __str__(self) -> str:
        lines = [f"{fate.rule:>3}  {fate}" for fate in self.rules]
        changed = any(fate.became != "as it was" for fate in self.rules)
        return "\n".join([*lines, str(self.lost) if changed else "no rule was changed"])


def restated(model: Model, prior: Prior, deadline: float = float("inf"), seed: int = 0) -> Iterator[Restated | str]:
    """Each rule in words, or why it is not: it is a statement already, no short one says it, or nobody knows."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(count: int) -> Tensor:
        return prior.sample(count, generator)

    for rule in model.rules:
        if rule.expression is not None:
            yield ""
        elif clock.now() >= deadline:
            yield "no statement was found in time"
        else:
            yield _one(model, rule, drawn)


def _one(model: Model, rule: Rule, drawn: Callable[[int], Tensor]) -> Restated | str:
    codec = model.codec
    if codec is not None and codec.encoder is None:
        return "without an encoder its meaning for observed points is not known"

    def grades(points: Tensor) -> Tensor:
        return rule.grades(points if codec is None else codec.encode(points))

    try:
        names = rule.inputs if codec is None else model.world.names
        found = restate(rule, model.world, grades, names, drawn)
    except NbrError as error:
        return str(error)
    return found if found.says else WORDLESS


def distil(
    model: Model, prior: Prior, agreement: float, keep: bool, budget: float, seed: int
) -> tuple[Model, tuple[Fate, ...], Lost]:
    """Statements in the place of the rules with which they agree on that share of points; see the module."""
    if model.closed:
        raise NbrError("a model with closed variables already consists of statements")
    if not WORDS_DO <= agreement <= 1:
        raise NbrError(f"the agreement must be a share from {WORDS_DO} to 1, not {agreement:g}")
    fates: list[Fate] = []
    rules: list[Rule] = []
    for number, (rule, found) in enumerate(zip(model.rules, restated(model, prior, seed=seed), strict=True), start=1):
        fate, becomes = _decided(number, rule, found, agreement, keep and model.codec is None)
        fates.append(fate)
        rules += becomes
    smaller = replace(model, rules=tuple(rules), codec=None)
    changed = any(fate.became != "as it was" for fate in fates)
    lost = _lost(model, smaller, prior, budget, seed) if changed else Lost(0, 0.0, 0.0, "")
    return smaller, tuple(fates), lost


def _decided(number: int, rule: Rule, found: Restated | str, agreement: float, keep: bool) -> tuple[Fate, list[Rule]]:
    if found == "":
        return Fate(number, str(rule), "as it was"), [rule]
    words = found if isinstance(found, Restated) else None
    if rule.choice is not None or (rule.source is not None and rule.source.nested):
        return Fate(number, str(rule), "as it was", words, "it is not independent of other rules"), [rule]
    if words is not None and words.agreement >= agreement:
        if not words.telling:
            return Fate(number, str(rule), "dropped", words, "it does not distinguish any points"), []
        return Fate(number, str(rule), "in words", words), _clauses(rule, words)
    why = found if isinstance(found, str) else f"the words agree on less than {agreement:.4g} of points"
    return Fate(number, str(rule), "as it was" if keep else "dropped", words, why), [rule] if keep else []


def _clauses(rule: Rule, words: Restated) -> list[Rule]:
    several = len(words.telling) > 1 and rule.name is not None
    names = [f"{rule.name} ({each.text})" if several else rule.name for each in words.telling]
    clauses = [Clause(each.text, each.belief, name) for each, name in zip(words.telling, names, strict=True)]
    clauses = [each.from_source(rule.source) for each in clauses]
    support = rule.support
    if support is None:
        return [*clauses]
    return [each.with_belief(each.belief, support.carried(rule.degree, each.degree)) for each in clauses]


def _lost(before: Model, after: Model, prior: Prior, budget: float, seed: int) -> Lost:
    """Both models asked about variables while some others are known, from none to all, as drawn from the prior."""
    end = clock.now() + budget
    changes: list[tuple[float, str]] = []
    asked = list(_questions(before.world, prior, seed))
    at_once = 1  # conditions: more where they are answered quickly, as they share the work
    while asked and len(changes) < ASKED and (left := end - clock.now()) > 0:
        some, asked = asked[:at_once], asked[at_once:]
        settings = AskSettings(budget=max(0.05, left / (4 * sum(len(questions) for _, questions in some))))
        changes += _changes(before, after, some, settings)
        at_once = 2 * at_once if end - clock.now() > 0.9 * left else 1
    if not changes:
        return Lost(0, 0.0, 0.0, "")
    largest, at = max(changes, key=lambda change: change[0])
    return Lost(len(changes), sum(moved for moved, _ in changes) / len(changes), largest, at)


def _changes(before: Model, after: Model, asked: Sequence[Asked], settings: AskSettings) -> list[tuple[float, str]]:
    """How far each answer moves that both models know exactly, and the question."""
    pairs = [(question, given) for given, questions in asked for question in questions]
    try:
        first, second = (ask_many(model, pairs, settings) for model in (before, after))
    except NbrError:  # the rules allow no point of a condition
        return [] if len(asked) == 1 else [each for one in asked for each in _changes(before, after, [one], settings)]
    return [
        (
            max(abs(one.belief - other.belief), abs(one.plausibility - other.plausibility)),
            one.question + (f" given {one.given}" if one.given else ""),
        )
        for one, other in zip(first, second, strict=True)
        if one.exact and other.exact
    ]


def _questions(world: World, prior: Prior, seed: int) -> Iterator[Asked]:
    """Conditions, nothing first, each with questions about some variables that it leaves open."""
    draw = random.Random(seed)
    names = [name for name, kind in world.variables.items() if not kind.numeric]
    points = prior.sample(ASKED, torch.Generator().manual_seed(seed)) if names else torch.zeros(0)
    for number, point in enumerate(points):
        shown = world.show(point)
        known = draw.sample(names, 0 if number == 0 else draw.randrange(len(names)))
        rest = [name for name in names if name not in known]
        said = {name: shortened(Atom(name, "=", (shown[name],))) for name in names}
        given = ", ".join(said[name] for name in names if name in known) or None
        yield given, [said[name] for name in draw.sample(rest, min(EACH, len(rest)))]
