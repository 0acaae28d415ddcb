"""From what people have to codes of a world: a path to a CSV or Parquet file, a DataFrame, an array, or several."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from nbr.errors import NbrError
from nbr.tables import kinds, texts
from nbr.tables.coding import decode, encode
from nbr.tables.grids import Grid, grid, problems
from nbr.tables.like import TableLike
from nbr.tables.parquet import Parquet
from nbr.tables.streamed import Csv
from nbr.tables.table import Table
from nbr.world import Variable, World


def read(
    sources: TableLike,
    world: World | None = None,
    *,
    columns: Mapping[str, str | Variable] | None = None,
    drop: Iterable[str] = (),
    na: Iterable[str] = (),
    sep: str | None = None,
) -> Table:
    """Read one table or several; without a world, infer it from all of them together.

    `columns` says what a column is ("bit", "choice", "real", "real:0:120", "count", "date", "time", "clock", or a
    variable), `drop` which to leave out, `na` which further texts mean that nothing was observed, `sep` what separates
    columns. `notes` of the table tell what was inferred.

    With a world, values that it does not have are no error: a number beyond its bounds stays as it is, any other value
    of a bit or choice becomes -1, and priors give both a small mass. Columns that it does not have are left out.
    """
    if isinstance(sources, Table):
        if world is None or world == sources.world:
            return sources
        several: list[Grid] = [decode(sources.world, sources.codes)]
    else:
        several = [grid(source, number, sep) for number, source in enumerate(one_by_one(sources), 1)]
    dropped, holes = set(drop), frozenset(na)
    there = {name for each in several for name in each.names}
    unknown = sorted((dropped | set(columns or {})) - there)
    problems([f"there is no column {name!r} to describe" for name in unknown] if world is None else [])
    several = [_without(each, dropped) for each in several]
    notes = [note for each in several for note in each.notes]
    if world is None:
        world, said = infer(several, columns or {}, holes)
        notes += said
    else:
        notes += strange(several, world)
    encoded = [encode(each, world, holes) for each in several]
    problems([line for _, _, wrong in encoded for line in wrong])
    notes += [note for _, said, _ in encoded for note in said]
    return Table(world, torch.cat([codes for codes, _, _ in encoded]), tuple(notes))


def infer(grids: Sequence[Grid], columns: Mapping[str, str | Variable], na: frozenset[str]) -> tuple[World, list[str]]:
    """The world that several tables speak of together, and a line for each choice made; all problems at once."""
    rows = sum(each.rows for each in grids)
    if rows < 2:
        raise NbrError(f"{grids[0].where}there {'is 1 row' if rows else 'are 0 rows'}, and learning needs more")
    parts: dict[str, list[Any]] = {}
    for each in grids:
        for name, column in zip(each.names, each.columns, strict=True):
            parts.setdefault(name, []).append((each, column))
    variables: dict[str, Variable] = {}
    notes, wrong = [], []
    for name, found in parts.items():
        cells = Counter(cell for _, column in found for cell in column.tolist() if cell not in na)
        said = columns.get(name)
        kind = kind_of(name, cells, said, sum(each.rows for each, _ in found))
        if kind.variable is not None:
            variables[name] = kind.variable
        if kind.note:
            notes.append(f"{name}: {kind.note}")
        wrong += [place for cell in kind.wrong for place in _places(found, name, cell, said)]
    problems(wrong)
    if not variables:
        raise NbrError(f"{grids[0].where}no column is left to learn from: " + "; ".join(notes[:5]))
    return World(variables), notes


def kind_of(name: str, cells: Counter[str], said: str | Variable | None, rows: int) -> kinds.Kind:
    if isinstance(said, Variable):
        return kinds.Kind(said)
    if said == "choice":  # whatever it says is a label, if it says anything
        return kinds.told(name, said, Counter({cell: n for cell, n in cells.items() if cell}))
    seen = Counter({cell: n for cell, n in cells.items() if not texts.hole(cell) or cell.lower() in texts.MAYBE})
    words = sorted({cell for cell in cells if cell and texts.hole(cell) and cell not in seen})
    kind = kinds.infer(name, seen, rows) if said is None else kinds.told(name, said, seen)
    if words and kind.variable is not None:
        note = f"{', '.join(map(repr, words[:4]))} read as not observed"
        return kinds.Kind(kind.variable, f"{kind.note}; {note}" if kind.note else note, kind.wrong)
    return kind


def _places(found: list[Any], name: str, cell: str, said: object) -> list[str]:
    each, row = next((each, column.tolist().index(cell)) for each, column in found if cell in column.tolist())
    return [unreadable(each.place(row, name), name, cell, said)]


def unreadable(place: str, name: str, cell: str, said: object) -> str:
    """The problem of a cell that is not of the kind that its column is said to be of."""
    kind = str(said if said is not None else "number").partition(":")[0]
    told = f"--na {cell!r} or --column {name!r}=choice (in Python na=, columns=)"
    return f"{place}: {cell!r} is not a {kind}; leave it empty where nothing was observed, or say {told}"


def _without(each: Grid, dropped: set[str]) -> Grid:
    kept = [at for at, name in enumerate(each.names) if name not in dropped]
    names, columns = tuple(each.names[at] for at in kept), tuple(each.columns[at] for at in kept)
    return Grid(each.where, names, columns, each.lines, each.notes)


def strange(grids: Sequence[Grid | Parquet | Csv], world: World) -> list[str]:
    """Columns that a world does not have are left out; an error if one looks misspelt, or none is left."""
    notes = []
    for each in grids:
        strange = [name for name in each.names if name not in world.variables]
        missing = [name for name in world.names if name not in each.names]
        for name in strange:
            close = difflib.get_close_matches(name, missing, n=1, cutoff=0.75)
            problems([f"{each.where}the model has no column {name!r}; did you mean {close[0]!r}?"] if close else [])
            notes.append(f"{name}: the model has no such column, left out")
        if len(strange) == len(each.names):
            shown = ", ".join(world.names[:8])
            problems([f"{each.where}the model has none of the columns {', '.join(strange[:8])}; it has {shown}"])
    return notes


def one_by_one(sources: TableLike) -> Sequence[Any]:
    """Several tables, or one alone."""
    return sources if isinstance(sources, list | tuple) and not _is_rows(sources) else [sources]


def _is_rows(source: Sequence[Any]) -> bool:
    """Whether a list is itself a table: rows of numbers."""
    return bool(source) and isinstance(source[0], list | tuple) and not isinstance(source[0], str)
