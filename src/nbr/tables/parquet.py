"""Parquet files and folders of them, some rows at a time, so that memory does not grow with rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from nbr.errors import NbrError, install
from nbr.tables import texts
from nbr.tables.coding import UNKNOWN, UNREAD, known
from nbr.tables.grids import named, text
from nbr.world import Variable, World

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 18  # rows at a time
DISTINCT = 1 << 16  # values of a column, after which its kind is known well enough
ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file, in which row groups are read one by one."""

    path: Path
    group: int
    rows: int


@dataclass(frozen=True)
class Parquet:
    """A file, or all files in a folder, as one table."""

    where: str
    names: tuple[str, ...]
    columns: tuple[str, ...]  # what the files call them
    pieces: tuple[RowGroup, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> Parquet:
        files = sorted(each for each in path.rglob("*") if _counts(each, path)) if path.is_dir() else [path]
        if not files:
            raise NbrError(f"{path}: there is no Parquet file in this folder")
        pieces, columns = [], None
        for file in files:
            with _opened(file) as opened:
                mine = tuple(opened.schema_arrow.names)
                sizes = [opened.metadata.row_group(at).num_rows for at in range(opened.metadata.num_row_groups)]
            if columns not in (None, mine):
                raise NbrError(
                    f"{file}: its columns are not those of {files[0]}; all files of a folder must have the same columns"
                )
            columns = mine
            pieces += [RowGroup(file, at, rows) for at, rows in enumerate(sizes)]
        names, notes = named(list(columns or ()), f"{path}: ")
        return cls(f"{path}: ", names, columns or (), tuple(pieces), notes)

    @property
    def rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    def place(self, name: str, cell: str) -> str | None:
        """Rows of a Parquet file have no numbers."""
        return None

    def batches(self, piece: RowGroup, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some rows of a piece at a time, the named columns alone, in that order."""
        wanted = [self.columns[self.names.index(name)] for name in names]
        with _opened(piece.path) as opened:
            yield from opened.iter_batches(BATCH, row_groups=[piece.group], columns=wanted)

    def seen(self, dropped: set[str], na: frozenset[str], piece: RowGroup) -> dict[str, SeenValues]:
        """What stands in each column of a piece."""
        names = [name for name in self.names if name not in dropped]
        found = {name: SeenValues() for name in names}
        for batch in self.batches(piece, names):
            for name, column in zip(names, batch.columns, strict=True):
                found[name].add(column, na)
        return found

    def codes(self, world: World, na: frozenset[str], piece: RowGroup) -> Iterator[Tensor]:
        """Rows of a piece as codes of a world, some at a time."""
        names = [name for name in self.names if name in world.variables]
        for batch in self.batches(piece, names):
            codes = np.full((batch.num_rows, len(world)), math.nan)
            for name, column in zip(names, batch.columns, strict=True):
                codes[:, world.column(name)] = _encoded(
                    column, world.variables[name], na, f"{self.where}column {name!r}"
                )
            yield torch.from_numpy(codes)


@dataclass
class SeenValues:
    """The cells of a column and how often each was seen, until there are very many; of numbers the ends of all."""

    cells: Counter[str] = field(default_factory=Counter)
    rows: int = 0  # in which they were seen
    full: bool = False
    ends: tuple[float, float] | None = None

    def add(self, column: pa.Array, na: frozenset[str]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _plain(column)
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            ends = pc.min_max(column).as_py()
            if ends["min"] is not None and math.isfinite(ends["min"]) and math.isfinite(ends["max"]):
                self._widen((float(ends["min"]), float(ends["max"])))
        if not self.full:
            values, counts = pc.value_counts(column).flatten()
            told = zip(values.to_pylist(), counts.to_pylist(), strict=True)
            self._take(Counter({word: count for value, count in told if (word := text(value)) not in na}), len(column))

    def count(self, cells: Sequence[str], na: frozenset[str]) -> None:
        """Take in cells that are texts."""
        counted = Counter(cells)
        for hole in na:
            del counted[hole]
        if self.full:
            self._reach(counted)
        else:
            self._take(counted, len(cells))

    def merge(self, later: SeenValues) -> None:
        """Take in what a later piece of the table has."""
        if later.ends is not None:
            self._widen(later.ends)
        if self.full:
            self._reach(later.cells)
        if not self.full:
            self._take(later.cells, later.rows)
            self.full = self.full or later.full

    def whole(self) -> tuple[Counter[str], int]:
        """The cells and how many rows had them; where not all are kept, numbers have their ends among them."""
        ends = {text(end) for end in (self.ends or ()) if self.full} - set(self.cells)
        return self.cells + Counter(ends), self.rows + len(ends)

    def _take(self, cells: Counter[str], rows: int) -> None:
        self.cells.update(cells)
        self.rows += rows
        self.full = len(self.cells) > DISTINCT

    def _reach(self, cells: Iterable[str]) -> None:
        """The ends of numbers among cells that are not kept."""
        numbers = [number for cell in cells if (number := texts.number(cell)) is not None]
        if numbers:
            self._widen((min(numbers), max(numbers)))

    def _widen(self, ends: tuple[float, float]) -> None:
        self.ends = ends if self.ends is None else (min(self.ends[0], ends[0]), max(self.ends[1], ends[1]))


def _encoded(column: pa.Array, variable: Variable, na: frozenset[str], where: str) -> np.ndarray:
    """A column as codes; numbers at once, everything else by its distinct texts."""
    import pyarrow as pa

    column = _plain(column)
    kind = column.type
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if numeric and variable.adds and not variable.unit:
        values: np.ndarray = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        for number in filter(None, map(texts.number, na)):
            values = np.where(values == number, math.nan, values)
        if variable.boolean:
            return np.where((values == 0) | (values == 1) | np.isnan(values), values, UNKNOWN)
        _readable(values[np.isinf(values)], where, "a number")
        return values
    encoded = column.dictionary_encode()
    cells = [text(value) for value in encoded.dictionary.to_pylist()]
    codes = known(variable, {cell for cell in cells if cell}, na)
    _readable([cell for cell in cells if codes.get(cell) == UNREAD], where, "a value of the column")
    table = np.array([codes.get(cell, math.nan) for cell in cells] + [math.nan])
    found: np.ndarray = table[encoded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)]
    return found


def _readable(wrong: Sequence[Any] | np.ndarray, where: str, what: str) -> None:
    if len(wrong):
        raise NbrError(f"{where}: {wrong[0]!r} is not {what}; leave a cell empty where nothing was observed, or use na")


def _plain(column: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _counts(path: Path, folder: Path) -> bool:
    """Whether a file is part of the table; what begins with a dot or an underscore is about it."""
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    return path.suffix.lower() in ENDINGS and path.is_file() and not hidden


def _opened(path: Path) -> Any:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise NbrError(f"reading Parquet needs pyarrow: {install('learn')}") from None
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise NbrError(f"{path}: cannot read it as Parquet: {str(error).splitlines()[0]}") from None
