"""`nbr serve`: load a model, open a door, run until Ctrl-C."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nbr.errors import NbrError, install

if TYPE_CHECKING:
    import socket

HERE = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
WAITING = 512  # connections that have not been taken yet


def serve(
    model: Annotated[
        str, typer.Argument(help="A model: a .nbr or .toml file, mnist-4-9 or mnist-10.", metavar="MODEL")
    ],
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.", metavar="N")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Any address but 127.0.0.1 needs a token.", metavar="ADDRESS")
    ] = HERE[0],
    token: Annotated[
        str | None, typer.Option(envvar="NBR_TOKEN", help="The token. Default: a new one.", metavar="TEXT")
    ] = None,
    budget: Annotated[float, typer.Option(help="The time limit of a request, in seconds.", metavar="SECONDS")] = 10.0,
) -> None:
    """Serve a model as a page in the browser and as an API.

    Only this computer can reach it unless --host says otherwise. Ctrl-C ends it.

    \b
    nbr serve garden.toml
    nbr serve mnist-4-9 --port 8080
    """
    import secrets
    import socket

    try:
        import uvicorn

        from nbr.app.serving.api import create
        from nbr.app.serving.connections import settings
        from nbr.app.serving.limits import Allowed
        from nbr.app.serving.security import Door
    except ModuleNotFoundError as error:
        raise NbrError(f"nbr serve needs {error.name}: {install('serve')}") from None
    from nbr.kinds import load

    if not 0 <= port < 1 << 16:
        raise NbrError(f"a port must be a number from 0 to 65535, not {port}")
    if not 0 < budget < float("inf"):
        raise NbrError(f"the budget must be a number of seconds above 0, not {budget}")
    found = load(model)
    made = token or (None if host in HERE else secrets.token_urlsafe(24))
    allowed = Allowed(seconds=budget)
    place = Path(model)
    app = create(found, place.name, Door.of(host, made), allowed, apart=True, path=place if place.is_file() else None)
    shown = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    with _listen(host, port) as listening, _nothing_left(), contextlib.suppress(KeyboardInterrupt):
        address = f"http://{shown}:{listening.getsockname()[1]}/" + ("" if made is None else f"#token={made}")
        print(f"{Path(model).name}: {address}   (Ctrl-C ends it)", file=sys.stderr, flush=True)
        uvicorn.Server(settings(app, allowed)).run(sockets=[listening])


@contextlib.contextmanager
def _nothing_left() -> Iterator[None]:
    """When uvicorn was told to end and has ended what it knows of, the rest that was started from here ends too."""
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: object) -> None:
    """Workers that are only just beginning, and programs that count."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            parent = int(place.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
            tidies_up = b"resource_tracker" in place.with_name("cmdline").read_bytes()  # and ends after the last of us
            if parent == os.getpid() and not tidies_up:
                os.kill(int(place.parent.name), signal.SIGKILL)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _listen(host: str, port: int) -> "socket.socket":
    """A socket at which the server can be reached, before anything is said about it."""
    import socket

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=WAITING)
    except OSError as error:
        raise NbrError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
