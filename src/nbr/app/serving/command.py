"""`nbr serve`: load a model, open a door, run until Ctrl-C."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.errors import NbrError, install

if TYPE_CHECKING:
    import socket

HERE = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
CONNECTIONS = 512


def serve(
    model: Annotated[str, typer.Argument(help="A model: a .nbr or .toml file, mnist-4-9 or mnist-10.")],
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8000,
    host: Annotated[str, typer.Option(help="Where to listen; other than this computer's own needs a token.")] = HERE[0],
    token: Annotated[str | None, typer.Option(envvar="NBR_TOKEN", help="The token; else one is made up.")] = None,
    budget: Annotated[float, typer.Option(help="Seconds that a request may take at the most.")] = 10.0,
) -> None:
    """A page to ask, look and test in, and an API, for one model. Ctrl-C ends it."""
    import secrets
    import socket

    try:
        import uvicorn

        from nbr.app.serving.api import create
        from nbr.app.serving.limits import Allowed
        from nbr.app.serving.security import Door
    except ModuleNotFoundError as error:
        raise NbrError(f"nbr serve needs {error.name}: {install('serve')}") from None
    from nbr.kinds import load

    if not 0 <= port < 1 << 16:
        raise NbrError(f"a port is a number from 0 to 65535, not {port}")
    if not 0 < budget < float("inf"):
        raise NbrError(f"the budget is a number of seconds above 0, not {budget}")
    found = load(model)
    made = token or (None if host in HERE else secrets.token_urlsafe(24))
    app = create(found, Path(model).name, Door.of(host, made), Allowed(seconds=budget), apart=True)
    settings = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(budget) + 1,
    )
    shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    with _listen(host, port) as listening, contextlib.suppress(KeyboardInterrupt):
        address = f"http://{shown}:{listening.getsockname()[1]}/" + ("" if made is None else f"#token={made}")
        print(f"{Path(model).name}: {address}   (Ctrl-C ends it)", file=sys.stderr, flush=True)
        uvicorn.Server(settings).run(sockets=[listening])


def _listen(host: str, port: int) -> "socket.socket":
    """A socket at which the server can be reached, before anything is said about it."""
    import socket

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    except OSError as error:
        raise NbrError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from None
