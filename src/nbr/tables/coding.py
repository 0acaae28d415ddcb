"""Text cells as codes of a world, and codes as a DataFrame again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from nbr import dates
from nbr.errors import NbrError, install
from nbr.tables import texts
from nbr.tables.grids import Grid
from nbr.world import Variable, World

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = -1.0  # the code of a value that a bit or a choice does not have
UNREAD = math.inf  # of a cell that cannot be read at all


def encode(grid: Grid, world: World, na: frozenset[str]) -> tuple[Tensor, list[str], list[str]]:
    """The codes of a grid, notes on values that the world does not have, and cells that cannot be read."""
    codes = torch.full((grid.rows, len(world)), math.nan, dtype=torch.float64)
    notes, wrong = [], []
    for name, column in zip(grid.names, grid.columns, strict=True):
        if name not in world.variables:
            continue
        variable, cells = world.variables[name], column.tolist()
        codes_of = known(variable, {cell for cell in cells if cell}, na)
        values = np.array([codes_of.get(cell, math.nan) for cell in cells], dtype=np.float64)
        for row in np.flatnonzero(values == UNREAD).tolist():
            kind = f"a {variable.unit}" if variable.numeric and variable.unit else "a number"
            wrong.append(f"{grid.place(row, name)}: {cells[row]!r} is not {kind}")
        outside = _outside(variable, values)
        if outside.any():
            example = cells[int(np.flatnonzero(outside)[0])]
            notes.append(
                f"{name}: {int(outside.sum())} cells have values that the model does not know, such as {example!r}"
            )
        codes[:, world.column(name)] = torch.from_numpy(values)
    if wrong:
        wrong[0] += "; leave a cell empty where nothing was observed, or say so with na="
    return codes, notes, wrong


def _outside(variable: Variable, values: np.ndarray) -> np.ndarray:
    outside: np.ndarray = values == UNKNOWN
    if variable.numeric:
        outside = np.isfinite(values) & ((values < variable.low) | (values > variable.high))
    return outside


def known(variable: Variable, cells: set[str], na: frozenset[str]) -> dict[str, float]:
    """The code of each text; a text that is a label is no hole."""
    if not variable.adds:
        return {cell: code for cell in cells if (code := _label(variable, cell, na)) is not None}
    seen = [cell for cell in cells if not texts.hole(cell) and cell not in na]
    if variable.boolean:
        found = {cell: texts.truth(cell) for cell in seen}
        return {cell: UNKNOWN if code is None else code for cell, code in found.items()}
    if not variable.unit:
        numbers = {cell: texts.number(cell) for cell in seen}
        return {cell: UNREAD if number is None else number for cell, number in numbers.items()}
    return _dated(variable, seen) or {cell: _moment(variable, cell) for cell in seen}


def _dated(variable: Variable, seen: list[str]) -> dict[str, float] | None:
    """All cells as dates or times; where these cells do not tell day from month, more of the known range decides."""
    found = []
    for day_first in (False, True):
        dated = texts.moments(seen, day_first)
        if dated is not None and dated[1] in (variable.unit, "date"):
            scale = 86400.0 if (dated[1], variable.unit) == ("date", "time") else 1.0
            found.append({cell: value * scale for cell, value in dated[0].items()})
    return max(
        found, key=lambda each: sum(variable.low <= value <= variable.high for value in each.values()), default=None
    )


def _moment(variable: Variable, cell: str) -> float:
    found = dates.read(cell)
    return found[0] if found is not None and found[1] == variable.unit else UNREAD


def _label(variable: Variable, cell: str, na: frozenset[str]) -> float | None:
    """The code of a label; 1.0 is the label 1; None for a hole."""
    if cell in na:
        return None
    number = texts.number(cell)
    for word in (cell, f"{number:.0f}" if number is not None and number.is_integer() else cell):
        if word in variable.labels:
            return variable.code(word)
    return None if texts.hole(cell) else UNKNOWN


def decode(world: World, codes: Tensor) -> Grid:
    """Codes as text cells again."""
    columns = []
    for variable, column in zip(world.variables.values(), codes.unbind(dim=1), strict=True):
        cells = [_cell(variable, code) for code in column.tolist()]
        columns.append(np.array(cells, dtype=object))
    return Grid("", world.names, tuple(columns), np.arange(1, len(codes) + 1))


def _cell(variable: Variable, code: float) -> str:
    if math.isnan(code):
        return ""
    if variable.numeric:
        return variable.show(code) if variable.unit else repr(code)
    return variable.show(code) if 0 <= code < len(variable.labels) else "(unknown)"


def frame(world: World, points: Tensor, **attributes: object) -> pd.DataFrame:
    """Points as a DataFrame, with labels for choices; the inverse of reading one."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise NbrError(f"a table of samples needs pandas: {install('learn')}") from None
    columns: dict[str, object] = {}
    for (name, variable), column in zip(world.variables.items(), points.unbind(dim=1), strict=True):
        if variable.numeric and variable.unit:
            columns[name] = np.array([variable.show(code) for code in column.tolist()], dtype=object)
        elif variable.numeric:
            whole = variable.step and variable.step.is_integer() and not bool(column.isnan().any())
            columns[name] = column.round().long().numpy() if whole else column.numpy()
        elif not variable.adds:
            columns[name] = np.array(variable.labels, dtype=object)[column.long().numpy()]
        else:
            columns[name] = column.long().numpy()
    table = pd.DataFrame(columns)
    table.attrs.update(attributes)
    return table
