"""Rules in files: each as plain data, and what rules of one source, or possibilities, have in common.

[sources]
handbook = { reliability = 0.9, rules = "nested" }

[[rules]]
rule = "rain -> grass=wet"
belief = 0.8
source = "handbook"

[[rules]]
one_of = [{ rule = "night", belief = 0.3 }, { rule = "~night", belief = 0.5 }]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from nbr import registry
from nbr.errors import NbrError, suggest
from nbr.rules.base import CITED, Rule, spec_number, spec_text
from nbr.rules.clause import Clause
from nbr.rules.source import OneOf, Source, checked_sources
from nbr.rules.support import Support
from nbr.rules.written import STRAYED

OF_RULES = ("belief", "name", "support", "source", "choice", *CITED)  # what every kind of rule has
OF_ONE = ("one_of", "name", "source", *CITED)
OF_SOURCES = ("reliability", "rules")
EXAMPLE = 'write one_of = [{ rule = "night", belief = 0.3 }, { rule = "~night", belief = 0.5 }]'


class Sources:
    """The sources that a file tells of, or only names in a rule."""

    def __init__(self, table: object) -> None:
        if not isinstance(table, Mapping):
            raise NbrError("[sources] must be a table, such as handbook = { reliability = 0.9 }")
        self.known = {name: _source(name, said) for name, said in table.items()}

    def of(self, spec: Mapping[str, Any]) -> Source | None:
        if "source" not in spec:
            return None
        name = spec_text(spec, "source")
        if name not in self.known and get_close_matches(name, self.known):
            raise NbrError(f"[sources] does not describe the source {name!r}" + suggest(name, self.known))
        return self.known.get(name) or Source(name)

    def said(self, spec: object, rule: Rule) -> Rule:
        """A rule, with the source that its entry names."""
        return rule.from_source(self.of(spec)) if isinstance(spec, Mapping) and "source" in spec else rule


def _source(name: str, said: object) -> Source:
    if not isinstance(said, Mapping):
        strayed = f"; {STRAYED}" if name == "closed" else ""
        raise NbrError(f"source {name!r} must be a table, such as {{ reliability = 0.9 }}{strayed}")
    for key in said:
        if key not in OF_SOURCES:
            raise NbrError(f"source {name!r}: unknown entry {key!r}" + suggest(key, OF_SOURCES))
    return Source(name, said.get("reliability", 1.0), said.get("rules", "distinct"))


class Choices:
    """Possibilities that a file has one by one, by the number of what they share."""

    def __init__(self) -> None:
        self.known: dict[object, OneOf] = {}

    def joined(self, spec: object, rule: Rule) -> Rule:
        if not isinstance(spec, Mapping) or "choice" not in spec:
            return rule
        return rule.one_of(self.known.setdefault(spec_number(spec, "choice"), OneOf()))


def read_rule(spec: object, parts: registry.Parts) -> Rule:
    """A rule of any kind from its entry."""
    if not isinstance(spec, dict):
        raise NbrError("must be a table: write [[rules]] above it")
    name = next((name for name in ("veiled", *registry.names("rule")) if name in spec), None)
    if name is None:
        raise NbrError('has no rule = "..." and no memory = {...}')
    found = registry.find("rule", name)
    registry.check_keys(spec, found, OF_RULES)
    if "belief" not in spec:
        raise NbrError("has no belief")
    told = {**spec, "belief": spec_number(spec, "belief"), "name": spec_text(spec, "name") if "name" in spec else None}
    made: Rule = found.from_spec(told, parts)
    made.cite(spec)
    if "support" in spec:
        made.support = Support.read(spec["support"])
    return made


def possibilities(spec: Mapping[str, Any], sources: Sources) -> list[Rule]:
    """The rules of a one_of entry."""
    for key in spec:
        if key not in OF_ONE:
            raise NbrError(f"unknown entry {key!r}" + suggest(key, OF_ONE))
    several = spec["one_of"]
    if not isinstance(several, list) or not several or not all(isinstance(each, dict) for each in several):
        raise NbrError(f"one_of is a list of statements with their beliefs: {EXAMPLE}")
    name, source, choice = spec_text(spec, "name") if "name" in spec else None, sources.of(spec), OneOf()
    found: list[Rule] = []
    for each in several:
        if set(each) != {"rule", "belief"}:
            raise NbrError(f"a possibility has only a rule and a belief: {EXAMPLE}")
        made = Clause(spec_text(each, "rule"), spec_number(each, "belief"), name, source=source)
        made.cite(spec)
        found.append(made.one_of(choice))
    checked_sources(found)
    return found


def together_plain(rules: Sequence[Rule], specs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What rules have in common, for a file: the number of its possibilities goes to the entry of a rule."""
    numbers: dict[OneOf, int] = {}
    for each, spec in zip(rules, specs, strict=True):
        if each.choice is not None:
            spec["choice"] = numbers.setdefault(each.choice, len(numbers) + 1)
    return _sources(rules)


def together_by_hand(rules: Sequence[Rule], specs: list[dict[str, Any]]) -> dict[str, Any]:
    """The same as a person would write it: possibilities become one entry, in the place of the first."""
    entries: dict[OneOf, dict[str, Any]] = {}
    found = []
    for each, spec in zip(rules, specs, strict=True):
        if each.choice is None:
            found.append(spec)
            continue
        if set(spec) - {"rule", "belief", "name", "source", *CITED}:
            raise NbrError(f"the possibility {each} cannot be written to a .toml file: save the model as .nbr")
        if each.choice not in entries:
            shared: dict[str, Any] = {key: spec[key] for key in ("name", "source", *CITED) if key in spec}
            entries[each.choice] = {"one_of": [], **shared}
            found.append(entries[each.choice])
        entries[each.choice]["one_of"].append({"rule": spec["rule"], "belief": spec["belief"]})
    specs[:] = found
    return _sources(rules)


def _sources(rules: Sequence[Rule]) -> dict[str, Any]:
    sources = {each.source.name: each.source for each in rules if each.source is not None}
    told = {name: {"reliability": each.reliability, "rules": each.rules} for name, each in sources.items()}
    return {"sources": told} if told else {}
