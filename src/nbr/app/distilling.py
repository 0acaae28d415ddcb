"""The command that writes a learned model in words."""

import json
from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Budget, Force, Json, Model, fresh

OUTPUT = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        callback=fresh,
        help="A .toml file of statements, or a .nbr file, which may keep networks.",
        metavar="FILE",
    ),
]
AGREEMENT = Annotated[
    float, typer.Option(help="The share of points on which a statement must agree with its network.", metavar="SHARE")
]


def distil(
    model: Model,
    output: OUTPUT,
    force: Force = False,
    agreement: AGREEMENT = 0.99,
    budget: Budget = 10.0,
    as_json: Json = False,
) -> None:
    """Rewrite learned networks as short statements, and say what that lost.

    The budget is for asking both models the same questions.

    \b
    nbr distil learned.nbr -o readable.toml
    """
    from nbr.asking import SHOWN
    from nbr.errors import NbrError
    from nbr.kinds import load_reasoner

    if output.suffix.lower() not in (".toml", ".nbr"):
        raise NbrError(f"the name of the output must end in .toml or .nbr, not {output.name!r}")
    keep = output.suffix.lower() == ".nbr"
    found = load_reasoner(model).distil(agreement, keep=keep, budget=budget)
    found.reasoner.save(output)
    if as_json:
        typer.echo(json.dumps({"output": str(output), **found.as_json()}))
        return
    told = {words: sum(fate.became == name for fate in found.rules) for name, words in SHOWN.items()}
    head = [f"{len(found.rules)} rules", *(f"{count} {words}" for words, count in told.items() if count)]
    typer.echo(f"{output}: {', '.join(head)}\n\n{found}")
