"""`nbr serve` that is ended, or killed, while it works: nothing of it stays behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slow_model import slow_toml

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked for in /proc")


def family(pid: int) -> set[int]:
    """Processes that one has started, and those that they have."""
    found: set[int] = set()
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(place.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found |= {int(place.parent.name)} | family(int(place.parent.name))
    return found


def alive(pids: set[int]) -> set[int]:
    def state(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return "gone"

    return {pid for pid in pids if state(pid) not in ("gone", "Z", "X")}


def wait(until, seconds: float) -> float:
    """Seconds that it took."""
    start = time.monotonic()
    while not until() and time.monotonic() - start < seconds:
        time.sleep(0.05)
    return time.monotonic() - start


def test_nothing_is_left_five_seconds_after_it_was_told_to_end(tmp_path: Path) -> None:
    (tmp_path / "slow.toml").write_text(slow_toml())
    command = [sys.executable, "-m", "nbr", "serve", str(tmp_path / "slow.toml"), "--port", "0", "--budget", "60"]
    body = b'{"question": "x0", "given": "x1"}'
    head = b"POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    known: set[int] = set()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            port = re.search(r":(\d+)/", server.stderr.readline())
            assert port
            with (
                socket.create_connection(("127.0.0.1", int(port[1]))) as one,
                socket.create_connection(("127.0.0.1", int(port[1]))) as other,
            ):
                for line in (one, other):
                    line.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                wait(lambda: len(family(server.pid)) >= 2, 60)  # a worker, and who tidies up after it
                time.sleep(1.0)
                known = family(server.pid)
                server.send_signal(signal.SIGTERM)
                assert wait(lambda: server.poll() is not None and not alive(known), 6) < 5
            assert len(known) >= 2
            assert server.returncode == -signal.SIGTERM
        finally:
            server.kill()
            for pid in alive(known):
                os.kill(pid, signal.SIGKILL)


def test_a_worker_ends_with_a_server_that_was_killed() -> None:
    watching = "import os; from nbr.app.serving.limits import _end_with; print(os.getpid(), flush=True); "
    watching += "_end_with(os.getppid())"
    starting = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    with subprocess.Popen([sys.executable, "-c", starting, watching], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        worker = {int(server.stdout.readline())}
        time.sleep(0.3)
        assert alive(worker)
        server.kill()
        assert wait(lambda: not alive(worker), 5) < 3
