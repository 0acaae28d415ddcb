"""The command that combines models."""

import json
from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Force, Json, NbrFile


def combine(
    models: Annotated[
        list[Path], typer.Argument(help="Two or more models that rest on independent evidence.", metavar="MODEL")
    ],
    output: NbrFile,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Combine models into one, and say how far they conflict.

    The result has the variables and rules of all. Variables of the same name must have the same values.

    \b
    nbr combine ours.toml theirs.toml -o both.nbr
    """
    from functools import reduce
    from operator import and_

    from nbr.app import screen
    from nbr.errors import NbrError
    from nbr.kinds import load_reasoner

    if len(models) < 2:
        raise NbrError("combine takes two or more models")
    joint = reduce(and_, map(load_reasoner, models))
    conflict = joint.ask("true").conflict
    joint.save(output)
    if as_json:
        typer.echo(json.dumps({"output": str(output), "conflict": conflict, **screen.model_json(joint)}))
    else:
        typer.echo(f"{output}: {len(joint.world)} variables, {len(joint.rules)} rules, conflict {conflict:.4f}")
