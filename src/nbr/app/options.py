"""Arguments and options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

from nbr.errors import NbrError

Model = Annotated[Path, typer.Argument(help="A model: a .nbr file, or a .toml file written by hand.", metavar="MODEL")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Given = Annotated[
    list[str] | None, typer.Option(help="A condition, such as 'x0=1, x1..x4=0'. May be repeated.", metavar="CONDITION")
]
See = Annotated[
    list[str] | None,
    typer.Option(help="A picture for a variable that has a sensor. May be repeated.", metavar="NAME=FILE"),
]
SeeTable = Annotated[
    Path | None, typer.Option(help="A CSV file with a column of picture files for each variable.", metavar="FILE")
]
Jobs = Annotated[
    int | None, typer.Option(help="The number of processes; -1 uses all cores. Results stay the same.", metavar="N")
]
Guard = Annotated[bool, typer.Option("--guard", help="Keep spreadsheets from running cells of a CSV as formulas.")]
Seed = Annotated[int, typer.Option(help="The seed of all randomness.", metavar="N")]
Force = Annotated[bool, typer.Option("--force", is_eager=True, help="Overwrite the output file if it exists.")]


def condition(given: list[str] | None) -> str | None:
    """Several conditions as one."""
    return ", ".join(given) if given else None


def fresh(context: typer.Context, path: Path | None) -> Path | None:
    """An output file that is not there yet, is empty, or may be overwritten: checked before any work is done."""
    if path is None or context.params.get("force") or context.resilient_parsing:
        return path
    if path.is_file() and path.stat().st_size:
        raise NbrError(f"{path} exists already; --force overwrites it")
    return path


def above_zero(seconds: float) -> float:
    """A budget: an answer that is known at once would else be given, whatever was written."""
    if not seconds > 0:
        raise NbrError(f"--budget must be a number of seconds above 0, not {seconds:g}")
    return seconds


Budget = Annotated[float, typer.Option(callback=above_zero, help="The time limit, in seconds.", metavar="SECONDS")]
NbrFile = Annotated[
    Path, typer.Option("-o", "--output", callback=fresh, help="The .nbr file to write.", metavar="MODEL.nbr")
]
