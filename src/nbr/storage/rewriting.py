"""A rule file changed in place: what was not changed stays as its author wrote it, comments too."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nbr.errors import NbrError
from nbr.storage.container import toml_value
from nbr.storage.toml_mistakes import lines

VALUE = re.compile(r"""("{3}|'{3})|("(?:[^"\\]|\\.)*"|'[^']*')|([^\s#]+)""")
OFF = "# switched off, was "
Rule = Mapping[str, Any]


def rewritten_rules(text: str, changed: Mapping[int, Rule], added: Sequence[Rule], off: Collection[int] = ()) -> str:
    """The text of a rule file with entries of some rules changed, others switched off, and new rules at its end.

    Args:
        text: the file.
        changed: new entries by the number of a rule, from 1: `rule`, `belief`, `name`.
        added: entries of new rules.
        off: numbers of rules that are believed to degree 0 from now on; what they were stands behind, as a comment.

    >>> before = "[variables]\\na = 'bit'\\n\\n[[rules]]\\nrule = 'a'   # why\\nbelief = 0.5\\n"
    >>> print(rewritten_rules(before, {1: {"rule": "~a"}}, [{"rule": "a", "belief": 0.25}], off=[1]))
    [variables]
    a = 'bit'
    <BLANKLINE>
    [[rules]]
    rule = "~a"   # why
    belief = 0  # switched off, was 0.5
    <BLANKLINE>
    [[rules]]
    rule = "a"
    belief = 0.25
    <BLANKLINE>
    """
    places, rows = lines(text), text.splitlines()
    insert: dict[int, list[str]] = {}
    for number in {*changed, *off}:
        if ("rules", number) not in places:
            raise NbrError(f"rule {number} does not have a [[rules]] table of its own: edit the file by hand")
        entries = dict(changed.get(number, {}))
        if number in off:
            was = entries.get("belief", _value(rows, places["rules", number, "belief"]))
            entries["belief"] = f"0  {OFF}{was}"
        for key, value in entries.items():
            words = value if key == "belief" and number in off else toml_value(value)
            at = places.get(("rules", number, key))
            if at is not None:
                _replace(rows, at - 1, str(words))
            elif value is not None:
                insert.setdefault(places["rules", number], []).append(f"{key} = {words}")
    for at in sorted(insert, reverse=True):
        rows[at:at] = insert[at]
    for each in added:
        rows += ["", "[[rules]]", *(f"{key} = {toml_value(value)}" for key, value in each.items() if value is not None)]
    return "\n".join(row for row in rows if row is not None) + "\n"


def _value(rows: Sequence[str], line: int) -> str:
    found = VALUE.match(rows[line - 1].partition("=")[2].strip())
    return found[0] if found else ""


def _replace(rows: list[Any], at: int, words: str) -> None:
    """Another value for the key of a line; one over several lines ends up on the first, the others go."""
    row = rows[at]
    start = row.index("=") + 1
    start += len(row[start:]) - len(row[start:].lstrip())
    found = VALUE.match(row, start)
    if found is None:
        raise NbrError(f"line {at + 1} cannot be changed here: edit the file by hand")
    end, last = found.end(), at
    if marks := found[1]:
        while (close := rows[last].find(marks, end if last == at else 0)) < 0:
            last += 1
        end = close + 3
    tail = rows[last][end:]
    if OFF in tail and "  " + OFF not in words:
        tail = ""
    rows[at] = row[:start] + words + tail
    for gone in range(at + 1, last + 1):
        rows[gone] = None
