"""Holes of a table filled: what was observed stays as it was written, and so do columns that a model does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from nbr import dates
from nbr.tables import texts
from nbr.tables.coding import frame
from nbr.tables.grids import COMMA, content, grid, named, records, separator
from nbr.tables.like import TableLike
from nbr.tables.parquet import ENDINGS
from nbr.tables.reading import one_by_one
from nbr.tables.spliced import Fields
from nbr.tables.table import Table
from nbr.world import Variable, World

if TYPE_CHECKING:
    import pandas as pd

Word = Callable[[float], Any]
OPPOSITE = {"yes": "no", "y": "n", "true": "false", "t": "f", "on": "off", "1": "0", "1.0": "0.0"}
OPPOSITE |= {no: yes for yes, no in OPPOSITE.items()}


def filled(sources: TableLike, world: World, before: Tensor, after: Tensor) -> pd.DataFrame:
    """Tables with the codes of `after` in place of the holes of `before`, one below the other.

    One DataFrame alone keeps its index.
    """
    import pandas as pd

    if isinstance(sources, Table):
        return frame(world, after)
    parts, start = [], 0
    for number, source in enumerate(one_by_one(sources), 1):
        part = _original(source, number)
        rows = slice(start, start + len(part))
        parts.append(_filled(part, world, before[rows].numpy(), after[rows].numpy(), isinstance(source, str | Path)))
        start += len(part)
    if len(parts) > 1:
        return pd.concat(parts, ignore_index=True)
    index = index_of(sources)
    return parts[0] if index is None else parts[0].set_axis(index, axis=0)


def index_of(sources: TableLike) -> pd.Index[Any] | None:
    """The index of one DataFrame alone."""
    each = one_by_one(sources)
    return each[0].index if len(each) == 1 and hasattr(each[0], "index") and hasattr(each[0], "iloc") else None


def spelling(sources: TableLike, world: World, column: str, codes: Sequence[float]) -> Word | None:
    """How one table alone spells the labels of a column; None where it does not have it, or writes 0 and 1.

    Args:
        sources: one table, as written
        world: of the model
        column: a variable with labels
        codes: what the table has there
    """
    each = one_by_one(sources)
    if isinstance(sources, Table) or len(each) != 1 or world.variables[column].numeric:
        return None
    part = _original(each[0], 1)
    names = names_of(part)
    if column not in names:
        return None
    place = names.index(column)
    word = words(world.variables[column], grid(part, 1).columns[place].tolist(), codes, part.iloc[:, place].tolist())
    return None if {str(word(code)) for code in (0.0, 1.0)} <= {"0", "1"} else word


def filled_csv(
    path: Path, world: World, before: Tensor, after: Tensor, shown: Callable[[str], str] = str
) -> tuple[str, str] | None:
    """The text of a CSV file with its holes filled and all else as it was, and how it is encoded; None of others.

    `shown` may write fields differently: see `Fields.replaced`.
    """
    if path.suffix.lower() in ENDINGS:
        return None
    text, encoding, _ = content(path)
    sep = separator(text)
    fields = Fields.of(text, sep)
    head = len(fields.lines) - len(before)  # 1, or 0 where a file starts with numbers
    lines = [[fields.value(span) for span in line] for line in fields.lines]
    names = named(lines[0] if head else [f"x{at}" for at in range(len(lines[0]))], "")[0]
    cells: dict[tuple[int, int], str] = {}
    added: list[list[str]] = []
    for at, name in enumerate(world.names):
        holes, codes = np.isnan(before[:, at].numpy()), after[:, at].tolist()
        if name in names:
            place = names.index(name)
            column = [line[place].strip() for line in lines[head:]]
            word = words(world.variables[name], column, before[:, at].tolist(), column)
            cells |= {(row + head, place): str(word(codes[row])) for row in np.flatnonzero(holes).tolist()}
        else:
            word = words(world.variables[name], [], [], [])
            added.append([name] * head + [str(word(code)) for code in codes])
    return fields.replaced(cells, added, shown), encoding


def names_of(table: pd.DataFrame) -> tuple[str, ...]:
    """The columns of a DataFrame as a world names them."""
    return named([str(name) for name in table.columns], "")[0]


def words(variable: Variable, cells: Sequence[str], codes: Sequence[float], values: Sequence[Any]) -> Word:
    """From a code to what a column would have there: as its own cells spell it, most often, where they do.

    >>> from nbr.world import Bit
    >>> word = words(Bit(), ["Yes", "", "Yes"], [1.0, float("nan"), 1.0], ["Yes", "", "Yes"])
    >>> word(1.0), word(0.0)
    ('Yes', 'No')
    """
    seen = [(cell, code, value) for cell, code, value in zip(cells, codes, values, strict=True) if code == code]
    if variable.numeric:
        return _moment(variable, seen) if variable.unit else _number(variable, [cell for cell, _, _ in seen])
    often: dict[float, Counter[Any]] = {}
    for _, code, value in seen:
        often.setdefault(code, Counter())[value] += 1
    known = {code: count.most_common(1)[0][0] for code, count in often.items()}

    def word(code: float) -> Any:
        if code in known:
            return known[code]
        return _opposite(known.get(1 - code, str(int(1 - code)))) if variable.boolean else variable.show(code)

    return word


def _opposite(value: Any) -> Any:
    """The other truth value, spelt alike.

    >>> [_opposite(value) for value in ("Yes", "N", "true", "0", True, 1)]
    ['No', 'Y', 'false', '1', False, 0]
    """
    if not isinstance(value, str):
        return type(value)(not value)
    other = OPPOSITE[value.lower()]
    return other.upper() if value.isupper() else other.capitalize() if value[:1].isupper() else other


def _moment(variable: Variable, seen: Sequence[tuple[str, float, Any]]) -> Word:
    """Dates and times: as Python has them where the column does, or in the form that all its cells have."""
    kinds = {type(value) for _, _, value in seen}
    for kind in (datetime, date, time):
        if kinds and all(issubclass(each, kind) for each in kinds):
            return lambda code: kind.fromisoformat(variable.show(code))
    form = dates.form({cell: code for cell, code, _ in seen}) if variable.unit == "date" else None
    return variable.show if form is None else lambda code: dates.spelt(code, form)


def _number(variable: Variable, seen: Sequence[str]) -> Word:
    whole = variable.step and variable.step.is_integer()
    pointed = bool(seen) and all("." in cell or "," in cell for cell in seen)
    sign = "%" if seen and all(cell.endswith("%") for cell in seen) else ""
    comma = any(COMMA.match(cell) and texts.number(cell) is None for cell in seen)

    def word(code: float) -> str:
        said = f"{code:.0f}" if whole and not pointed else repr(code)
        return (said.replace(".", ",") if comma else said) + sign

    return word


def _original(source: Any, number: int) -> pd.DataFrame:
    """A table as a DataFrame of what was written."""
    import pandas as pd

    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() in ENDINGS:
            return pd.read_parquet(path)
        text = content(path)[0]
        lines = [line for line in records(text, separator(text)) if line]
        head = len(lines) - grid(source, number).rows
        names = lines[0] if head else [f"x{at}" for at in range(len(lines[0]))]
        return pd.DataFrame(lines[head:], columns=names, dtype=object)
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return pd.DataFrame(source).reset_index(drop=True)
    array = np.asarray(source.detach() if isinstance(source, Tensor) else source)
    return pd.DataFrame(array, columns=[f"x{at}" for at in range(array.shape[1])])


def _filled(part: pd.DataFrame, world: World, before: np.ndarray, after: np.ndarray, written: bool) -> pd.DataFrame:
    import pandas as pd

    names, table = names_of(part), part.copy()
    cells = grid(part, 1).columns
    for at, (name, variable) in enumerate(world.variables.items()):
        holes = np.isnan(before[:, at])
        if name not in names:
            table[name] = frame(World({name: variable}), _column(after[:, at]))[name].to_numpy()
            continue
        place = names.index(name)
        column = part.iloc[:, place]
        word = words(variable, cells[place].tolist(), before[:, at].tolist(), column.tolist())
        values = column.astype(object)
        values[holes] = [word(code) for code in after[holes, at].tolist()]
        numbers = variable.numeric and not variable.unit
        if written:  # in a file everything is text: numbers are numbers again where all of them are plain ones
            plain = numbers or (variable.boolean and set(values) <= {"0", "1"})
            values = _plain_numbers(values) if plain else values
        elif holes.any():
            values = _typed(_as_numbers(values, holes) if numbers else values, column.dtype)
        else:
            values = column
        table.isetitem(place, pd.Series(values.to_numpy(), dtype=values.dtype))
    return table


def _column(codes: np.ndarray) -> Tensor:
    import torch

    return torch.from_numpy(codes.copy())[:, None]


def _as_numbers(values: pd.Series, holes: np.ndarray) -> pd.Series:
    """The numbers that were filled in as numbers, where the column has numbers and not texts."""
    if any(isinstance(value, str) for value in values[~holes]):
        return values
    return values.where(~holes, values[holes].map(float) if holes.any() else values)


def _plain_numbers(values: pd.Series) -> pd.Series:
    import pandas as pd

    try:
        return pd.Series(pd.to_numeric(values))
    except (ValueError, TypeError):
        return values


def _typed(values: pd.Series, kind: Any) -> pd.Series:
    """With the type of the column, if that can hold all of them."""
    try:
        found: pd.Series = values.astype(kind)
    except (ValueError, TypeError):
        return values.infer_objects()
    return found.infer_objects() if not found.isna().any() else values.infer_objects()
