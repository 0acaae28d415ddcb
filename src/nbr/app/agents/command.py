"""The command that puts a folder of models behind a language model."""

from pathlib import Path
from typing import Annotated

import typer

Offered = Annotated[
    list[str] | None, typer.Argument(help="The models of the folder to offer; else all.", metavar="MODEL")
]
Folder = Annotated[Path, typer.Option(help="Where the models are. Nothing outside is read or written.")]
Seconds = Annotated[float, typer.Option(help="Seconds that an answer may take.", metavar="SECONDS")]


def mcp(models: Offered = None, folder: Folder = Path("."), budget: Seconds = 10.0) -> None:
    """Offer models to a language model as tools, over the Model Context Protocol.

    It speaks on stdin and stdout; the program that runs the language model starts it. Tools write models and rules
    with source, quote and date, check them, ask, explain, decide, and say what to look at next.

    \b
    nbr mcp --folder reports
    nbr mcp --folder reports incident.toml
    """
    from nbr.app.agents.shelf import Shelf
    from nbr.asking import AskSettings
    from nbr.errors import NbrError, install

    AskSettings(budget=budget)
    shelf = Shelf(folder, models or ())
    try:
        import anyio

        from nbr.app.agents.server import serve
    except ModuleNotFoundError as error:
        raise NbrError(f"nbr mcp needs {error.name}: {install('mcp')}") from None
    anyio.run(serve, shelf, budget)
