"""What is odd about a rule base: rules that can never matter, say what others say, or contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from nbr import clock
from nbr.asking import reasons, unsupported
from nbr.asking.components import is_crisp
from nbr.calculus import detached, presence_probabilities, probability_absent, probability_together, sat
from nbr.clock import OutOfTime
from nbr.encodings import StatementEncoding
from nbr.errors import install
from nbr.language import Constant, Expression, Implies
from nbr.model import Model, presence
from nbr.ways import SHARES, Limits

SOLVER = f"checking rules against each other needs python-sat: {install('solve')}"
SAID = 2  # rules up to which a finding has their words


@dataclass(frozen=True)
class Finding:
    """One finding about a rule base: its kind, a sentence, and the numbers of the rules."""

    kind: str
    text: str
    rules: tuple[int, ...] = ()  # numbers, from 1
    probability: float | None = None  # that all these rules are there

    def as_json(self) -> dict[str, object]:
        return {"kind": self.kind, "text": self.text, "rules": list(self.rules), "probability": self.probability}


@dataclass(frozen=True)
class Check:
    """All findings about a rule base; `complete` says whether everything was checked in time."""

    findings: tuple[Finding, ...]
    complete: bool
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        found = [finding.as_json() for finding in self.findings]
        return {"findings": found, "complete": self.complete, "notes": list(self.notes)}

    def __str__(self) -> str:
        return "\n".join(finding.text for finding in self.findings) or "no problems were found"


def check(model: Model, limits: Limits) -> Check:
    """Look at the rules one by one, against each other, and at the variables."""
    base = _Base(model)
    findings, notes = [*base.unread(), *base.unmade(), *base.extremes()], [*base.unsupported()]
    if len(base.positions) < len(model.rules):
        others = sorted({*range(len(model.rules))}.difference(base.positions))
        notes.append(
            f"{base.named(others)} "
            f"{_is(others, 'is not a statement and was', 'are not statements and were')} not looked at"
        )
    if not sat.available():
        return Check(tuple(findings), False, (*notes, SOLVER))
    with clock.until(limits.deadline):
        try:
            findings += base.quarrels(limits.share(SHARES["conflicts"]))
            findings += base.nested(limits.share(SHARES["nested"]))
            findings += base.premises(limits.share(SHARES["premises"]))
            findings += base.alone(limits)
        except OutOfTime:
            base.complete = False
    return Check(tuple(findings), base.complete, tuple(notes))


class _Base:
    """The rules that are statements, by their position in the whole model."""

    def __init__(self, model: Model) -> None:
        self.model, self.complete = model, True
        said = [rule.at_least(1.0) if is_crisp(rule) else None for rule in model.rules]
        self.positions = [position for position, statement in enumerate(said) if statement is not None]
        self.statements = [statement for statement in said if statement is not None]
        rules = [model.rules[position] for position in self.positions]
        self.presence = detached(presence(rules, model.beliefs[self.positions]))
        self.beliefs = presence_probabilities(self.presence).tolist()
        self.dull: set[int] = set()  # always true or never
        self.conflicts: reasons.Sets = []

    @cached_property
    def part(self) -> Model:
        """The statements alone, as a model."""
        return Model(self.model.latent, tuple(self.model.rules[position] for position in self.positions))

    def named(self, positions: Iterable[int]) -> str:
        """Rules by number, and one or two of them also in words."""
        numbers = list(positions)
        words = len(numbers) <= SAID
        each = [f"{number + 1}" + (f" ({self.model.rules[number]})" if words else "") for number in numbers]
        return f"rule{'s' * (len(each) > 1)} {_listed(each)}"

    def unread(self) -> Iterator[Finding]:
        read = {name for rule in self.model.rules for name in rule.inputs}
        if unread := [name for name in self.model.latent.names if name not in read]:
            verb = _is(unread, "is a variable", "are variables")
            yield Finding("unread", f"{_listed(unread)} {verb} that no rule reads")

    def unmade(self) -> Iterator[Finding]:
        if unmade := sorted(name for name in self.model.closed if not self.model.program.of(name)):
            yield Finding("unmade", f"nothing can make {_listed(unmade)} so: closed, and no rule says it")

    def unsupported(self) -> Iterator[str]:
        """Causes that no rule can ever speak for, and what to close so that their effects do."""
        after = {name: unsupported.brought_about(self.model, name) for name in unsupported.unsupported(self.model)}
        causes = [name for name, effects in after.items() if effects]
        effects = sorted(frozenset[str]().union(*(each for each in after.values() if each)))
        if causes:
            named = ", ".join(f'"{name}"' for name in effects)
            yield (
                f"nothing can support {_listed(causes)}: rules say only what follows, so that "
                f"{_is(causes, 'its', 'their')} belief stays 0 whatever is observed; if nothing else brings about "
                f"{_listed(effects)}, write closed = [{named}]: observing {_is(effects, 'it', 'them')} then supports "
                "what can have caused it"
            )

    def extremes(self) -> Iterator[Finding]:
        degrees = presence_probabilities(detached(self.model.presence)).tolist()
        for belief, words in (
            (0.0, "{} never present (belief 0): without {} every answer is the same"),
            (1.0, "{} must hold (belief 1): a condition that breaks {} has no answer"),
        ):
            if found := [position for position, degree in enumerate(degrees) if degree == belief]:
                verb = "" if belief else _is(found, " is", " are")
                told = words.format(self.named(found) + verb, _is(found, "it", "them"))
                yield Finding(f"belief {belief:g}", told, tuple(position + 1 for position in found))

    def quarrels(self, limits: Limits) -> Iterator[Finding]:
        """Minimal sets of rules that cannot hold together, the most probable first."""
        for rules in self._explored(Constant(True), (), "all", set(), limits):
            self.conflicts.append(rules)
            whole = self._positions(rules)
            if len(rules) == 1:
                self.dull |= rules
                (belief,) = (self.beliefs[rule] for rule in rules)
                told = f"can never hold: it adds {belief:g} to the conflict and says nothing else"
                yield self._finding("never true", f"{self.named(whole)} {told}", rules)
            else:
                verb = "contradict each other" if len(rules) == 2 else "cannot all hold"
                chance = self._chance(rules)
                if chance == 0 and all(self.beliefs[rule] > 0 for rule in rules):
                    continue  # possibilities of which one is there
                told = f"{verb}: all are present with probability {chance:.4g}, which is conflict in every answer"
                yield self._finding("contradiction", f"{self.named(whole)} {told}", rules)

    def nested(self, limits: Limits) -> Iterator[Finding]:
        """Rules of one nested source that can contradict each other where both apply: then both count whole."""
        sources: dict[str, list[int]] = {}
        for rule, position in enumerate(self.positions):
            source = self.model.rules[position].source
            if source is not None and source.nested and rule not in self.dull:
                sources.setdefault(source.name, []).append(rule)
        for name, rules in sources.items():
            for pair in combinations(rules, 2):
                if limits.left <= 0:
                    self.complete = False
                    return
                if self._contradict(pair, limits):
                    told = f"of {name!r}, whose rules are nested, can contradict each other, and do so at full strength"
                    words = f"{self.named(self._positions(pair))} {told}"
                    yield self._finding("nested contradiction", words, pair)

    def _contradict(self, pair: Sequence[int], limits: Limits) -> bool:
        """Whether two rules cannot both hold although both may apply."""
        said = [self.statements[rule] for rule in pair]
        applied = [each.premise for each in said if isinstance(each, Implies)]
        two = self.part.with_rules(self.part.rules[rule] for rule in pair)
        deciding = sat.Deciding(StatementEncoding(two, Constant(True), applied).formula(1.0))
        try:
            apply = deciding.grows(set(), "all", limits.deadline)
            return apply and not deciding.grows({0, 1}, "all", limits.deadline)
        finally:
            deciding.close()

    def premises(self, limits: Limits) -> Iterator[Finding]:
        """Premises that rules together rule out: what is said of them is never used where these rules hold."""
        premises = [each.premise for each in self.statements if isinstance(each, Implies)]
        premises = sorted(dict.fromkeys(premises), key=lambda each: (len(each.names()), str(each)))
        told: reasons.Sets = []
        for number, premise in enumerate(premises):
            share = limits.share(1 / (len(premises) - number))
            for rules in self._explored(Constant(True), (premise,), "all", self.dull, share):
                if rules and not any(known <= rules for known in (*told, *self.conflicts)):
                    told.append(rules)
                    verb = "leaves" if len(rules) == 1 else "together leave"
                    words = f"{self.named(self._positions(rules))} {verb} no room for the premise {premise}"
                    yield self._finding("premise ruled out", words, rules)

    def alone(self, limits: Limits) -> Iterator[Finding]:
        """Each rule on its own: always true, or following from others."""
        same: set[frozenset[int]] = set()
        for rule, statement in enumerate(self.statements):
            if rule in self.dull:
                continue
            share = limits.share(1 / (len(self.statements) - rule))
            found = self._explored(statement, (), "no", {rule, *self.dull}, share)
            if found == [frozenset()]:
                self.dull.add(rule)
                words = f"{self.named(self._positions({rule}))} is always true: it can never matter"
                yield self._finding("always true", words, {rule})
            elif found:
                # Rules that must hold make it idle; else the fewest, and the firmest, say it best.
                best = min(found, key=lambda each: (not self._certain(each), len(each), -self._chance(each)))
                yield from self._follows(rule, best, same, limits)

    def _follows(
        self, rule: int, others: frozenset[int], same: set[frozenset[int]], limits: Limits
    ) -> Iterator[Finding]:
        pair = others | {rule}
        if len(others) == 1 and pair in same:
            return
        (other, *more) = sorted(others)
        without = set(range(len(self.statements))) - {rule}
        if not more and self._explored(self.statements[other], (), "no", without, limits):
            same.add(pair)
            both = 1 - probability_absent(self.presence, pair)
            told = f"say the same: together they are believed to {both:.4g}"
            yield self._finding("the same", f"{self.named(self._positions(pair))} {told}", pair)
            return
        told = f"{self.named(self._positions({rule}))} follows from {self.named(self._positions(others))}"
        certain = self._certain(others)
        told += (
            ", which must hold: it can never matter"
            if certain
            else ": it matters only where one of them is not present"
        )
        yield self._finding("never matters" if certain else "follows", told, {rule}, others)

    def _certain(self, rules: Iterable[int]) -> bool:
        return all(self.beliefs[rule] == 1 for rule in rules)

    def _chance(self, rules: Iterable[int]) -> float:
        return probability_together(self.presence, list(rules))

    def _positions(self, rules: Iterable[int]) -> list[int]:
        return [self.positions[rule] for rule in sorted(rules)]

    def _finding(self, kind: str, text: str, rules: Iterable[int], others: Iterable[int] = ()) -> Finding:
        numbers = (*self._positions(rules), *self._positions(others))
        return Finding(kind, text, tuple(number + 1 for number in numbers), self._chance([*rules, *others]))

    def _explored(
        self,
        question: Expression,
        conditions: Sequence[Expression],
        union: str,
        without: set[int],
        limits: Limits,
    ) -> reasons.Sets:
        """Minimal sets of rules that allow no point of a union, the most probable first; none where time is up."""
        if limits.left <= 0:
            self.complete = False
            return []
        formula = StatementEncoding(self.part, question, conditions).formula(1.0)
        usable = np.array([rule not in without for rule in range(len(self.statements))], dtype=bool)
        deciding = sat.Deciding(formula)
        try:
            found, all_found = reasons.explored(deciding, union, usable, limits.deadline)
            # Of rules that contradict each other everything follows.
            found = found if union == "all" else [e for e in found if deciding.consistent(e, limits.deadline)]
        finally:
            deciding.close()
        self.complete = self.complete and all_found
        return sorted(found, key=lambda each: (-self._chance(each), len(each), sorted(each)))


def _is(several: Sequence[object], one: str, more: str) -> str:
    return one if len(several) == 1 else more


def _listed(words: Sequence[str]) -> str:
    """Words in a row, with an "and" before the last.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
