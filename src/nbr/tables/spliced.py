"""A CSV file with some of its fields replaced: every other character stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

QUOTED = re.compile(r'"((?:[^"]|"")*)(?:"|\Z)')
Span = tuple[int, int]
Shown = Callable[[str], str]


@dataclass(frozen=True)
class Fields:
    """Where the fields of each line of a CSV file stand, lines without any left out, as the csv module reads it."""

    text: str
    sep: str
    lines: tuple[tuple[Span, ...], ...]

    @classmethod
    def of(cls, text: str, sep: str) -> Fields:
        r"""
        >>> found = Fields.of('a,"b,c"\n\n1,\n', ",")
        >>> [[found.text[start:end] for start, end in line] for line in found.lines]
        [['a', '"b,c"'], ['1', '']]
        """
        return cls(text, sep, tuple(line for line in _lines(text, sep) if len(line) > 1 or line[0][0] < line[0][1]))

    def value(self, span: Span) -> str:
        """What a field says, its quotes left out."""
        raw = self.text[slice(*span)]
        found = QUOTED.match(raw)
        return raw if found is None else found[1].replace('""', '"') + raw[found.end() :]

    def quoted(self, value: str) -> str:
        """A value as a field, in quotes where it needs them."""
        needs = any(sign in value for sign in (self.sep, '"', "\r", "\n"))
        return '"' + value.replace('"', '""') + '"' if needs else value

    def replaced(self, cells: dict[tuple[int, int], str], added: Sequence[Sequence[str]], shown: Shown = str) -> str:
        """The text with other values at some (line, field), and values added to the end of each line.

        `shown` may write any field differently; where it does not, the field stays as it was, letter for letter.
        """
        parts, at = [], 0
        for number, line in enumerate(self.lines):
            for place, span in enumerate(line):
                old = self.value(span)
                new = shown(cells.get((number, place), old))
                parts += [self.text[at : span[0]], self.text[slice(*span)] if new == old else self.quoted(new)]
                at = span[1]
            parts += [self.sep + self.quoted(shown(column[number])) for column in added]
        return "".join([*parts, self.text[at:]])


def _lines(text: str, sep: str) -> Iterator[tuple[Span, ...]]:
    sign = re.escape(sep)
    field = re.compile(rf'("(?:[^"]|"")*(?:"[^{sign}\r\n]*|\Z)|[^{sign}\r\n]*)({sign}|\r\n|\r|\n|\Z)')
    line: list[Span] = []
    at = 0
    while at < len(text) or line:
        found = field.match(text, at)
        assert found is not None  # the second form takes anything
        line.append(found.span(1))
        at = found.end()
        if found[2] != sep:
            yield tuple(line)
            line = []
