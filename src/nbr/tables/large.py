"""Tables larger than memory: the world is found in one pass, then rows are counted, or some of them drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from nbr.errors import NbrError
from nbr.parallel import Told, mapped, nobody
from nbr.tables.grids import WHOLE, problems
from nbr.tables.like import TableLike
from nbr.tables.parquet import ENDINGS, Parquet, RowGroup, SeenValues
from nbr.tables.reading import kind_of, read, strange, unreadable
from nbr.tables.streamed import Csv, lines
from nbr.tables.table import SAMPLE, Table
from nbr.tables.tally import Tally
from nbr.world import Variable, World

ROWS = 200_000  # from which on a table is not read as a whole
Source = Parquet | Csv


@dataclass(frozen=True)
class Large:
    """Tables that are read some rows at a time, as codes of a world."""

    sources: tuple[Source, ...]
    world: World
    na: frozenset[str]
    notes: tuple[str, ...]

    @property
    def rows(self) -> int:
        return sum(source.rows for source in self.sources)

    @property
    def pieces(self) -> list[tuple[int, RowGroup]]:
        """What several processes can share out: the number of a source, and a piece of it."""
        return [(at, piece) for at, source in enumerate(self.sources) for piece in source.pieces]

    def codes(self, place: tuple[int, RowGroup]) -> Iterator[Tensor]:
        return self.sources[place[0]].codes(self.world, self.na, place[1])

    def counted(self, jobs: int | None = None, told: Told = nobody) -> Table | None:
        """Distinct rows with their counts, or None where there would be too many."""
        whole = Tally.of(self.world)
        if whole is None:
            return None
        for part in mapped(self._tally, self.pieces, jobs, told):
            whole.merge(part)
            if whole.overflows:
                return None
        return whole.table(self.notes)

    def drawn(self, most: int, seed: int) -> Table:
        """So many rows, drawn at random."""
        chosen = np.sort(np.random.default_rng(seed).choice(self.rows, min(most, self.rows), replace=False))
        found, start = [], 0
        for place in self.pieces:
            for codes in self.codes(place):
                first, last = np.searchsorted(chosen, [start, start + len(codes)])
                found.append(codes[torch.from_numpy(chosen[first:last] - start)])
                start += len(codes)
        note = f"{sum(map(len, found)):,} of {self.rows:,} rows, drawn at random"
        return Table(self.world, torch.cat(found), (*self.notes, note))

    def _tally(self, place: tuple[int, RowGroup]) -> Tally:
        found = Tally.of(self.world)
        assert found is not None
        for codes in self.codes(place):
            found.add(codes)
        return found


def is_large(sources: TableLike, csv: bool = True) -> bool:
    """Whether tables are better read some rows at a time: large files, and folders of Parquet files.

    Args:
        sources: paths, or other tables, which are in memory already
        csv: whether CSV files count, too
    """
    paths = _paths(sources)
    parquet = [path for path in paths if path.suffix.lower() in ENDINGS]
    whole = any(path.suffix.lower() in WHOLE for path in paths)  # and CSV beside them
    counted = parquet if whole or not csv else [path for path in paths if not path.is_dir()]
    return any(path.is_dir() for path in paths) or sum(map(_rows, counted)) > ROWS


def _rows(path: Path) -> int:
    """About how many rows a file has."""
    return Parquet.of(path).rows if path.suffix.lower() in ENDINGS else lines(path)


def open_large(
    sources: TableLike,
    world: World | None = None,
    *,
    columns: Mapping[str, str | Variable] | None = None,
    drop: Iterable[str] = (),
    na: Iterable[str] = (),
    sep: str | None = None,
    jobs: int | None = None,
    told: Told = nobody,
) -> Large:
    """Open large tables; without a world, find it from all cells of all of them in one pass."""
    paths = _paths(sources)
    for path in paths:
        if path.suffix.lower() in WHOLE:
            raise NbrError(f"{path}: beside a large table others have to be CSV or Parquet files")
    opened, dropped, holes = tuple(_opened(path, sep) for path in paths), set(drop), frozenset(na)
    notes = [note for each in opened for note in each.notes]
    if world is not None:
        return Large(opened, world, holes, (*notes, *strange(opened, world)))
    there = {name for each in opened for name in each.names}
    problems([f"there is no column {name!r} to describe" for name in sorted((dropped | set(columns or {})) - there)])
    found: dict[str, SeenValues] = {}
    for each in opened:
        for part in mapped(partial(each.seen, dropped, holes), each.pieces, jobs, told):
            for name, seen in part.items():
                found.setdefault(name, SeenValues()).merge(seen)
    variables, said = _kinds(opened, found, columns or {})
    if not variables:
        raise NbrError(f"{opened[0].where}no column is left to learn from: " + "; ".join(said[:5]))
    return Large(opened, World(variables), holes, (*notes, *said))


def learnable(
    sources: TableLike,
    world: World | None = None,
    *,
    columns: Mapping[str, str | Variable] | None = None,
    drop: Iterable[str] = (),
    na: Iterable[str] = (),
    sep: str | None = None,
    seed: int = 0,
    jobs: int | None = None,
) -> Table:
    """Tables to learn from, in memory that does not grow with their rows.

    As `read` has them; of large ones rows that are alike are counted, and where few are alike some are drawn.
    """
    if isinstance(sources, Table) or not is_large(sources):
        return thinned(read(sources, world, columns=columns, drop=drop, na=na, sep=sep), seed)
    found = open_large(sources, world, columns=columns, drop=drop, na=na, sep=sep, jobs=jobs)
    return found.counted(jobs) or found.drawn(SAMPLE, seed)


def thinned(table: Table, seed: int) -> Table:
    """The same of a table that was read as a whole."""
    if table.counts is not None or len(table) <= ROWS:
        return table
    tally = Tally.of(table.world)
    if tally is not None:
        for codes in table.codes.split(ROWS):
            tally.add(codes)
        if not tally.overflows:
            return tally.table(table.notes)
    if len(table) <= SAMPLE:
        return table
    chosen = np.sort(np.random.default_rng(seed).choice(len(table), SAMPLE, replace=False))
    note = f"{SAMPLE:,} of {len(table):,} rows, drawn at random"
    return Table(table.world, table.codes[torch.from_numpy(chosen)], (*table.notes, note))


def _opened(path: Path, sep: str | None) -> Source:
    return Parquet.of(path) if path.is_dir() or path.suffix.lower() in ENDINGS else Csv.of(path, sep)


def _place(opened: Sequence[Source], name: str, cell: str) -> str:
    """Where a cell first stands, as a user counts; of a Parquet file the column alone."""
    places = (each.place(name, cell) for each in opened if name in each.names)
    return next((place for place in places if place is not None), f"column {name!r}")


def _kinds(
    opened: Sequence[Source], found: Mapping[str, SeenValues], columns: Mapping[str, str | Variable]
) -> tuple[dict[str, Variable], list[str]]:
    variables: dict[str, Variable] = {}
    notes, wrong = [], []
    for name, seen in found.items():
        cells, rows = seen.whole()
        kind = kind_of(name, cells, columns.get(name), rows)
        if kind.variable is not None:
            variables[name] = kind.variable
        if kind.note:
            notes.append(f"{name}: {kind.note}")
        wrong += [unreadable(_place(opened, name, cell), name, cell, columns.get(name)) for cell in kind.wrong]
    problems(wrong)
    return variables, notes


def _paths(sources: TableLike) -> list[Path]:
    """The paths among tables, if all of them are paths."""
    many = sources if isinstance(sources, list | tuple) else [sources]
    paths = [Path(each) for each in many if isinstance(each, str | PathLike)]
    return paths if len(paths) == len(many) else []
