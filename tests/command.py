"""The command line within the process of the tests: a new process spends seconds on loading torch again."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from nbr.app.main import main


def run(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What `nbr WORDS` prints and its exit code, run in a folder."""
    command, status = ["nbr", *map(str, words)], 0
    out, told = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        mock.patch.object(sys, "argv", command),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(told),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
    return subprocess.CompletedProcess(command, status, out.getvalue(), told.getvalue())
