"""Tools that write models: all that is wrong is told at once, and nothing is kept that does not load."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nbr.app import schema
from nbr.app.agents.shelf import Book, Shelf
from nbr.app.schema import RULE
from nbr.errors import NbrError
from nbr.storage import container
from nbr.ways import SHARES

QUARRELS = ("contradiction", "never true", "premise ruled out")
CONFLICTS = 20  # that are told
TABLES = ("variables", "things", "words", "sources", "observable", "actions")


def write_model(shelf: Shelf, seconds: float, model: str, toml: str, replace: bool = False) -> dict[str, Any]:
    if shelf.has(model) and not replace:
        raise NbrError(f"{model!r} exists already: use replace = true to overwrite it, or add_rules")
    return _kept(shelf, model, toml, seconds)


def add_rules(
    shelf: Shelf,
    seconds: float,
    model: str,
    rules: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Mapping[str, Any] | list[str]] | None = None,
) -> dict[str, Any]:
    """More rules at the end, and more variables and other entries, in a model that may not be there yet."""
    spec = dict(shelf.book(model).spec) if shelf.has(model) else {"variables": {}, "rules": []}
    for table, entries in (tables or {}).items():
        if isinstance(entries, list):
            spec[table] = list(dict.fromkeys([*spec.get(table, []), *entries]))
            continue
        for name, entry in entries.items():
            if name in spec.get(table, {}) and spec[table][name] != entry:
                raise NbrError(f"[{table}] {name!r} is there already, as {json.dumps(spec[table][name])}")
        spec[table] = {**spec.get(table, {}), **entries}
    spec["rules"] = [*spec.get("rules", []), *map(dict, rules)]
    return _kept(shelf, model, container.toml(_ordered(spec)), seconds, first=len(spec["rules"]) - len(rules) + 1)


def change_rule(
    shelf: Shelf, seconds: float, model: str, entry: int, change: Mapping[str, Any] | None = None, remove: bool = False
) -> dict[str, Any]:
    """One entry of the rules with other words or another belief, or without it."""
    spec = dict(shelf.book(model).spec)
    rules = [dict(rule) for rule in spec.get("rules", [])]
    if not 1 <= entry <= len(rules):
        raise NbrError(f"there is no entry {entry}: the model has {len(rules)} entries of rules")
    if remove == bool(change):
        raise NbrError("give either what to change, as in change = { belief = 0.5 }, or remove = true")
    before = rules[entry - 1]
    rules[entry - 1 : entry] = [] if remove else [{**before, **(change or {})}]
    spec["rules"] = rules
    return {"before": before, **_kept(shelf, model, container.toml(_ordered(spec)), seconds)}


def _ordered(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Tables that rules refer to stand before them."""
    first = {key: spec[key] for key in ("things", "variables") if key in spec}
    return {**first, **{key: entry for key, entry in spec.items() if key not in first}}


def _kept(shelf: Shelf, model: str, text: str, seconds: float, first: int = 1) -> dict[str, Any]:
    book = shelf.read(model if model.endswith(".toml") else f"{model}.toml", text)
    shelf.keep(book)
    size = {"variables": len(book.reasoner.world), "rules": len(book.reasoner.rules)}
    return {"model": book.name, **size, "first_entry": first, **checked(book, SHARES["written checked"] * seconds)}


def checked(book: Book, seconds: float) -> dict[str, Any]:
    """What is odd: minimal sets of rules that cannot all hold with what their sources say, and other findings."""
    found = book.reasoner.check(budget=seconds)
    quarrels = [each for each in found.findings if each.kind in QUARRELS]
    conflicts = [
        {
            "kind": each.kind,
            "text": each.text,
            "probability": each.probability,
            "rules": book.cited(list(each.rules)),
        }
        for each in quarrels[:CONFLICTS]
    ]
    others = [each.as_json() for each in found.findings if each not in quarrels]
    return {
        "conflicts": conflicts,
        "more_conflicts": max(0, len(quarrels) - CONFLICTS),
        "findings": others[:CONFLICTS],
        "complete": found.complete,
        "notes": list(found.notes),
    }


RULES = {"type": "array", "items": RULE, "minItems": 1, "maxItems": 500}
MORE = {
    "type": "object",
    "properties": {name: {"type": "object"} for name in TABLES} | {"closed": schema.TABLES["closed"]},
    "additionalProperties": False,
    "description": "More entries of tables of the model: variables, things, observable, actions and others; and more "
    "names that are closed.",
}
