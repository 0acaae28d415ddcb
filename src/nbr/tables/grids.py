"""Tables as text cells, before anything is known of their meaning: from files, DataFrames and arrays."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from nbr.errors import NbrError, install
from nbr.tables import texts

if TYPE_CHECKING:
    import pandas as pd

COMMA, POINT = re.compile(r"[-+]?\d*,\d+\Z"), re.compile(r"[-+]?\d+\.\d+\Z")
SEPARATORS = (",", ";", "\t", "|")
MODELS = (".toml", ".nbr")
BINARY = "not a CSV file: it has zero bytes, as pictures, archives and UTF-16 have; save it as UTF-8"
HEAD = 20  # lines by which the sign between columns is found
TOLD = 5  # problems that one error lists


@dataclass(frozen=True)
class Grid:
    """A table as text cells; "" is an empty one."""

    where: str
    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]  # of str
    lines: np.ndarray  # the number of each row, as the user counts
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return len(self.lines)

    def place(self, row: int, name: str) -> str:
        return f"{self.where}row {self.lines[row]}, column {name!r}"


def problems(found: list[str]) -> None:
    """One error for all problems of a table, if there are any: the first few, and how many more."""
    if found:
        more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
        raise NbrError("; ".join(found[:TOLD]) + more)


def grid(source: Any, number: int, sep: str | None = None) -> Grid:
    """One of `like.OneTable` as text cells."""
    if isinstance(source, str | Path):
        return _file(Path(source), sep)
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return _frame(source, f"table {number}: ")
    array = np.asarray(source.detach() if isinstance(source, Tensor) else source)
    if array.ndim != 2:
        raise NbrError(f"table {number}: expected rows and columns, not an array of shape {array.shape}")
    columns = tuple(_texts(array[:, column]) for column in range(array.shape[1]))
    names = tuple(f"x{i}" for i in range(array.shape[1]))
    return Grid(f"table {number}: ", names, columns, np.arange(1, len(array) + 1))


def _texts(values: np.ndarray) -> np.ndarray:
    return np.array([text(value) for value in values.tolist()], dtype=object)


def text(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _frame(frame: pd.DataFrame, where: str) -> Grid:
    columns = []
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        columns.append(_texts(column.astype(object).where(column.notna(), None).to_numpy()))
    names, notes = named([str(name) for name in frame.columns], where)
    return Grid(where, names, tuple(columns), np.arange(1, len(frame) + 1), notes)


def _file(path: Path, sep: str | None) -> Grid:
    if path.suffix.lower() in (".parquet", ".pq"):
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise NbrError(f"reading Parquet needs pandas: {install('learn')}") from None
        try:
            return _frame(pd.read_parquet(path), f"{path}: ")
        except (OSError, ValueError, ImportError) as error:
            raise NbrError(f"{path}: cannot read it as Parquet: {str(error).splitlines()[0]}") from None
    if path.suffix.lower() in WHOLE:
        return WHOLE[path.suffix.lower()](path)
    if path.suffix.lower() in MODELS:
        raise NbrError(f"{path}: this is a model, not a table; ask it: nbr ask {path} QUESTION")
    text, _, notes = content(path)
    found = sep or separator(text)
    return _csv(text, found, f"{path}: ", [*notes, *separated(found, sep)])


def _sheet(path: Path) -> Grid:
    """The first sheet of a workbook."""
    try:
        import pandas as pd

        return _frame(pd.read_excel(path, keep_default_na=False, na_values=[""]), f"{path}: ")
    except ModuleNotFoundError as error:
        raise NbrError(f"reading {path.suffix} needs {error.name}: {install('learn')}") from None
    except ImportError as error:
        raise NbrError(f"reading {path.suffix}: {str(error).splitlines()[0]}") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise NbrError(f"{path}: cannot read it as a workbook: {str(error).splitlines()[0]}") from None


# Readers of files that are read as a whole, by the ending of their names: whatever pandas reads is one line more.
WHOLE: dict[str, Callable[[Path], Grid]] = dict.fromkeys((".xlsx", ".xlsm", ".xls", ".ods"), _sheet)


def content(path: Path) -> tuple[str, str, list[str]]:
    """The text of a file, how it is encoded, and what a user should know of that."""
    try:
        found = path.read_bytes()
    except OSError as error:
        raise NbrError(f"cannot read {path}: {error.strerror or error}") from None
    if b"\0" in found:
        raise NbrError(f"{path}: {BINARY}")
    mark = found.startswith(codecs.BOM_UTF8)
    try:
        return found.decode("utf-8-sig"), "utf-8-sig" if mark else "utf-8", []
    except UnicodeDecodeError:
        pass
    try:
        return found.decode("cp1252"), "cp1252", ["not UTF-8: read as Windows-1252"]
    except UnicodeDecodeError as error:
        raise NbrError(f"{path}: not a CSV file: {error}") from None


def separator(text: str) -> str:
    """The sign that splits the first lines into the same number of fields, the most of them."""
    widths = {sign: _widths(text, sign) for sign in SEPARATORS}
    even = {sign: min(found) for sign, found in widths.items() if found and min(found) == max(found) > 1}
    return max(even, key=lambda sign: even[sign]) if even and "," not in even else ","


def _widths(text: str, sign: str) -> list[int]:
    """How many fields the first lines have, by a sign; none where that makes a field longer than any can be."""
    try:
        return [len(line) for line in islice(records(text, sign), HEAD) if line]
    except csv.Error:
        return []


def records(text: str, sep: str) -> Any:
    """The lines of a CSV file as lists of fields, with `line_num` as the csv module has it."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=sep)


def head(first: list[str], where: str) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Whether the first line has the names of the columns, the names, and what a user should know of them."""
    # A first line of nothing but numbers is data: the columns have no names.
    has_names = not all(texts.number(cell) is not None or texts.hole(cell) for cell in first)
    return has_names, *named(first if has_names else [f"x{i}" for i in range(len(first))], where)


def separated(sign: str, said: str | None) -> list[str]:
    """What a user should know of the sign between columns that was found."""
    return [] if sign in (",", said) else [f"columns are separated by {'tabs' if sign == chr(9) else repr(sign)}"]


def unfit(records: list[tuple[int, list[str]]], first: list[str], has_names: bool) -> list[str]:
    """The problems of records with too few fields, or too many, and of those that are the first line again."""
    wrong = []
    for number, line in records:
        if len(line) != len(first):
            fields = f"{len(line)} field{'' if len(line) == 1 else 's'}"
            wrong.append(f"row {number} has {fields}, and there are {len(first)} columns")
        elif has_names and len(first) > 1 and line == first:
            wrong.append(f"row {number} has the names of the columns again; take it out")
    return wrong


def _csv(text: str, sep: str, where: str, notes: list[str]) -> Grid:
    reader = records(text, sep)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in line]) for line in reader if line]
    except csv.Error as error:
        raise NbrError(f"{where}not a CSV file: {error}") from None
    if not lines:
        raise NbrError(f"{where}the file is empty")
    has_names, names, said = head(lines[0][1], where)
    body = lines[1:] if has_names else lines
    wrong = unfit(body, lines[0][1], has_names)
    problems([where + wrong[0], *wrong[1:]] if wrong else [])
    columns = [np.array([line[at] for _, line in body], dtype=object) for at in range(len(names))]
    if sep == ";":
        signs = Signs(len(names))
        signs.add(columns)
        columns = [pointed(column) if comma else column for column, comma in zip(columns, signs.commas, strict=True)]
    numbers = np.array([number for number, _ in body], dtype=np.int64)
    return Grid(where, names, tuple(columns), numbers, (*notes, *said))


class Signs:
    """What commas mean in columns that semicolons separate: 1,5 is one and a half, unless points stand there too.

    Where points stand in other columns, commas between three digits each are between thousands.
    """

    def __init__(self, columns: int) -> None:
        self.comma, self.point, self.broken = ([False] * columns for _ in range(3))
        self.numbers = False  # with a point, in any column

    def add(self, columns: Iterable[np.ndarray]) -> None:
        """Take in some rows."""
        for at, column in enumerate(columns):
            for cell in column.tolist():
                if COMMA.match(cell):
                    self.comma[at] = True
                    self.broken[at] = self.broken[at] or texts.GROUPED.match(cell) is None
                elif "." in cell:
                    self.point[at] = True
                    self.numbers = self.numbers or POINT.match(cell) is not None

    @property
    def commas(self) -> list[bool]:
        """In which columns 1,5 is one and a half."""
        return [
            comma and not point and (broken or not self.numbers)
            for comma, point, broken in zip(self.comma, self.point, self.broken, strict=True)
        ]


def pointed(column: np.ndarray) -> np.ndarray:
    """A column with points in the place of decimal commas."""
    return np.array([cell.replace(",", ".") if COMMA.match(cell) else cell for cell in column.tolist()], dtype=object)


def named(names: list[str], where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names that a world can have; an error if two columns share one."""
    notes, found = [], []
    for number, name in enumerate(names, 1):
        plain = " ".join(name.replace('"', "'").split()) or f"column {number}"
        if not name.strip():
            notes.append(f"column {number} has no name: it is called {plain!r}")
        found.append(plain)
    twice = sorted(name for name, count in Counter(found).items() if count > 1)
    problems([f"{where}two columns are called {name!r}" for name in twice])
    return tuple(found), tuple(notes)
