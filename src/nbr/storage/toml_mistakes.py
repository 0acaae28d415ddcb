"""What is wrong with a hand-written model: all of it at once, each mistake with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from nbr.errors import NbrError

MOST = 20  # mistakes that are told
LOOKED_AT = 2_000  # rules that are read one by one
HEADER = re.compile(r"^\s*\[(\[?)\s*([^\[\]]+?)\s*\]?\]\s*(?:#.*)?$")
KEY = re.compile(r"""^\s*("[^"]*"|'[^']*'|[\w-]+)(?:\s*\.[^=]*)?\s*=""")
LONG = re.compile(r'"""|\'\'\'')
ALONE = re.compile(r"^rule 1: ")
Read = Callable[[Mapping[str, Any]], object]
Places = dict[tuple[object, ...], int]


def lines(text: str) -> Places:
    '''Where each table, each entry of a list of tables and each of their keys stands, by line from 1.

    >>> lines("""[variables]
    ... a = 'bit'
    ... [[rules]]
    ... rule = 'a'""")[("rules", 1, "rule")]
    4
    '''
    found: Places = {}
    table: tuple[object, ...] = ()
    counted: dict[str, int] = {}
    inside = ""  # the marks that will end a text of several lines
    for number, line in enumerate(text.splitlines(), 1):
        marks = LONG.findall(line)
        if inside:
            inside = "" if inside in marks else inside
            continue
        if header := HEADER.match(line):
            name = header[2].strip("\"'")
            table = (name,)
            if header[1]:
                counted[name] = counted.get(name, 0) + 1
                table = (name, counted[name])
            found.setdefault(table, number)
        elif key := KEY.match(line):
            found.setdefault((*table, key[1].strip("\"'")), number)
        if len(marks) % 2:
            inside = marks[-1]
    return found


def all_mistakes(spec: Mapping[str, Any], text: str, read: Read, first: NbrError) -> NbrError:
    """All that is wrong with a model, found by reading each variable and each rule by itself.

    Args:
        spec: what the file holds.
        text: the file.
        read: reads a model, or raises an error.
        first: the error of reading the whole, which is told if no part is wrong by itself.
    """
    places = lines(text)
    told: list[tuple[int, str]] = []

    def look(part: Mapping[str, Any]) -> str | None:
        try:
            read(part)
        except NbrError as error:
            return " ".join(str(error).split())
        return None

    def tell(message: str, *place: object) -> None:
        known = [places[place[:length]] for length in range(len(place), 0, -1) if place[:length] in places]
        told.append((known[0] if known else 0, message))

    variables, rules = spec.get("variables"), spec.get("rules")
    wrong: set[str] = set()
    if isinstance(variables, Mapping) and "things" not in spec:
        for name, kind in variables.items():
            if message := look({"variables": {name: kind}}):
                tell(message, "variables", name)
                wrong.add(name)
    others = {key: value for key, value in spec.items() if key not in ("rules", "expect")}
    if not wrong and (message := look(others)):
        named = next((key for key in spec if f"entry {key!r}" in message or message.startswith(f"[{key}]")), None)
        tell(message, *([] if named is None else [named]))
    elif isinstance(rules, list):
        known = {name: kind for name, kind in (variables or {}).items() if name not in wrong}
        known = known or dict.fromkeys(wrong, "bit")  # so that rules are looked at all the same
        for number, rule in enumerate(rules[:LOOKED_AT], 1):
            message = look({**others, "variables": known, "rules": [rule]})
            if message and not any(re.search(rf"'{re.escape(name)}[\['\"]", message) for name in wrong):
                key = (
                    next((key for key in rule if f"entry {key!r}" in message), None) if isinstance(rule, dict) else None
                )
                key = key or (
                    "belief" if isinstance(rule, dict) and "belief" in rule and "belief" in message else "rule"
                )
                tell(f"rule {number}: {ALONE.sub('', message)}", "rules", number, key)
    if not told:
        return first
    told.sort(key=lambda each: each[0])
    parts = [f"line {line}: {message}" if line else message for line, message in told[:MOST]]
    if len(told) > MOST:
        parts.append(f"and {len(told) - MOST} more")
    return Mistakes(parts)


class Mistakes(NbrError):
    """Several things that are wrong, each in one line."""

    def __init__(self, parts: list[str]) -> None:
        super().__init__("; ".join(parts))
        self.parts = parts
