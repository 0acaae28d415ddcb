"""What reaches a terminal: names that would steer it are spelt out, and Ctrl-C inside a solver is one line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

import nbr
from command import run
from nbr.app.main import main

EVIL = "a\x1b[31mb\x9b1m\u202ec\x07"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(*words: object) -> tuple[str, str]:
    out, told = Terminal(), Terminal()
    with (
        mock.patch.object(sys, "argv", ["nbr", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(told),
        pytest.raises(SystemExit),
    ):
        main()
    assert sys.stdout is not out
    return out.getvalue(), told.getvalue()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    world = nbr.World({EVIL: nbr.Choice(EVIL, "v"), "x": nbr.Bit()})
    rules = [nbr.Clause("x", 0.5, EVIL), nbr.Clause("~x", 0.7), nbr.Clause(f'x -> "{EVIL}"=v', 0.9)]
    nbr.Reasoner(world, rules).save(tmp_path / "m.nbr")
    (tmp_path / "t.csv").write_text(f"{EVIL},x,{EVIL}2\nv,1,1\n,0,2\n")
    return tmp_path / "m.nbr"


COMMANDS = ["show", "ask", "rank", "explain", "check", "best", "sample", "impute", "score", "wrong"]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_name_steers_a_terminal(command: str, model: Path, tmp_path: Path) -> None:
    words: list[object] = {
        "ask": ["ask", model, f'"{EVIL}"=v', "--given", "x"],
        "rank": ["ask", model, f'"{EVIL}"'],
        "explain": ["explain", model, f'"{EVIL}"=v', "--given", "x"],
        "impute": ["impute", model, tmp_path / "t.csv"],
        "score": ["score", model, tmp_path / "t.csv"],
        "wrong": ["ask", model, f'"{EVIL}2"=v'],
    }.get(command, [command, model])
    for shown in on_terminal(*words):
        assert not set(shown) & set("\x1b\x9b\x07\u202e")
    assert any("\\x1b[31m" in shown for shown in on_terminal(*words)) or command == "score"


def test_json_and_files_stay_what_they_are(model: Path) -> None:
    assert EVIL in json.loads(on_terminal("show", model, "--json")[0])["variables"]
    assert run("sample", model, "-n", 1).stdout.startswith(f"{EVIL},x")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as a fresh process takes it: a browser that other tests have left open takes it for itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("command", ["check", "explain", "best"])
def test_ctrl_c_inside_a_solver_is_one_line(command: str, tmp_path: Path) -> None:
    """Eleven holes for twelve pigeons keep any solver busy for minutes."""
    pytest.importorskip("pysat")
    holes, pigeons = range(11), range(12)
    rules = [nbr.Clause(" | ".join(f"p{i}_{j}" for j in holes), 0.9) for i in pigeons]
    rules += [nbr.Clause(f"at_most_one({', '.join(f'p{i}_{j}' for i in pigeons)})", 0.9) for j in holes]
    world = nbr.World({f"p{i}_{j}": nbr.Bit() for i in pigeons for j in holes})
    nbr.Reasoner(world, rules).save(tmp_path / "m.toml")
    asked = ["p0_0"] if command == "explain" else []
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    done = run(command, tmp_path / "m.toml", *asked, "--budget", 60)
    timer.join()
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "nbr: stopped\n")
    assert time.monotonic() - began < 10
