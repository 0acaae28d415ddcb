"""The command that writes a learned model in words."""

import json
from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Budget, Json, Model

OUTPUT = Annotated[Path, typer.Option("-o", "--output", help="A .toml has words alone; in a .nbr networks may stay.")]
AGREEMENT = Annotated[float, typer.Option(help="The share of points on which words and rule must say the same.")]


def distil(
    model: Model, output: OUTPUT, agreement: AGREEMENT = 0.99, budget: Budget = 10.0, as_json: Json = False
) -> None:
    """Put short statements in the place of learned networks, and say what that lost.

    The budget is for asking both models the same questions.
    """
    from nbr.errors import NbrError
    from nbr.kinds import load_reasoner

    if output.suffix.lower() not in (".toml", ".nbr"):
        raise NbrError(f"the output ends with .toml or .nbr, not as {output.name!r}")
    keep = output.suffix.lower() == ".nbr"
    found = load_reasoner(model).distil(agreement, keep=keep, budget=budget)
    found.reasoner.save(output)
    if as_json:
        typer.echo(json.dumps({"output": str(output), **found.as_json()}))
        return
    told = {name: sum(fate.became == name for fate in found.rules) for name in ("in words", "as it was", "dropped")}
    head = [f"{len(found.rules)} rules", *(f"{count} {name}" for name, count in told.items() if count)]
    typer.echo(f"{output}: {', '.join(head)}\n\n{found}")
