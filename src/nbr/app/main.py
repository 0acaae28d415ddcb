"""The entry point of `nbr`: errors become one line on stderr and exit code 2."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO, cast

from nbr.app.plain import PlainStream, plain

if TYPE_CHECKING:
    from nbr.errors import NbrError

INTERRUPTED = 130  # the exit status after Ctrl-C


def main() -> None:
    """Run the command line and exit.

    What is printed to a terminal is plain; what goes to a file or a pipe stays as it is, but for messages.
    """
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, PlainStream(each)) if each.isatty() else each for each in streams)
    try:
        interrupts = _Interrupts()
        with interrupts.noted():
            _run(interrupts)
    finally:
        sys.stdout, sys.stderr = streams


class _Interrupts:
    """Ctrl-C as Python takes it, and noted: a library that is being loaded may swallow it, and break."""

    breaks_off = True  # it does no more than that: training may take its place for a while

    def __init__(self) -> None:
        self.heard = False

    def __call__(self, number: int, frame: object) -> None:
        self.heard = True
        raise KeyboardInterrupt

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        here = threading.current_thread() is threading.main_thread()
        if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _run(interrupts: _Interrupts) -> None:
    try:
        from nbr.app.cli import app
    except ModuleNotFoundError as error:
        from nbr.errors import install

        _fail(f"the command line needs {error.name}: {install('cli')}")
    from typer.exceptions import Exit, TyperException

    from nbr.errors import NbrError

    try:
        status = app(
            standalone_mode=False, color=True, prog_name="nbr"
        )  # else data in a pipe would lose what looks like a colour
        sys.stdout.flush()
    except NbrError as error:
        if interrupts.heard:
            _fail("stopped", status=INTERRUPTED)
        _fail(*getattr(error, "parts", [str(error)]), error=error)
    except TyperException as error:
        _fail(f"{error.format_message()} (nbr --help shows how)")
    except Exit as stop:
        status = stop.exit_code
    except KeyboardInterrupt:
        _fail("stopped", status=INTERRUPTED)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # the reader has seen enough, as in `nbr show m.nbr | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        place = f" {error.filename}" if error.filename else ""
        _fail(f"cannot write{place}: {error.strerror or error}")
    except Exception as error:  # a fault of ours; still one line
        if interrupts.heard:
            _fail("stopped", status=INTERRUPTED)
        _fail(f"this should not have happened ({type(error).__name__}: {error}); please report it", status=1)
    if status == INTERRUPTED:  # typer took the KeyboardInterrupt
        _fail("stopped", status=INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _fail(*messages: str, status: int = 2, error: NbrError | None = None) -> None:
    for message in messages:
        print("nbr: " + plain(" ".join(message.split())), file=sys.stderr)
    if "--json" in sys.argv and status != INTERRUPTED:
        from nbr.app import failing

        print(json.dumps(failing.as_json(error or " ".join(messages))))
    sys.exit(status)
