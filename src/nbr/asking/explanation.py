"""Why an answer is what it is: what explaining returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from nbr.asking import verdict
from nbr.asking.answer import Answer
from nbr.plots import html, intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from nbr.density import Moved, Probability

SHOWN = 5
WORTH_TELLING = 0.005  # by which a rule moves an answer, or an observation narrows the gap


@dataclass(frozen=True)
class Effect:
    """A rule, by its number from 1, and the answer without it."""

    rule: int
    text: str
    belief: float
    without: Answer
    source: str | None = None  # who says it

    def computed(self, answer: Answer) -> bool:
        """Whether the answer without the rule is known about as well as the answer itself."""
        return self.without.uncomputed <= answer.uncomputed + 1e-3

    def change(self, answer: Answer) -> float:
        """How far the interval moves when the rule goes."""
        return max(abs(self.without.belief - answer.belief), abs(self.without.plausibility - answer.plausibility))


@dataclass(frozen=True)
class Witness:
    """A point of the world in words, its plausibility, and the numbers of the rules that it breaks."""

    values: dict[str, str]
    plausibility: float  # E[mu]: not normalised by the conflict
    breaks: tuple[int, ...]

    def shown(self, names: Collection[str]) -> str:
        """Its values of some variables, and how many others there are."""
        said = ", ".join(f"{name}={value}" for name, value in self.values.items() if name in names)
        left = sum(name not in names for name in self.values)
        return f"{said}, and {left} more that no rule of the answer reads" if left else said

    def __str__(self) -> str:
        return self.shown(self.values)


@dataclass(frozen=True)
class Observation:
    """A variable, the mean gap between belief and plausibility after observing it, and the cost of observing it, if
    given."""

    variable: str
    gap: float
    cost: float | None = None

    def order(self, gap_now: float) -> float:
        """Smallest first: by the gap, or where there is a cost by what is narrowed for it."""
        return self.gap if self.cost is None else (self.gap - gap_now) / self.cost

    def as_json(self) -> dict[str, object]:
        return {"variable": self.variable, "gap": self.gap, **({} if self.cost is None else {"cost": self.cost})}


@dataclass(frozen=True)
class Explanation:
    """Why an answer is what it is.

    `effects` has the rules that change the answer; `supports` and `conflicts` are minimal sets of rules that entail the
    question or contradict the condition, as lists of rule numbers, the most probable set first; `witness` and `counter`
    are a point for the question and one against it; `next` ranks the variables to observe. In sets of rules a fuzzy
    rule counts as satisfied from grade 1/2 on, and `at_half` names such rules.
    """

    answer: Answer
    rules: tuple[Effect, ...]  # in the model's order
    supports: list[list[int]]
    conflicts: list[list[int]]
    supports_complete: bool
    conflicts_complete: bool
    witness: Witness | None
    counter: Witness | None
    next: tuple[Observation, ...]
    against: list[list[int]] = field(default_factory=list)  # minimal sets that entail that the question does not hold
    about: tuple[str, ...] = ()  # the variables of the question, of the condition, and of the rules that matter
    at_half: tuple[int, ...] = ()
    clash_alone: bool = False  # the first of `conflicts` contradicts itself, whatever the condition is
    probability: Probability | str | None = None  # how often, of a model with a prior, or why that is not known
    moved: Moved | None = None  # from the base rate to that probability, where there is a condition

    @property
    def effects(self) -> list[Effect]:
        """The rules that change the answer, those with the largest effect first; then those not computed in time."""
        moved = [each for each in self.rules if each.change(self.answer) > 1e-9]
        return sorted(moved, key=lambda each: (not each.computed(self.answer), -each.change(self.answer)))

    def as_json(self) -> dict[str, object]:
        return {
            "answer": {**self.answer.as_json(), "probability": self._probability()},
            "rules": [
                {
                    "rule": each.rule,
                    "text": each.text,
                    "belief": each.belief,
                    "source": each.source,
                    "without": _numbers(each.without),
                }
                for each in self.rules
            ],
            "supports": self.supports,
            "against": self.against,
            "conflicts": self.conflicts,
            "supports_complete": self.supports_complete,
            "conflicts_complete": self.conflicts_complete,
            "at_half": list(self.at_half),
            "witness": None if self.witness is None else self.witness.values,
            "counter": None if self.counter is None else self.counter.values,
            "about": list(self.about),
            "moved": None if self.moved is None else self.moved.as_json(),
            "next": [each.as_json() for each in self.next],
        }

    def _probability(self) -> dict[str, object] | None:
        return None if self.probability is None or isinstance(self.probability, str) else self.probability.as_json()

    def words(self) -> str:
        """The explanation in a few sentences."""
        return " ".join(self._sentences())

    def named(self, rules: Sequence[int]) -> str:
        """Rules by their numbers, each with its source.

        >>> from nbr import Clause, Reasoner, World
        >>> told = Reasoner(World.bits(2), [Clause("x0", 0.8, source="log"), Clause("x0 -> x1", 0.9)]).explain("x1")
        >>> told.named([1, 2])
        'rules 1 (log) and 2'
        """
        if not rules:
            return "the condition alone"
        sources = {each.rule: each.source for each in self.rules}
        said = [f"{rule} ({sources[rule]})" if sources.get(rule) else str(rule) for rule in rules]
        return f"{'rule' if len(rules) == 1 else 'rules'} {joined(said)}"

    @property
    def favour(self) -> list[list[int]]:
        """What speaks for it: minimal sets of rules, or rules each by itself where sets are not known."""
        return self.supports or self._alone(lambda answer: answer.belief, 1)

    @property
    def opposed(self) -> list[list[int]]:
        """What speaks against it."""
        return self.against or self._alone(lambda answer: answer.plausibility, -1)

    def _alone(self, end: Callable[[Answer], float], sign: int) -> list[list[int]]:
        moves = [(sign * (end(self.answer) - end(each.without)), each.rule) for each in self._known_effects()]
        return [[rule] for moved, rule in sorted(moves, reverse=True) if moved >= WORTH_TELLING]

    def _sentences(self) -> list[str]:
        answer = self.answer
        said = verdict.sentences(answer, self._because(self.supports))
        clash = self.contradiction()
        if answer.bounds.conflict[0] >= verdict.HIGH:
            said[1:1], clash = clash, []
        told = [self._effect(each) for each in self._known_effects()[:2]]
        return [*said, *self._often(), *told, *clash, *self.advice()]

    def advice(self) -> list[str]:
        """What to observe to know more."""
        gap = self.answer.ignorance
        if not self.next or self.next[0].gap >= gap - WORTH_TELLING:
            return []
        best = self.next[0]
        cost = "" if best.cost is None else f" for {best.cost:g}"
        then = f"the gap of {gap:.2f} would be {best.gap:.2f} on average"
        return [f"To know more, observe {best.variable}{cost}: {then}."]

    def _often(self) -> list[str]:
        found = self.probability
        if found is None or isinstance(found, str) or found.value is None:
            return []
        error = "" if found.exact else f" ± {found.error:.2f}"
        said = f"With the base rates of the prior its probability is {found.value:.2f}{error}{self._way(found.value)}"
        if found.widened is None or found.widened[1] - found.widened[0] < WORTH_TELLING:
            return [said + "."]
        low, high = found.widened
        return [f"{said}; columns never seen together leave {low:.2f} to {high:.2f} open."]

    def _way(self, value: float) -> str:
        """Where a probability came from, and what moved it most."""
        if self.moved is None or self.moved.base.value is None or any(p.value is None for _, p in self.moved.steps):
            return ""
        reached = [self.moved.base.value, *(each.value or 0.0 for _, each in self.moved.steps)]
        steps = [after - before for before, after in pairwise(reached)]
        furthest = max(range(len(steps)), key=lambda at: abs(steps[at]))
        if abs(steps[furthest]) < WORTH_TELLING:
            return ", as without the condition"
        most = f", most of it by {self.moved.steps[furthest][0]}" if len(steps) > 1 else ""
        return f", {'up' if value >= reached[0] else 'down'} from {reached[0]:.2f} without the condition{most}"

    def _known_effects(self) -> list[Effect]:
        known = [each for each in self.effects if each.computed(self.answer)]
        return [each for each in known if each.change(self.answer) >= WORTH_TELLING]

    def contradiction(self) -> list[str]:
        """The rules that most probably contradict each other."""
        if not (self.conflicts and self.conflicts[0]) or self.answer.conflict <= 1e-9:
            return []
        rules = self.conflicts[0]
        others = " and the condition" if self.answer.given and not self.clash_alone else ""
        alone = len(rules) == 1 and not others
        verb = "contradicts itself" if alone else "contradict each other"
        return [f"R{self.named(rules)[1:]}{others} {verb}."]

    def _effect(self, effect: Effect) -> str:
        answer, without = self.answer, effect.without
        raises = without.plausibility - answer.plausibility > 1e-9
        lowers = answer.belief - without.belief > 1e-9
        verb = "counts"
        if raises != lowers:
            verb = "speaks for it" if lowers else "speaks against it"
        before, after = (f"[{each.belief:.2f}, {each.plausibility:.2f}]" for each in (answer, without))
        return f"R{self.named([effect.rule])[1:]} {verb}: without it {after} in place of {before}."

    def _because(self, supports: list[list[int]]) -> str:
        return f", because of {self.named(supports[0])}" if supports and supports[0] else ""

    def bars(self) -> list[intervals.IntervalBar]:
        """The answer, and below it what it would be without each rule that changes it."""
        shown = [each for each in self.effects if each.computed(self.answer)][: 2 * SHOWN]
        found = None if self.probability is None or isinstance(self.probability, str) else self.probability.value
        first = self.answer.bar("the answer", found)
        return [first, *(each.without.bar(f"without {each.rule}: {_short(each.text)}", beside=True) for each in shown)]

    @property
    def title(self) -> str:
        return f"{self.answer.question}   {self.answer.title}"

    def plot(self) -> Figure:
        """Draw the answer above the answers without each rule, as a matplotlib figure."""
        return intervals.show(self.bars(), self.title)

    def _repr_html_(self) -> str:
        rows = [
            html.row(
                str(each.rule),
                html.said(each.text),
                html.bar(each.without.bounds.belief, each.without.bounds.plausibility),
                f"[{each.without.belief:.4f}, {each.without.plausibility:.4f}]",
            )
            for each in self.effects[: 2 * SHOWN]
        ]
        head = html.row("without", "rule", "the answer would be", "") if rows else ""
        return f"{self.answer._repr_html_()}<p>{html.said(self.words())}</p><table>{head}{''.join(rows)}</table>"

    def __str__(self) -> str:
        return f"{self.answer}\n{self.words()}"


def _numbers(answer: Answer) -> dict[str, object]:
    """The part of an answer that differs from rule to rule."""
    kept = ("belief", "plausibility", "conflict", "exact", "bounds")
    return {key: value for key, value in answer.as_json().items() if key in kept}


def _short(words: str, width: int = 40) -> str:
    return words if len(words) <= width else words[: width - 3] + "..."


def joined(words: Sequence[str]) -> str:
    """Words with commas and "and"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)
