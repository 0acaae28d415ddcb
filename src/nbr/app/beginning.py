"""`nbr init`: a rule file to start from."""

from pathlib import Path
from typing import Annotated

import typer

from nbr.app.options import Force, fresh
from nbr.errors import NbrError

TEMPLATE = Path(__file__).with_name("first.toml")


def init(
    output: Annotated[
        Path, typer.Argument(callback=fresh, help="The .toml file to write. Default: first.toml.", metavar="FILE")
    ] = Path("first.toml"),
    force: Force = False,
) -> None:
    """Write a small rule file, with comments, that already answers.

    \b
    nbr init first.toml
    nbr ask first.toml grass=wet --given rain
    """
    from nbr.storage import write

    if output.suffix.lower() != ".toml":
        raise NbrError(f"the name of a rule file must end in .toml, not {output.name!r}")
    name = f"'{output}'" if " " in str(output) else str(output)
    write(output, TEMPLATE.read_text(encoding="utf-8").replace("FILE", name).encode())
    typer.echo(f"{output}: 4 variables, 4 rules\n\n  nbr ask {name} grass=wet --given rain\n  nbr serve {name}")
