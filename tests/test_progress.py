"""One reporter: silent, plain lines where nobody watches, a bar on a terminal; always on stderr."""

import io
import os
import pty
import subprocess
import sys
import types

import pytest
from rich.console import Console

from nbr import progress
from nbr.progress import Progress, reporter, silent


def run(watch, steps: int = 5, ended: bool = True) -> None:
    for step in range(1, steps + 1):
        watch(Progress("networks", step, 5, {"loss": 1 / step}))
    if ended:
        watch(Progress("networks", steps, 5, {"loss": 1 / steps}, ended=True))


def test_silent_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    assert reporter(False) is silent
    run(reporter(False))
    told: list[Progress] = []
    run(reporter(told.append))
    assert [each.done for each in told] == [1, 2, 3, 4, 5, 5]
    assert capfd.readouterr() == ("", "")


def test_lines_now_and_then(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 4.0, 8.0, 12.0, 16.0, 20.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    run(reporter(True))
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "networks: 4 of 5, loss 0.2500, up to 4 s left",
        "networks: 5 of 5, loss 0.2000",
    ]


BAR = """
import sys
sys.path.insert(0, sys.argv[1])
from test_progress import run
from nbr.progress import reporter
watch = reporter(True)
run(watch, 3)
run(watch, 5)
print("done")
"""


def test_a_bar_on_a_terminal() -> None:
    """One bar for each stage, closed at its end, and nothing on stdout."""
    screen, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-c", BAR, os.path.dirname(__file__)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=end, env=environment, timeout=60, check=True)
    os.close(end)
    shown = io.BytesIO()
    try:
        while part := os.read(screen, 4096):
            shown.write(part)
    except OSError:  # the other end is closed
        pass
    text = shown.getvalue().decode()
    assert done.stdout == b"done\n"
    assert "networks" in text
    assert "3/5" in text
    assert "5/5" in text
    assert "loss 0.2000" in text
    assert text.count("\x1b[?25h") == 2  # the cursor is back after each


def test_a_bar_fits_80_columns_with_its_count_whole() -> None:
    bars = progress._bars("networks, held out rows", 10_000)
    bars.add_task("networks, held out rows", completed=4_321, total=10_000, words="loss 12.3456, held out -5.9941")
    screen = Console(width=80, file=io.StringIO())
    screen.print(bars.get_renderable())
    (line,) = screen.file.getvalue().splitlines()
    assert len(line) <= 80
    assert line.startswith("networks, held out rows 4,321/10,000 ")
    assert "loss 12.3456" in line


def test_a_notebook_is_told_unless_it_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reporter(None) is silent
    shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert reporter(None) is not silent
    assert reporter(False) is silent
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert reporter(None) is silent
