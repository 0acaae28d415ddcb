"""Where rules come from, for the screen and as plain data."""

from __future__ import annotations

from nbr.reasoner import Reasoner
from nbr.rules import Rule


def beside(rule: Rule, reasoner: Reasoner) -> str:
    """Who says a rule, and which others exclude it."""
    told = [] if rule.source is None else [f"source {rule.source.name}"]
    told += [] if rule.choice is None else [f"one of rules {', '.join(map(str, others(rule, reasoner)))}"]
    return f"   ({'; '.join(told)})" if told else ""


def others(rule: Rule, reasoner: Reasoner) -> list[int]:
    """The numbers of possibilities of which one is there, the rule among them."""
    return [at for at, each in enumerate(reasoner.rules, 1) if each.choice is rule.choice]


def lines(reasoner: Reasoner) -> list[str]:
    """A line for each source; nothing where no rule has one."""
    sources = {rule.source.name: rule.source for rule in reasoner.rules if rule.source is not None}
    if not sources:
        return []
    wide = max(map(len, sources))
    told = [f"  {each.name:<{wide}}  reliability {each.reliability:g}, rules {each.rules}" for each in sources.values()]
    return ["", "sources", *told]


def as_json(reasoner: Reasoner) -> dict[str, object]:
    """The sources of a model by name; nothing where no rule has one."""
    sources = {rule.source.name: rule.source for rule in reasoner.rules if rule.source is not None}
    told = {name: {"reliability": each.reliability, "rules": each.rules} for name, each in sources.items()}
    return {"sources": told} if told else {}
