"""Where rules come from: what rules of one source share, and possibilities of which one source names at most one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbr.errors import NbrError, suggest

if TYPE_CHECKING:
    from nbr.rules.base import Rule

KINDS = ("distinct", "nested")
ROUNDING = 1e-9  # by which beliefs of possibilities may add up to more than 1


@dataclass(frozen=True)
class Source:
    """A source of rules, which may be unreliable.

    If the source is unreliable, none of its rules is present. If it is reliable, distinct rules are independent, while
    nested rules share one degree of confidence: of those that apply, the strongest counts.

    Args:
        name: The name of the source.
        reliability: The probability that the source is reliable at all.
        rules: "distinct" or "nested".

    >>> Source("handbook", 0.9)
    Source(name='handbook', reliability=0.9, rules='distinct')
    """

    name: str
    reliability: float = 1.0
    rules: str = "distinct"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise NbrError(f"a source has a name, not {self.name!r}")
        number = isinstance(self.reliability, int | float) and not isinstance(self.reliability, bool)
        if not number or not 0 <= self.reliability <= 1:
            raise NbrError(f"source {self.name!r}: reliability must be a number from 0 to 1, not {self.reliability!r}")
        if self.rules not in KINDS:
            hint = suggest(str(self.rules), KINDS)
            raise NbrError(f"source {self.name!r}: rules are 'distinct' or 'nested', not {self.rules!r}{hint}")

    @property
    def nested(self) -> bool:
        return self.rules == "nested"

    @classmethod
    def of(cls, source: Source | str | None) -> Source | None:
        """A source as it is, or by its name with what is usual."""
        return cls(source) if isinstance(source, str) else source


class OneOf:
    """What possibilities have in common of which at most one is there; two choices are never the same."""


def checked_sources(rules: Sequence[Rule]) -> None:
    """Raise an error where one source is told in two ways, says a rule twice, or has too many possibilities."""
    sources: dict[str, Source] = {}
    said: dict[object, int] = {}
    masses: dict[OneOf, list[Rule]] = {}
    for number, rule in enumerate(rules, 1):
        if rule.choice is not None:
            masses.setdefault(rule.choice, []).append(rule)
        if rule.source is None:
            continue
        known = sources.setdefault(rule.source.name, rule.source)
        if known != rule.source:
            raise NbrError(
                f"the source {known.name!r} is described in two ways: {_told(known)}, and {_told(rule.source)}"
            )
        first = said.setdefault((known.name, rule.statement, rule.choice), number)
        if first != number:
            raise NbrError(f"rule {number} is rule {first} again, from the same source {known.name!r}: give it once")
    for rules_of in masses.values():
        _possible(rules_of)


def _possible(rules: Sequence[Rule]) -> None:
    total = math.fsum(rule.degree for rule in rules)
    if total > 1 + ROUNDING:
        raise NbrError(f"the beliefs of one_of ({rules[0]}, ..) add up to {total:g}, and at most to 1")
    source = rules[0].source
    if any(rule.source != source for rule in rules):
        raise NbrError(f"the possibilities of one_of ({rules[0]}, ..) come from different sources")
    if source is not None and source.nested:
        raise NbrError(f"one_of ({rules[0]}, ..) cannot belong to the source {source.name!r}, whose rules are nested")


def _told(source: Source) -> str:
    return f"reliability {source.reliability:g}, rules {source.rules!r}"


def joined_rules(one: Sequence[Rule], other: Sequence[Rule]) -> list[Rule]:
    """The rules of two models: what one source says in both counts once, all else is distinct.

    A rule is the same if source and statement are; possibilities are the same if all of them are.
    """
    known = {_key(rule): rule for rule in one if rule.source is not None and rule.choice is None}
    choices = {_possibilities(some): some for some in _choices(one) if some[0].source is not None}
    again: dict[OneOf, OneOf | None] = {}
    for some in _choices(other):
        found = choices.get(_possibilities(some)) if some[0].source is not None else None
        own = some[0].choice
        assert own is not None
        if found is not None:
            _same(found, some)
        # Possibilities without a source are distinct, also where both models have the very same ones.
        again[own] = None if found is not None else OneOf()
    rules = list(one)
    for rule in other:
        if rule.choice is not None:
            fresh = again[rule.choice]
            if fresh is not None:
                rules.append(rule.one_of(fresh))
        elif rule.source is not None and _key(rule) in known:
            _same([known[_key(rule)]], [rule])
        else:
            rules.append(rule)
    return rules


def _key(rule: Rule) -> tuple[str, object]:
    assert rule.source is not None
    return rule.source.name, rule.statement


def _choices(rules: Iterable[Rule]) -> list[list[Rule]]:
    found: dict[OneOf, list[Rule]] = {}
    for rule in rules:
        if rule.choice is not None:
            found.setdefault(rule.choice, []).append(rule)
    return list(found.values())


def _possibilities(rules: Sequence[Rule]) -> tuple[str, frozenset[object]]:
    return _key(rules[0])[0], frozenset(rule.statement for rule in rules)


def _same(one: Sequence[Rule], other: Sequence[Rule]) -> None:
    degrees = {rule.statement: rule.degree for rule in one}
    for rule in other:
        if degrees[rule.statement] != rule.degree:
            assert rule.source is not None
            raise NbrError(
                f"the rule '{rule}' of the source {rule.source.name!r} is believed to {degrees[rule.statement]:g} "
                f"in one model and to {rule.degree:g} in the other"
            )
