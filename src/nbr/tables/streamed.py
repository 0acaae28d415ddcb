"""CSV files some rows at a time, so that memory does not grow with rows."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from torch import Tensor

from nbr.errors import NbrError
from nbr.tables.coding import encode
from nbr.tables.grids import BINARY, Grid, Signs, head, pointed, problems, separated, separator, unfit
from nbr.tables.parquet import RowGroup, SeenValues
from nbr.world import World

BATCH = 1 << 15  # rows at a time
BLOCK = 1 << 20  # bytes at a time
Records = Iterator[tuple[int, list[str]]]  # the number of the line that each ends in, and its fields


@dataclass(frozen=True)
class Csv:
    """A CSV file as a table."""

    path: Path
    names: tuple[str, ...]
    encoding: str
    sep: str
    has_names: bool
    rows: int
    commas: tuple[bool, ...]  # columns in which 1,5 is one and a half
    notes: tuple[str, ...]

    @classmethod
    def of(cls, path: Path, sep: str | None = None) -> Csv:
        """One pass over all records: how many there are, and whether each has as many fields as there are columns."""
        encoding, notes = _encoding(path)
        sign = sep or separator(_beginning(path, encoding))
        first = next(_records(path, encoding, sign), None)
        if first is None:
            raise NbrError(f"{path}: the file is empty")
        has_names, names, said = head(first[1], f"{path}: ")
        notes = (*notes, *separated(sign, sep), *said)
        found = cls(path, names, encoding, sign, has_names, 0, (False,) * len(names), notes)
        rows, signs, wrong = 0, Signs(len(names)), []
        for records in found._batches():
            rows += len(records)
            wrong += unfit(records, first[1], has_names)
            if sign == ";" and not wrong:
                signs.add(found._grid(records).columns)
        problems([found.where + wrong[0], *wrong[1:]] if wrong else [])
        return replace(found, rows=rows, commas=tuple(signs.commas))

    @property
    def where(self) -> str:
        return f"{self.path}: "

    @property
    def pieces(self) -> tuple[RowGroup, ...]:
        return (RowGroup(self.path, 0, self.rows),)

    def seen(self, dropped: set[str], na: frozenset[str], piece: RowGroup) -> dict[str, SeenValues]:
        """What stands in each column."""
        found = {name: SeenValues() for name in self.names if name not in dropped}
        for grid in self._grids():
            for name, column in zip(grid.names, grid.columns, strict=True):
                if name in found:
                    found[name].count(column.tolist(), na)
        return found

    def codes(self, world: World, na: frozenset[str], piece: RowGroup) -> Iterator[Tensor]:
        """Rows as codes of a world, some at a time."""
        for grid in self._grids():
            codes, _, wrong = encode(grid, world, na)
            problems(wrong)
            yield codes

    def place(self, name: str, cell: str) -> str | None:
        """Where a cell first stands in a column."""
        for grid in self._grids():
            column = grid.columns[grid.names.index(name)].tolist()
            if cell in column:
                return grid.place(column.index(cell), name)
        return None

    def _grids(self) -> Iterator[Grid]:
        return map(self._grid, self._batches())

    def _batches(self) -> Iterator[list[tuple[int, list[str]]]]:
        records = _records(self.path, self.encoding, self.sep)
        if self.has_names:
            next(records)
        while some := list(islice(records, BATCH)):
            yield some

    def _grid(self, records: list[tuple[int, list[str]]]) -> Grid:
        columns = [np.array(column, dtype=object) for column in zip(*(line for _, line in records), strict=True)]
        columns = [pointed(column) if comma else column for column, comma in zip(columns, self.commas, strict=True)]
        return Grid(self.where, self.names, tuple(columns), np.array([number for number, _ in records]))


def lines(path: Path) -> int:
    """How many lines a file has, its records may be fewer; 0 where it cannot be read, since reading says why."""
    try:
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(BLOCK), b""))
    except OSError:
        return 0


def _encoding(path: Path) -> tuple[str, tuple[str, ...]]:
    """As `grids.content` has it: how a file is encoded, and what a user should know of that."""
    try:
        with path.open("rb") as file:
            mark = file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8
        if (error := _not(path, "utf-8")) is None:
            return "utf-8-sig" if mark else "utf-8", ()
        if (error := _not(path, "cp1252")) is None:
            return "cp1252", ("not UTF-8: read as Windows-1252",)
    except OSError as wrong:
        raise NbrError(f"cannot read {path}: {wrong.strerror or wrong}") from None
    raise NbrError(f"{path}: not a CSV file: {error}")


def _not(path: Path, encoding: str) -> UnicodeDecodeError | None:
    """Why a file is not in an encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with path.open("rb") as file:
            for block in iter(lambda: file.read(BLOCK), b""):
                if b"\0" in block:
                    raise NbrError(f"{path}: {BINARY}")
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return error
    return None


def _beginning(path: Path, encoding: str) -> str:
    """The first lines, none of them cut off."""
    with path.open(encoding=encoding, newline="") as file:
        text = file.read(BLOCK)
    return text[: text.rfind("\n") + 1] or text


def _records(path: Path, encoding: str, sep: str) -> Records:
    with path.open(encoding=encoding, newline="") as file:
        reader = csv.reader(file, delimiter=sep)
        try:
            for line in reader:
                if line:
                    yield reader.line_num, [cell.strip() for cell in line]
        except csv.Error as error:
            raise NbrError(f"{path}: not a CSV file: {error}") from None
