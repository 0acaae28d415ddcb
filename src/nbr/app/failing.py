"""Errors as data, for whoever asked for JSON."""

from __future__ import annotations

import re

from nbr.errors import NbrError

FILE = re.compile(r"(\S+\.(?:toml|nbr|csv|parquet)): ")
LINE = re.compile(r"(?:\bline (\d+): |\(at line (\d+), column (\d+)\))")
END = re.compile(r"at the end of '([^']*)'")
CHARACTER = re.compile(r"\bat character (\d+)")


def as_json(error: NbrError | str) -> dict[str, object]:
    """The message and where it is, as far as that is known: file, line, character of the line or of a statement.

    Several mistakes in one file are also listed one by one.

    >>> as_json("m.toml: line 4: rule 1: unknown variable 'b' (at character 6) in 'a -> b'")["error"]["where"]
    {'file': 'm.toml', 'line': 4, 'character': 6}
    >>> as_json("no model has an [actions] table")["error"]["where"] is None
    True
    """
    message = " ".join(str(error).split())
    parts: list[str] = getattr(error, "parts", [])
    where = _where(parts[0] if parts else message)
    at = getattr(error, "at", None)
    if at is not None:
        where.setdefault("character", at)
    each = [{"message": part, "where": _where(part) or None} for part in parts]
    return {"error": {"message": message, "where": where or None, **({"mistakes": each} if len(each) > 1 else {})}}


def _where(message: str) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    file, line, character = FILE.match(message), LINE.search(message), CHARACTER.search(message)
    if file is not None:
        found["file"] = file[1]
    if line is not None:
        found["line"] = int(line[1] or line[2])
    if line is not None and line[3]:
        found["character"] = int(line[3])
    elif character is not None:
        found["character"] = int(character[1])
    elif (end := END.search(message)) is not None:
        found["character"] = len(end[1]) + 1
    return found
