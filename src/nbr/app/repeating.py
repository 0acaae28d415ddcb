"""The command that computes the tables of the paper again."""

from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Force, Jobs, Json, fresh


def reproduce(
    table: Annotated[str, typer.Argument(help="table1, table2 or table3.", metavar="TABLE")],
    seeds: Annotated[int, typer.Option(help="For table1: the number of seeds, from 0.", metavar="N")] = 5,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", callback=fresh, help="The HTML report. Default: TABLE.html.", metavar="FILE"),
    ] = None,
    force: Force = False,
    budget: Annotated[
        str, typer.Option(help="For tables 2 and 3: quick or paper, the steps of each attack.", metavar="NAME")
    ] = "quick",
    images: Annotated[
        int, typer.Option(help="For tables 2 and 3: how many of the 1,991 test images.", metavar="N")
    ] = 200,
    only: Annotated[
        list[str] | None, typer.Option(help="For tables 2 and 3: one row. May be repeated.", metavar="ROW")
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where trained models and results are kept.", metavar="FOLDER")] = Path(
        "attacked"
    ),
    longer: Annotated[
        float | None,
        typer.Option(
            help="For table2: minutes from the start in which the paper's own steps may begin on images that are open.",
            metavar="MINUTES",
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Compute a table of the paper again, beside the paper's figures.

    Table 1 also has the exact optimum. A run that was stopped continues where it was. On one core a seed of Table 1
    takes a few minutes, and so does the row NBR of Table 2 on 200 images; rows that are trained first take longer.

    \b
    nbr reproduce table1 --seeds 1
    nbr reproduce table2 --only NBR
    """
    from nbr.app import reproduce as tables
    from nbr.errors import NbrError

    if table not in ("table1", "table2", "table3"):
        raise NbrError(f"unknown table {table!r}; there are table1, table2 and table3")
    report = output or Path(f"{table}.html")
    if table == "table1":
        tables.table1(seeds, report, as_json, jobs)
    else:
        typer.echo(tables.attacked(table, budget, images, only or [], folder, report, as_json, jobs, longer))
