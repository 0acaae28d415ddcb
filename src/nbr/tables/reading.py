"""Tables with holes: what people have, as codes of a world with NaN where nothing was observed.

A table is a path to a CSV or Parquet file, a DataFrame, an array, or several of these, each with its own columns.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from nbr.errors import NbrError, suggest
from nbr.world import Bit, Choice, Real, Variable, World

if TYPE_CHECKING:
    import pandas as pd

FEW = 12  # whole numbers that take no more values than this are labels
MOST_LABELS = 200
TRUTH = {"0", "1", "0.0", "1.0", "true", "false", "True", "False"}


@dataclass(frozen=True)
class Table:
    """Rows of codes; NaN is a cell that was not observed."""

    world: World
    codes: Tensor  # (rows, variables), float64

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def complete(self) -> bool:
        return not bool(self.codes.isnan().any())

    def views(self) -> list[tuple[str, ...]]:
        """The largest sets of columns that some row shows together."""
        shown = torch.unique(~self.codes.isnan(), dim=0)
        patterns = [frozenset(np.flatnonzero(row.numpy()).tolist()) for row in shown]
        largest = [p for p in patterns if p and not any(p < other for other in patterns)]
        return [tuple(self.world.names[column] for column in sorted(view)) for view in sorted(largest, key=sorted)]

    def part(self, rows: Tensor) -> Table:
        return Table(self.world, self.codes[rows])


Source = Any  # a path, a DataFrame, an array or tensor, or a Table


def read(sources: Source, world: World | None = None) -> Table:
    """Read one table or several; without a world, infer it from all of them together."""
    if isinstance(sources, Table):
        return sources
    several = sources if isinstance(sources, list | tuple) and not _is_rows(sources) else [sources]
    grids = [_grid(source, number) for number, source in enumerate(several, 1)]
    if world is None:
        world = infer(grids)
    return Table(world, torch.cat([_encode(grid, world) for grid in grids]))


@dataclass(frozen=True)
class Grid:
    """A table as text cells, before anything is known of their meaning; "" is an empty cell."""

    where: str
    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]  # of str
    first: int  # the number of the first row, as the user counts

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def place(self, row: int, name: str) -> str:
        return f"{self.where}row {self.first + row}, column {name!r}"


def _is_rows(source: Sequence[Any]) -> bool:
    """Whether a list is itself a table: rows of numbers."""
    return bool(source) and isinstance(source[0], list | tuple) and not isinstance(source[0], str)


def _grid(source: Source, number: int) -> Grid:
    if isinstance(source, str | Path):
        return _file(Path(source))
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return _frame(source, f"table {number}: ")
    array = np.asarray(source.detach() if isinstance(source, Tensor) else source)
    if array.ndim != 2:
        raise NbrError(f"table {number}: expected rows and columns, not an array of shape {array.shape}")
    columns = tuple(_texts(array[:, column]) for column in range(array.shape[1]))
    return Grid(f"table {number}: ", tuple(f"x{i}" for i in range(array.shape[1])), columns, 1)


def _texts(values: np.ndarray) -> np.ndarray:
    return np.array([_text(value) for value in values.tolist()], dtype=object)


def _text(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _frame(frame: pd.DataFrame, where: str) -> Grid:
    names = tuple(str(name) for name in frame.columns)
    columns = []
    for position in range(len(names)):
        column = frame.iloc[:, position]
        columns.append(_texts(column.astype(object).where(column.notna(), None).to_numpy()))
    return _checked(Grid(where, names, tuple(columns), 1))


def _file(path: Path) -> Grid:
    if path.suffix.lower() in (".parquet", ".pq"):
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise NbrError("reading Parquet needs pandas: pip install 'nbr[learn]'") from None
        try:
            return _frame(pd.read_parquet(path), f"{path}: ")
        except (OSError, ValueError, ImportError) as error:
            raise NbrError(f"{path}: cannot read it as Parquet: {str(error).splitlines()[0]}") from None
    return _csv(path)


def _csv(path: Path) -> Grid:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except OSError as error:
        raise NbrError(f"cannot read {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise NbrError(f"{path}: not a CSV file: {error}") from None
    if not lines:
        raise NbrError(f"{path}: the file is empty")
    # A first line of nothing but numbers is data: the columns have no names.
    named = not all(_number(cell) is not None or not cell.strip() for cell in lines[0])
    names = tuple(cell.strip() for cell in lines[0]) if named else tuple(f"x{i}" for i in range(len(lines[0])))
    body = lines[1:] if named else lines
    first = 2 if named else 1
    for row, line in enumerate(body):
        if len(line) != len(names):
            raise NbrError(f"{path}: row {first + row} has {len(line)} fields, and there are {len(names)} columns")
    columns = tuple(np.array([line[position].strip() for line in body], dtype=object) for position in range(len(names)))
    return _checked(Grid(f"{path}: ", names, columns, first))


def _checked(grid: Grid) -> Grid:
    for name in grid.names:
        if not name:
            raise NbrError(f"{grid.where}column {grid.names.index(name) + 1} has no name")
        if grid.names.count(name) > 1:
            raise NbrError(f"{grid.where}two columns are called {name!r}")
    return grid


def infer(grids: Iterable[Grid]) -> World:
    """The world that several tables speak of together."""
    grids = list(grids)
    rows = sum(grid.rows for grid in grids)
    if rows < 2:
        raise NbrError(f"{grids[0].where}there {'is 1 row' if rows else 'are 0 rows'}, and learning needs more")
    cells: dict[str, list[tuple[Grid, np.ndarray]]] = {}
    for grid in grids:
        for name, column in zip(grid.names, grid.columns, strict=True):
            cells.setdefault(name, []).append((grid, column))
    return World({name: _variable(name, parts) for name, parts in cells.items()})


def _variable(name: str, parts: list[tuple[Grid, np.ndarray]]) -> Variable:
    where = parts[0][0].where
    values = sorted({cell for _, column in parts for cell in column.tolist() if cell})
    if not values:
        raise NbrError(f"{where}column {name!r} is empty: there is nothing to learn from it, leave it out")
    if len(values) == 1:
        raise NbrError(
            f"{where}column {name!r} is always {values[0]!r}: there is nothing to learn from it, leave it out"
        )
    if set(values) <= TRUTH:
        return Bit()
    numbers = [number for number in map(_number, values) if number is not None]
    words = [value for value in values if not _spelled(value)]
    if len(numbers) > len(words):
        for grid, column in parts:
            for row, cell in enumerate(column.tolist()):
                if cell and _number(cell) is None:
                    place = grid.place(row, name)
                    raise NbrError(f"{place}: {cell!r} is not a number; leave a cell empty where nothing was observed")
        whole = all(number.is_integer() for number in numbers)
        if whole and len(set(numbers)) <= FEW:
            return Choice(*(f"{number:g}" for number in sorted(set(numbers))))
        return Real(min(numbers), max(numbers))
    if len(values) > MOST_LABELS:
        raise NbrError(
            f"{where}column {name!r} has {len(values)} different labels, too many to learn from; leave it out"
        )
    return Choice(*values)


def _number(cell: str) -> float | None:
    """The finite number that a cell spells, if it does."""
    return float(cell) if _spelled(cell) and math.isfinite(float(cell)) else None


def _spelled(cell: str) -> bool:
    """Whether a cell spells a number, finite or not: "nan" and "inf" are no labels."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _encode(grid: Grid, world: World) -> Tensor:
    codes = torch.full((grid.rows, len(world)), math.nan, dtype=torch.float64)
    for name, column in zip(grid.names, grid.columns, strict=True):
        if name not in world.variables:
            raise NbrError(f"{grid.where}the model has no column {name!r}" + suggest(name, world.names))
        variable = world.variables[name]
        known: dict[str, float] = {}
        for row, cell in enumerate(column.tolist()):
            if cell:
                if cell not in known:
                    known[cell] = _code(grid, row, name, variable, cell)
                codes[row, world.column(name)] = known[cell]
    return codes


def _code(grid: Grid, row: int, name: str, variable: Variable, cell: str) -> float:
    number = _number(cell)
    label = f"{number:g}" if number is not None and isinstance(variable, Bit | Choice) else cell
    try:
        code = variable.code(label if label in getattr(variable, "labels", (label,)) else cell)
    except NbrError as error:
        raise NbrError(f"{grid.place(row, name)}: {error}") from None
    if isinstance(variable, Real) and not variable.low <= code <= variable.high:
        raise NbrError(f"{grid.place(row, name)}: {code:g} is not between {variable.low:g} and {variable.high:g}")
    return code


def frame(world: World, points: Tensor, **attributes: object) -> pd.DataFrame:
    """Points as a DataFrame, with labels for choices; the inverse of reading one."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError("a table of samples needs pandas: pip install 'nbr[learn]'") from None
    columns = {}
    for (name, variable), column in zip(world.variables.items(), points.unbind(dim=1), strict=True):
        if isinstance(variable, Real):
            columns[name] = column.numpy()
        elif isinstance(variable, Choice):
            columns[name] = np.array(variable.labels, dtype=object)[column.long().numpy()]
        else:
            columns[name] = column.long().numpy()
    table = pd.DataFrame(columns)
    table.attrs.update(attributes)
    return table
