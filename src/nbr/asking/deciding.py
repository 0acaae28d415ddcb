"""What to do: the lower and upper expected utility of each action, and the choice by a criterion.

Lower expected utility is the Choquet integral of belief: the smallest utility, plus the sum over higher levels of
(step to the level) x Bel(utility >= level); the upper one has Pl in its place. Each level is a question, so both are
exact where questions are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from nbr import clock
from nbr.aims import Action
from nbr.asking.asked import Memo
from nbr.asking.question import AskSettings, Proposition, as_set, ask, under_condition, words_of
from nbr.calculus import Interval
from nbr.errors import NbrError, suggest
from nbr.language import Expression
from nbr.model import Model
from nbr.ways import SHARES

CRITERIA = ("maximin", "maximax", "hurwicz", "pignistic")
CLASSES = 8  # of equal utility that the pignistic criterion takes: it asks about every set of them
LEAST = 0.02  # seconds that a question may always take
SLACK = 1e-9


@dataclass(frozen=True)
class Prospect:
    """An action with bounds on its lower and upper expected utility, and on the value that the criterion compares."""

    name: str
    low: Interval
    high: Interval
    value: Interval
    dominated: bool = False

    @property
    def lower(self) -> float:
        """The expected utility in the worst case; the lower end of its bounds where it is not exact."""
        return self.low[0]

    @property
    def upper(self) -> float:
        """The expected utility in the best case; the upper end of its bounds where it is not exact."""
        return self.high[1]

    @property
    def exact(self) -> bool:
        return all(high - low <= SLACK for low, high in (self.low, self.high, self.value))

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "lower": self.lower,
            "upper": self.upper,
            "value": sum(self.value) / 2,
            "dominated": self.dominated,
            "exact": self.exact,
            "bounds": {"lower": list(self.low), "upper": list(self.high), "value": list(self.value)},
        }


@dataclass(frozen=True)
class Appraisal:
    """Every action with its expected utilities, and the choice of the criterion.

    An action is dominated if the worst case of another one is better than its best case.
    """

    given: str | None
    criterion: str
    actions: tuple[Prospect, ...]  # as the model has them
    choice: str
    notes: tuple[str, ...] = ()
    kind: str = "proved"  # of bounds that are not exact: "proved" or "95%"

    @property
    def exact(self) -> bool:
        return self.kind == "proved" and all(each.exact for each in self.actions)

    def as_json(self) -> dict[str, object]:
        return {
            "given": self.given,
            "criterion": self.criterion,
            "actions": [each.as_json() for each in self.actions],
            "choice": self.choice,
            "exact": self.exact,
            "kind": self.kind,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        width = max(len(each.name) for each in self.actions)
        lines = [f"given {self.given}"] if self.given else []
        for each in self.actions:
            mark = "*" if each.name == self.choice else " "
            ends = f"[{each.lower:.4f}, {each.upper:.4f}]"
            said = f"{mark} {each.name:<{width}}  {ends:<22} {sum(each.value) / 2:10.4f}"
            lines.append(said + ("  dominated" if each.dominated else ""))
        return "\n".join([*lines, f"choice: {self.choice} ({self.criterion})", *self.notes])


def decide(
    model: Model,
    given: Proposition | None,
    criterion: str,
    optimism: float,
    settings: AskSettings,
) -> Appraisal:
    """What each action of a model is worth, and which one the criterion chooses; the budget is for all questions.

    `hurwicz` looks at optimism x upper + (1 - optimism) x lower, `pignistic` at the mean when each mass is shared
    equally among the utilities that it leaves possible.
    """
    if criterion not in CRITERIA:
        raise NbrError(f"unknown criterion {criterion!r}" + suggest(str(criterion), CRITERIA))
    if isinstance(optimism, bool) or not isinstance(optimism, int | float) or not 0 <= optimism <= 1:
        raise NbrError(f"optimism must be a number from 0 to 1, not {optimism}")
    if not model.aims.actions:
        raise NbrError(
            'the model has no [actions]; write for example: replace = [{ when = "..", value = 10 }, { value = -3 }]'
        )
    asked = _Levels(model, given, settings, {})
    asked.left = sum(_questions(action, criterion) for action in model.aims.actions)
    weighed = [_weighed(action, criterion, optimism, asked) for action in model.aims.actions]
    beaten = [
        replace(each, dominated=any(other.low[0] > each.high[1] + SLACK for other in weighed if other is not each))
        for each in weighed
    ]
    best = max(beaten, key=lambda each: each.value[0])
    rivals = [each.name for each in beaten if each is not best and each.value[1] > best.value[0] + SLACK]
    level = [each.name for each in beaten if each is not best and each.exact and best.exact and _alike(each, best)]
    notes = [f"not settled: {' and '.join(rivals)} may be better; give a larger budget"] if rivals else []
    notes += [f"as good by this criterion: {', '.join(level)}"] if level and not rivals else []
    return Appraisal(asked.given, criterion, tuple(beaten), best.name, tuple(notes), asked.kind)


def _alike(one: Prospect, other: Prospect) -> bool:
    return abs(one.value[0] - other.value[0]) <= SLACK


class _Levels:
    """Questions under one condition, each asked once, in its part of the time."""

    def __init__(self, model: Model, given: Proposition | None, settings: AskSettings, memo: Memo) -> None:
        self.model, self.condition = under_condition(model, given)
        self.settings, self.memo = settings, memo
        self.deadline, self.left, self.kind = clock.now() + settings.budget, 1, "proved"
        self.known: dict[str, tuple[Interval, Interval]] = {}
        self.given = None if given is None else words_of(given)

    def __call__(self, statement: Expression) -> tuple[Interval, Interval]:
        """Bounds on belief and plausibility."""
        words, self.left = str(statement), max(1, self.left - 1)
        if words not in self.known:
            left = self.deadline - clock.now()
            share = max(LEAST, left * max(SHARES["one utility"], 1 / (self.left + 1)))
            found = ask(self.model, statement, self.condition, replace(self.settings, budget=share), self.memo)
            ends = found.bounds.belief, found.bounds.plausibility
            if found.bounds.kind != "proved" and any(low < high for low, high in ends):
                self.kind = found.bounds.kind  # else only the conflict with what was not asked is not exact
            self.known[words] = ends
        return self.known[words]


def _questions(action: Action, criterion: str) -> int:
    levels = len(action.utilities)
    return levels - 1 + (levels + (1 << min(levels, CLASSES)) if criterion == "pignistic" else 0)


def _weighed(action: Action, criterion: str, optimism: float, asked: _Levels) -> Prospect:
    utilities = action.utilities
    low = high = (utilities[0], utilities[0])
    for before, level in pairwise(utilities):
        belief, plausibility = asked(action.worth([each for each in utilities if each >= level]))
        low, high = _plus(low, level - before, belief), _plus(high, level - before, plausibility)
    if criterion == "pignistic":
        return Prospect(action.name, low, high, _pignistic(action, asked))
    weight = {"maximin": 0.0, "maximax": 1.0, "hurwicz": float(optimism)}[criterion]
    mixed = [(1 - weight) * low[end] + weight * high[end] for end in (0, 1)]
    return Prospect(action.name, low, high, (mixed[0], mixed[1]))


def _plus(total: Interval, factor: float, more: Interval) -> Interval:
    """A sum of numbers known within bounds; a negative factor turns them round."""
    ends = sorted(factor * each for each in more)
    return total[0] + ends[0], total[1] + ends[1]


def _pignistic(action: Action, asked: _Levels) -> Interval:
    """The mean utility when the mass of every set of utilities is shared equally among them.

    With m(A) = sum over B in A of (-1)^|A - B| Bel(B) it is linear in the beliefs, so bounds on these bound it.
    """
    every = action.utilities
    whens = [each.when for each in action.payoffs if each.when is not None]
    if not all(isinstance(as_set(when, asked.model.world, "when"), Expression) for when in whens):
        raise NbrError(f"[actions] {action.name!r}: pignistic needs statements without words of degree; use hurwicz")
    classes = [each for each in every if len(every) == 1 or asked(action.worth([each]))[1][1] > 0]
    if len(classes) > CLASSES:
        raise NbrError(
            f"[actions] {action.name!r} has {len(classes)} utilities that are possible, and pignistic takes up to "
            f"{CLASSES}: use hurwicz, or fewer utilities"
        )
    impossible = [each for each in every if each not in classes]
    belief = _beliefs(classes, lambda some: asked(action.worth([*some, *impossible])))
    total = (0.0, 0.0)
    subsets = list(belief)
    for inner in subsets:
        factor = sum((-1) ** (len(outer) - len(inner)) * sum(outer) / len(outer) for outer in subsets if inner <= outer)
        total = _plus(total, factor, belief[inner])
    return total


def _beliefs(
    classes: Sequence[float], ask: Callable[[Sequence[float]], tuple[Interval, Interval]]
) -> dict[frozenset[float], Interval]:
    """Bounds on the belief of each set of utilities; that of one is 1 minus the plausibility of the rest."""
    whole = frozenset(classes)
    found = {whole: (1.0, 1.0)}
    for size in range(1, len(classes)):
        for some in map(frozenset, combinations(classes, size)):
            if some not in found:
                belief, (least, most) = ask(sorted(some))
                found[some], found[whole - some] = belief, (1 - most, 1 - least)
    return found
