"""A server in a thread of the tests, with a real socket before it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn

from nbr.app.serving.api import create
from nbr.app.serving.connections import settings
from nbr.app.serving.limits import Allowed
from nbr.app.serving.security import Door


@contextlib.contextmanager
def served(
    model: Any,
    name: str = "model",
    door: Door | None = None,
    allowed: Allowed | None = None,
    apart: bool = False,
    path: Path | None = None,
) -> Iterator[str]:
    """The address of a server for a model, which ends with the block."""
    allowed = allowed or Allowed()
    app = create(model, name, door or Door(), allowed, apart, path)
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    config = settings(app, allowed)
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
