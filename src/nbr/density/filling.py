"""Columns predicted, holes filled, and rows that do not fit, as tables to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from nbr import clock, tables
from nbr.density.left_open import left_open
from nbr.density.likelihood import score
from nbr.density.predicting import CompletedRows, PredictedColumn, predicted_column
from nbr.density.ranges import rows_of, wilsons
from nbr.errors import NbrError
from nbr.language import Atom, Expression, conjunction
from nbr.model import Model
from nbr.tables import Table
from nbr.world import World

if TYPE_CHECKING:
    import pandas as pd

OPEN = 2.0  # seconds for what stays open of one cell


def predicted(model: Model, source: tables.TableLike, column: str, seed: int) -> pd.DataFrame:
    """The column of each row of a table, in the words and with the index that it has: see `predict`."""
    data = tables.read(source, model.world)
    found = predict(model, data, column, seed)
    word = tables.spelling(source, model.world, column, data.codes[:, model.world.column(column)].tolist())
    if word is not None:
        found[column] = [word(model.world.code(column, value)) for value in found[column]]
    index = tables.index_of(source)
    return found if index is None else found.set_axis(index, axis=0)


def predict(
    model: Model,
    table: Table,
    column: str,
    seed: int,
    found: PredictedColumn | None = None,
    alike: Tensor | None = None,
) -> pd.DataFrame:
    """The column of each row from the others: its value, and how sure that is; or what another model `found` of it.

    `alike` is the log of how often rows are like each, where that is known already.

    Of a label, the probability, its 95% range (`low` and `high`: what `rows` that are alike leave possible, and columns
    never seen together; where the model does not know its rows, what stays open alone), and the probability of each
    label; of a number, the middle one, and the range in which nine in ten lie.
    """
    found = predicted_column(model, table.codes, column, seed) if found is None else found
    frame = _frame(model.world, column, found)
    if found.chances is None:
        frame["low"], frame["high"] = (_shown(model.world, column, found.quantiles()[:, at]) for at in (0, 2))
        return frame
    rest = _without(model, table.codes, column)
    if model.seen is not None and alike is None:
        alike = _alike(model, rest, seed)
    ranges = _open(model, table.codes, column, found, seed)
    frame["probability"] = found.chances.max(dim=1).values.numpy()
    lows, highs = (torch.tensor(ends, dtype=torch.float64) for ends in zip(*ranges, strict=True))
    rows = _rows(model, rest, column, alike)
    if rows is not None and model.seen is not None:
        worth = rows / model.seen.dispersion
        lows, highs = wilsons(lows, worth)[0], wilsons(highs, worth)[1]
    frame["low"], frame["high"] = lows.numpy(), highs.numpy()
    if rows is not None:
        frame["rows"] = rows.numpy()
    variable = model.world.variables[column]
    for label in range(found.chances.shape[1]):
        frame[f"{column}={variable.show(label)}"] = found.chances[:, label].numpy()
    return frame


@dataclass(frozen=True)
class Imputed:
    """A table, its codes before and after its holes were filled, and a line for each cell filled.

    Such a line has row (from 1), column, value, the probability of a label, and a range as `predict` has it.
    """

    source: tables.TableLike
    world: World
    before: Tensor
    after: Tensor
    lines: pd.DataFrame

    def frame(self) -> pd.DataFrame:
        """The table with its holes filled and all else as it was; `attrs["cells"]` has the lines."""
        found = tables.filled(self.source, self.world, self.before, self.after)
        found.attrs["cells"] = self.cells(found).to_dict("records")
        return found

    def cells(self, found: pd.DataFrame) -> pd.DataFrame:
        """The lines, with values as the table that was filled has them."""
        if not len(self.lines):
            return self.lines
        place = {name: at for at, name in enumerate(tables.names_of(found))}
        rows = zip(self.lines["row"], self.lines["column"], strict=True)
        return self.lines.assign(value=[str(found.iat[row - 1, place[name]]) for row, name in rows])

    def csv(self, shown: Callable[[str], str] = str) -> tuple[str, str] | None:
        """The same as the text of a CSV file, all that was observed letter for letter, and its encoding; or None."""
        if not isinstance(self.source, str | Path):
            return None
        return tables.filled_csv(Path(self.source), self.world, self.before, self.after, shown)


def impute(model: Model, source: tables.TableLike, seed: int) -> Imputed:
    """Fill the holes of a table, each by itself given what is observed of its row."""
    import pandas as pd

    table, told = tables.read(source, model.world), []
    filled = table.codes.clone()
    holed = table.codes.isnan().any(dim=1).nonzero()[:, 0]
    for rows in holed.split(CompletedRows.rows_at_once(model.world) if model.reads else max(1, len(holed))):
        if not len(rows):
            break
        known = table.codes[rows].masked_fill(model.world.outside(table.codes[rows]), torch.nan)
        completed = CompletedRows.of(model, known, seed)
        alike = None if model.seen is None else _alike(model, known, seed, completed)
        for at, name in enumerate(model.world.names):
            holes = table.codes[rows, at].isnan()
            if not bool(holes.any()):
                continue
            found = predicted_column(
                model, known[holes], name, seed, None if completed is None else completed.of_rows(holes)
            )
            some = None if alike is None else alike[holes]
            frame = predict(model, Table(model.world, known[holes]), name, seed, found, some)
            values = [model.world.code(name, value) for value in frame[name]]
            filled[rows[holes], at] = torch.tensor(values, dtype=torch.float64)
            lines = {"row": (rows[holes] + 1).numpy(), "column": name, "value": ""}
            sure = {key: frame[key] for key in ("probability", "low", "high") if key in frame}
            told.append(pd.DataFrame({**lines, **sure}))
    listed = pd.concat(told).sort_values("row", kind="stable", ignore_index=True) if told else pd.DataFrame()
    return Imputed(source, model.world, table.codes, filled, listed)


@dataclass(frozen=True)
class Misfit:
    """A row that the model finds unlikely, and the cells that do not fit the rest of it, the oddest first."""

    row: int  # from 1
    log_likelihood: float
    cells: list[tuple[str, str, float]]  # column, value, how well it fits

    def as_json(self) -> dict[str, object]:
        odd = [{"column": name, "value": value, "fits": fits} for name, value, fits in self.cells]
        return {"row": self.row, "log_likelihood": self.log_likelihood, "cells": odd}


def misfits(model: Model, table: Table, scores: Tensor, count: int, seed: int, odd: int = 3) -> list[Misfit]:
    """The rows with the lowest log-likelihoods, the lowest first, and their oddest cells.

    How well a cell fits is the probability of its label given the rest of the row, or of a number as far out.
    """
    order = scores.argsort()[:count]
    codes, fits = table.codes[order], torch.ones(len(order), len(model.world), dtype=torch.float64)
    for at, name in enumerate(model.world.names):
        fits[:, at] = torch.where(
            codes[:, at].isnan(), 1.0, predicted_column(model, codes, name, seed).fits(codes[:, at])
        )
    found = []
    for place, (row, mine) in enumerate(zip(order.tolist(), fits, strict=True)):
        oddest = [int(at) for at in mine.argsort()[:odd] if not bool(codes[place, int(at)].isnan())]
        told = [(model.world.names[at], _value(model.world, at, codes[place, at]), float(mine[at])) for at in oddest]
        found.append(Misfit(row + 1, float(scores[row]), told))
    return found


def _value(world: World, at: int, code: Tensor) -> str:
    variable = world.variables[world.names[at]]
    known = variable.numeric or 0 <= float(code) < len(variable.labels)
    return variable.show(float(code)) if known else "(unknown)"


def _frame(world: World, column: str, found: PredictedColumn) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({column: _shown(world, column, found.value)})


def _shown(world: World, column: str, codes: Tensor) -> Any:
    return tables.frame(World({column: world.variables[column]}), codes[:, None])[column].to_numpy()


def _open(model: Model, codes: Tensor, column: str, found: PredictedColumn, seed: int) -> list[tuple[float, float]]:
    """What stays open of the likeliest label of each row; rows that say the same are looked at once."""
    done: dict[tuple[str, str], tuple[float, float]] = {}
    assert found.chances is not None
    ranges = []
    for row, label, chance in zip(codes, found.value.tolist(), found.chances.max(dim=1).values.tolist(), strict=True):
        condition = _told(model.world, row, column)
        key = (str(condition), str(label))
        if key not in done:
            done[key] = _range(model, _atom(model.world, column, label), condition, chance, seed)
        ranges.append(done[key])
    return ranges


def _range(
    model: Model,
    question: Expression,
    condition: Expression | None,
    chance: float,
    seed: int,
) -> tuple[float, float]:
    generator = torch.Generator().manual_seed(seed)
    try:
        left = left_open(model, question, condition, chance, clock.now() + OPEN, generator)
    except NbrError:  # no draw agrees with the row: all that can be said is nothing
        return 0.0, 1.0
    return (chance, chance) if left.range is None and not left.note else left.range or (0.0, 1.0)


def _rows(model: Model, rest: Tensor, column: str, alike: Tensor | None) -> Tensor | None:
    """How many rows like each the model was learned from, n P(rest of the row); None where it does not know."""
    world, shown = model.world, ~rest.isnan()
    patterns, member = shown.unique(dim=0, return_inverse=True)
    counts = [
        rows_of(model.seen, [column, *(name for name, there in zip(world.names, each, strict=True) if there)])
        for each in patterns.tolist()
    ]
    if alike is None or any(count is None for count in counts):
        return None
    return torch.tensor(counts, dtype=torch.float64)[member] * alike.exp().clamp(max=1.0)


def _alike(model: Model, rest: Tensor, seed: int, completed: CompletedRows | None = None) -> Tensor | None:
    """log of how often rows are like each in what is known of it, numbers in the same piece; None where it is not."""
    numbers = [at for at, variable in enumerate(model.world.variables.values()) if variable.numeric]
    shown = ~rest[:, numbers].isnan()
    if model.reads and not bool(shown.any()):
        if completed is not None:
            return completed.log_prob(model.base, rest)
        return score(model, Table(model.world, rest), seed).log_prob
    found = model.base.log_alike(rest)
    if found is None:
        scores = model.base.log_prob(rest)
        found = None if scores is None else scores.masked_fill(shown.any(dim=1), -torch.inf)
    return found


def _without(model: Model, codes: Tensor, column: str) -> Tensor:
    """Rows without a column, and without what no value is."""
    rest = codes.clone()
    rest[:, model.world.column(column)] = torch.nan
    return rest.masked_fill(model.world.outside(rest), torch.nan)


def _told(world: World, row: Tensor, column: str) -> Expression | None:
    observed = {name: code for name, code in zip(world.names, row.tolist(), strict=True) if name != column}
    outside = world.outside(row[None])[0].tolist()
    strange = {name for name, out in zip(world.names, outside, strict=True) if out}
    return conjunction([_atom(world, n, c) for n, c in observed.items() if c == c and n not in strange])


def _atom(world: World, name: str, code: float) -> Atom:
    variable = world.variables[name]
    plain = variable.numeric and not variable.unit
    return Atom(name, "=", (repr(code) if plain else variable.show(code),))
