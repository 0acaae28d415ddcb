"""Bayesian networks in the Bayesian interchange format: a `one_of` for each row of a table.

A row says with which chance its variable has each value where its parents have theirs: possibilities of which one is
there. Each world then has one point, so that belief, plausibility and probability are the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NoReturn

from nbr.errors import NbrError, suggest
from nbr.language import And, Atom, Implies

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"[^"\n]*")|(?P<sign>[{}()\[\],;|])|(?P<word>[^\s{}()\[\],;|"]+)""",
    re.DOTALL,
)
ROWS = 100_000  # of all tables together
OFF = 0.01  # by which the chances of a row may miss 1: they are rounded in files


@dataclass
class BifTable:
    """The table of a variable: its parents, and the chances of its values for each row of theirs."""

    name: str
    parents: list[str]
    line: int
    rows: dict[tuple[str, ...], tuple[list[float], int]] = field(default_factory=dict)
    table: tuple[list[float], int] | None = None
    default: tuple[list[float], int] | None = None


class _BifReader:
    """The words of a file, one after the other, each with its line."""

    def __init__(self, text: str) -> None:
        self.words: list[tuple[str, int]] = []
        line, place = 1, 0
        while place < len(text):
            found = TOKEN.match(text, place)
            if found is None:
                raise NbrError(f"line {line}: cannot read {text[place]!r}")
            if found.lastgroup != "space":
                self.words.append((found[0].strip('"'), line))
            line, place = line + found[0].count("\n"), found.end()
        self.at = 0

    @property
    def line(self) -> int:
        return self.words[min(self.at, len(self.words) - 1)][1] if self.words else 1

    def more(self) -> bool:
        return self.at < len(self.words)

    def fail(self, told: str) -> NoReturn:
        raise NbrError(f"line {self.line}: {told}")

    def peek(self) -> str:
        if not self.more():
            self.fail("the file ends in the middle of a statement")
        return self.words[self.at][0]

    def word(self) -> str:
        found = self.peek()
        self.at += 1
        return found

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            self.fail(f"{sign!r} is missing before {self.peek()!r}")
        self.at += 1

    def until(self, end: str) -> list[str]:
        """The words before a sign, without commas, and past it."""
        found = []
        while self.peek() != end:
            if self.peek() in "{};":
                self.fail(f"{end!r} is missing before {self.peek()!r}")
            found.append(self.word())
        self.at += 1
        return [word for word in found if word != ","]

    def skip_block(self) -> None:
        """Past a block in braces, whatever is in it."""
        depth = 0
        while True:
            word = self.word()
            depth += (word == "{") - (word == "}")
            if not depth and word == "}":
                return

    def numbers(self, count: int) -> list[float]:
        """So many chances, up to the end of the line's statement."""
        line, found = self.line, []
        for word in self.until(";"):
            try:
                found.append(float(word))
            except ValueError:
                raise NbrError(f"line {line}: {word!r} is no number") from None
        if len(found) != count:
            raise NbrError(f"line {line}: {count} numbers are needed here, not {len(found)}")
        if not all(0 <= each <= 1 for each in found):
            raise NbrError(f"line {line}: a probability must be a number from 0 to 1")
        return found


def model(text: str) -> dict[str, Any]:
    """A network as the entries of a .toml.

    >>> spec = model("variable a { type discrete [2] { yes, no }; } probability (a) { table 0.25, 0.75; }")
    >>> spec["variables"], spec["rules"]
    ({'a': ['yes', 'no']}, [{'one_of': [{'rule': 'a=yes', 'belief': 0.25}, {'rule': 'a=no', 'belief': 0.75}]}])
    """
    variables, tables = _read(_BifReader(text))
    if not variables:
        raise NbrError("line 1: there is no variable in it; is this a network in BIF?")
    without = next((name for name in variables if name not in tables), None)
    if without is not None:
        raise NbrError(f"the variable {without!r} has no probability (...) table")
    _acyclic(tables)
    rules = [rule for table in tables.values() for rule in _rules(table, variables)]
    return {"variables": variables, "rules": rules}


def _read(reader: _BifReader) -> tuple[dict[str, list[str]], dict[str, BifTable]]:
    variables: dict[str, list[str]] = {}
    tables: dict[str, BifTable] = {}
    while reader.more():
        word = reader.word()
        if word == "network":
            while reader.peek() != "{":
                reader.word()
            reader.skip_block()
        elif word == "variable":
            name, labels = _variable(reader)
            if name in variables:
                reader.fail(f"the variable {name!r} appears twice")
            variables[name] = labels
        elif word == "probability":
            table = _table(reader, variables)
            if table.name in tables:
                raise NbrError(f"line {table.line}: {table.name!r} has a second table")
            tables[table.name] = table
        else:
            reader.at -= 1
            reader.fail(f"network, variable or probability is expected, not {word!r}")
    return variables, tables


def _variable(reader: _BifReader) -> tuple[str, list[str]]:
    name = reader.word()
    reader.expect("{")
    labels: list[str] = []
    while reader.peek() != "}":
        what = reader.word()
        if what == "property":
            while reader.word() != ";":
                pass
            continue
        if what != "type" or reader.peek() != "discrete":
            reader.fail(f"{name!r} is {reader.peek()!r}: only discrete variables can be taken")
        reader.word()
        reader.expect("[")
        count = reader.word()
        reader.expect("]")
        reader.expect("{")
        labels = reader.until("}")
        reader.expect(";")
        if count != str(len(labels)) or len(set(labels)) < len(labels):
            reader.fail(f"{name!r} is said to have {count} values, and has {len(set(labels))}")
    reader.expect("}")
    if not labels:
        reader.fail(f"{name!r} has no values")
    return name, labels


def _table(reader: _BifReader, variables: dict[str, list[str]]) -> BifTable:
    line = reader.line
    reader.expect("(")
    names = [word for word in reader.until(")") if word != "|"]
    for name in names:
        if name not in variables:
            raise NbrError(f"line {line}: unknown variable {name!r}" + suggest(name, variables))
    if not names or len(set(names)) < len(names):
        raise NbrError(f"line {line}: a table is of one variable and its parents, each once")
    found = BifTable(names[0], names[1:], line)
    size = len(variables[found.name])
    reader.expect("{")
    while reader.peek() != "}":
        at, what = reader.line, reader.word()
        if what == "table":
            found.table = reader.numbers(size * math.prod(len(variables[name]) for name in found.parents)), at
        elif what == "default":
            found.default = reader.numbers(size), at
        elif what == "property":
            while reader.word() != ";":
                pass
        elif what == "(":
            row = tuple(reader.until(")"))
            if len(row) != len(found.parents) or any(
                label not in variables[name] for label, name in zip(row, found.parents, strict=True)
            ):
                raise NbrError(f"line {at}: ({', '.join(row)}) is not a row of the parents {', '.join(found.parents)}")
            found.rows[row] = reader.numbers(size), at
        else:
            raise NbrError(f"line {at}: a row, table or default is expected, not {what!r}")
    reader.expect("}")
    return found


def _rules(table: BifTable, variables: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    labels, parents = variables[table.name], [variables[name] for name in table.parents]
    if math.prod(map(len, parents)) > ROWS:
        raise NbrError(f"line {table.line}: the table of {table.name!r} has more than {ROWS:,} rows")
    for number, row in enumerate(product(*parents)):
        chances, line = _row(table, number, row, math.prod(map(len, parents)), len(labels))
        total = math.fsum(chances)
        if abs(total - 1) > OFF:
            raise NbrError(f"line {line}: the chances of {table.name!r} add up to {total:g}, not to 1")
        said = [Atom(name, "=", (label,)) for name, label in zip(table.parents, row, strict=True)]
        premise = said[0] if len(said) == 1 else And(tuple(said))
        several = []
        for label, chance in zip(labels, chances, strict=True):
            value = Atom(table.name, "=", (label,))
            if chance > 0:
                several.append({"rule": str(Implies(premise, value) if said else value), "belief": chance / total})
        yield several[0] if len(several) == 1 else {"one_of": several}


def _row(table: BifTable, number: int, row: tuple[str, ...], rows: int, size: int) -> tuple[list[float], int]:
    """The chances of a row: its own, those of the whole table (the values of the variable come first), or others'."""
    if row in table.rows:
        return table.rows[row]
    if table.table is not None:
        return table.table[0][number::rows] if rows > 1 else table.table[0], table.table[1]
    if table.default is not None:
        return table.default
    raise NbrError(f"line {table.line}: the table of {table.name!r} has no row ({', '.join(row)})")


def _acyclic(tables: dict[str, BifTable]) -> None:
    done: set[str] = set()
    for start in tables:
        path: list[tuple[str, int]] = [(start, 0)]
        above = {start}
        while path:
            name, place = path.pop()
            parents = tables[name].parents
            if name in done or place == len(parents):
                done.add(name)
                above.discard(name)
                continue
            path.append((name, place + 1))
            if parents[place] in above:
                raise NbrError(f"line {tables[name].line}: {name!r} depends on itself, by way of {parents[place]!r}")
            if parents[place] not in done:
                above.add(parents[place])
                path.append((parents[place], 0))
