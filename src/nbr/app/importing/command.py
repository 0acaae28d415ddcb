"""The command that turns other people's models into rules."""

import json
from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Force, Json, fresh

Source = Annotated[Path, typer.Argument(help="A Bayesian network in BIF.", metavar="FILE")]
Output = Annotated[
    Path, typer.Option("-o", "--output", callback=fresh, help="The .toml file to write.", metavar="MODEL.toml")
]


def imported(source: Source, output: Output, force: Force = False, as_json: Json = False) -> None:
    """Turn a model of another program into rules that answer the same.

    A Bayesian network (.bif) becomes one rule with several possibilities for each row of its tables: belief,
    plausibility and probability are then the same.

    \b
    nbr import asia.bif -o asia.toml
    """
    from nbr.app.importing import bif
    from nbr.errors import NbrError
    from nbr.kinds import parsed
    from nbr.storage import container
    from nbr.storage.atomic import write

    if source.suffix.lower() != ".bif":
        raise NbrError(f"{source}: only networks in BIF, files that end in .bif, can be taken")
    if output.suffix.lower() != ".toml":
        raise NbrError(f"the name of the output must end in .toml, not {output.name!r}")
    try:
        text = container.toml(bif.model(container.read(source).decode(errors="replace")))
    except NbrError as error:
        raise NbrError(f"{source}: {error}") from None
    found = parsed(text, output.parent, output.name)
    write(output, text.encode())
    told = {"output": str(output), "variables": len(found.world), "rules": len(found.rules)}
    typer.echo(json.dumps(told) if as_json else f"{output}: {told['variables']} variables, {told['rules']} rules")
