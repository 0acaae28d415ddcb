"""Commands that look at cells: predict a column, fill holes."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.app.options import Force, Guard, Json, Model, Seed, fresh

if TYPE_CHECKING:
    import pandas as pd

    from nbr.density import Misfit
    from nbr.reasoner import Reasoner

Output = Annotated[
    Path | None, typer.Option("-o", "--output", callback=fresh, help="A CSV file. Default: the screen.", metavar="FILE")
]


def predict(
    model: Model,
    table: Annotated[
        Path,
        typer.Argument(help="A CSV or Parquet table. Its values in the predicted column are ignored.", metavar="TABLE"),
    ],
    column: Annotated[str, typer.Option(help="The column to predict.", metavar="NAME")],
    output: Output = None,
    force: Force = False,
    seed: Seed = 0,
    guard: Guard = False,
    as_json: Json = False,
) -> None:
    """Predict a column of each row from its other columns.

    Gives the likeliest label with the probability of each, or a number with a range.

    \b
    nbr predict learned.nbr others.csv --column sex
    """
    from nbr.kinds import load_reasoner

    typer.echo(_written(load_reasoner(model).predict(table, column, seed=seed), output, as_json, guard), nl=False)


def impute(
    paths: Annotated[
        list[Path],
        typer.Argument(help="A model and a table, or a table alone to learn from first.", metavar="[MODEL] TABLE"),
    ],
    output: Output = None,
    force: Force = False,
    cells: Annotated[
        Path | None,
        typer.Option(help="Also write a CSV file of the filled cells and how sure each is.", metavar="FILE"),
    ] = None,
    seed: Seed = 0,
    guard: Guard = False,
    as_json: Json = False,
) -> None:
    """Fill the holes of a table from what is observed of each row.

    All else stays as it was written: observed cells, columns that are not modelled, their order.

    \b
    nbr impute table.csv --cells sure.csv -o full.csv
    """
    from nbr.app import guarding
    from nbr.density import filling

    reasoner, table = _model(paths, seed)
    found = filling.impute(reasoner.model, table, seed)
    filled = found.frame()
    told = found.cells(filled)
    filled.attrs.clear()
    print(f"{len(told):,} cells of {len(filled):,} rows filled", file=sys.stderr)
    if cells is not None:
        _written(told, cells, False, guard)
    if as_json:
        typer.echo(json.dumps({"rows": _records(filled), "cells": _records(told)}, default=_plain))
    else:
        whole = found.csv(guarding.guarded if guard else str)
        typer.echo(_written(filled, output, False, guard) if whole is None else _kept(*whole, output), nl=False)


def misfits(found: list["Misfit"]) -> str:
    """Rows that do not fit, a line each."""
    lines = ["", "rows that fit worst: log-likelihood, and the cells that do not fit the rest"]
    for each in found:
        odd = "; ".join(f"{name}={value} ({fits:.2g})" for name, value, fits in each.cells)
        lines.append(f"  row {each.row:<8}{each.log_likelihood:>9.2f}  {odd}")
    return "\n".join(lines)


def _model(paths: list[Path], seed: int) -> tuple["Reasoner", Path]:
    from nbr import priors, tables
    from nbr.errors import NbrError
    from nbr.kinds import load_reasoner
    from nbr.learning import learned
    from nbr.progress import reporter

    if len(paths) == 2:
        return load_reasoner(paths[0]), paths[1]
    if len(paths) != 1:
        raise NbrError("impute takes a model and a table, or a table alone")
    data = tables.read(paths[0])
    for note in data.notes:
        print(note, file=sys.stderr)
    return learned(data, (), priors.trees(data, seed=seed, watch=reporter(True))), paths[0]


def _written(frame: "pd.DataFrame", output: Path | None, as_json: bool, guard: bool) -> str:
    if as_json:
        return json.dumps({"rows": _records(frame)}, default=_plain) + "\n"
    from nbr.app import guarding

    text: str = (guarding.guarded_frame(frame) if guard else frame).to_csv(index=False)
    return _kept(text, "utf-8", output)


def _kept(text: str, encoding: str, output: Path | None) -> str:
    """Nothing where it went to a file; else what goes to the screen."""
    from nbr.errors import NbrError
    from nbr.storage import write

    if output is None:
        return text
    try:
        write(output, text.encode(encoding))
    except UnicodeEncodeError as error:
        raise NbrError(
            f"the table is in {encoding}, which cannot spell {text[error.start]!r}: save it as UTF-8"
        ) from None
    return ""


def _records(frame: "pd.DataFrame") -> list[dict[str, object]]:
    return [
        {str(key): None if value != value else value for key, value in row.items()} for row in frame.to_dict("records")
    ]


def _plain(value: object) -> object:
    """What JSON does not know: numbers of numpy."""
    return value.item() if hasattr(value, "item") else str(value)
