"""Arguments and options that several commands have in common."""

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[Path, typer.Argument(help="A model: a .nbr file, or a .toml written by hand.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Given = Annotated[list[str] | None, typer.Option(help="A condition, such as 'x0=1, x1..x4=0'.")]
Jobs = Annotated[int | None, typer.Option(help="Processes to work in, -1 for all cores; results stay the same.")]
Guard = Annotated[bool, typer.Option("--guard", help="Keep spreadsheets from running cells of a CSV as formulas.")]
Budget = Annotated[float, typer.Option(help="Seconds that it may take.")]


def condition(given: list[str] | None) -> str | None:
    """Several conditions as one."""
    return ", ".join(given) if given else None


Reject = Annotated[
    float | None, typer.Option(help="Say which pictures to pass on, for this share of the others to be right: 0.95.")
]
