"""Attacks on `nbr serve` from this computer, each with its figures: what they cost, and who is still answered.

    python benchmarks/serve_attacks.py [-o docs/results/serve-attacks.json]

A question made of ranges, a hundred times, on a small and on a large world; 600 connections that say nothing; heads
without end, for fifteen seconds; SIGTERM and SIGKILL while slow questions are worked on. Only loopback is used.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
RANGES = ", ".join(["x0..x19999"] * 332)
IDLE = 600
ENDLESS = 15.0  # seconds
LARGE = '[variables]\n"x0..x19999" = "bit"\n[[rules]]\nrule = "x0 -> x1"\nbelief = 0.9\n'


@contextlib.contextmanager
def serving(model: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "nbr", "serve", str(model), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        port = re.search(r":(\d+)/", server.stderr.readline())
        assert port
        try:
            yield server, int(port[1])
        finally:
            server.kill()


def ask(port: int, question: str, timeout: float = 120.0) -> tuple[int | str, float]:
    """The status and the seconds of a question."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/ask",
        json.dumps({"question": question}).encode(),
        {"Content-Type": "application/json"},
    )
    start = time.perf_counter()
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            status: int | str = answer.status
    except urllib.error.HTTPError as error:
        status = error.code
    except OSError as error:
        status = type(error).__name__
    return status, time.perf_counter() - start


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def ranges(model: Path, times: int) -> dict[str, Any]:
    with serving(model) as (server, port):
        ask(port, "x1")
        before, took, statuses = resident(server.pid), [], set()
        for number in range(times):
            status, seconds = ask(port, f"x{number % 11}, {RANGES}")
            took.append(seconds)
            statuses.add(status)
        return {
            "questions": times,
            "statuses": sorted(map(str, statuses)),
            "longest s": round(max(took), 3),
            "memory MB": {"before": before, "after": resident(server.pid)},
        }


def idle(model: Path) -> dict[str, Any]:
    with serving(model) as (_, port):
        ask(port, "x1")
        lines = []
        for _ in range(IDLE):
            with contextlib.suppress(OSError):
                lines.append(socket.create_connection(("127.0.0.1", port), timeout=5))
        time.sleep(0.5)
        status, seconds = ask(port, "x1", timeout=20)
        for line in lines:
            line.close()
        return {"connections": len(lines), "a quick question": status, "s": round(seconds, 3)}


def endless(model: Path) -> dict[str, Any]:
    """Four kinds of heads without end, each begun again when it is cut off."""
    start = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    kinds = [
        (start, b"X-More: " + b"a" * 4_000 + b"\r\n"),
        (start + b"X-Long: ", b"a" * 4_000),
        (b"GET /", b"a" * 4_000),
    ]
    chunked = (
        b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
    )
    kinds.append((chunked + b"\r\n\r\n0\r\nX-Long: ", b"a" * 4_000))
    with serving(model) as (server, port):
        ask(port, "x1")
        before, most, sent, cut, longest = resident(server.pid), 0.0, 0, 0, 0.0
        lines: dict[socket.socket, bytes] = {}
        end, due = time.monotonic() + ENDLESS, time.monotonic()
        while time.monotonic() < end:
            for begin, more in kinds[len(lines) :]:
                line = socket.create_connection(("127.0.0.1", port), timeout=5)
                line.sendall(begin)
                line.setblocking(False)
                lines[line] = more
            for line in select.select([], list(lines), [], 1)[1]:
                try:
                    sent += line.send(lines[line])
                except BlockingIOError:
                    continue
                except OSError:
                    cut += 1
                    lines.pop(line)
                    line.close()
            if time.monotonic() > due:
                due += 1.0
                most = max(most, resident(server.pid))
                longest = max(longest, ask(port, "x1", timeout=20)[1])
        for line in lines:
            line.close()
        return {
            "seconds": ENDLESS,
            "sent MB": round(sent / 1e6, 1),
            "cut off": cut,
            "a quick question, longest s": round(longest, 3),
            "memory MB": {"before": before, "largest": most, "after": resident(server.pid)},
        }


def ended(model: Path, how: signal.Signals) -> dict[str, Any]:
    from app.test_serving_ends import alive, family

    body = json.dumps({"question": "x0", "given": "x1"}).encode()
    head = (
        b"POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    )
    with serving(model, "--budget", "60") as (server, port), contextlib.ExitStack() as lines:
        for _ in range(2):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", port)))
            line.sendall(head % len(body) + body)
        time.sleep(15)  # both workers are there, and at work
        known = family(server.pid)
        memory = {pid: resident(pid) for pid in known}
        server.send_signal(how)
        start = time.monotonic()
        while (alive(known) or server.poll() is None) and time.monotonic() - start < 30:
            time.sleep(0.02)
        took, left = time.monotonic() - start, alive(known)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return {
            "processes beside the server": len(known),
            "their memory MB": sorted(memory.values()),
            "left": len(left),
            "s until nothing was left": round(took, 2),
        }


def main() -> None:
    from slow_model import slow_toml

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, large, slow = ROOT / "examples" / "majority.toml", Path(folder, "large.toml"), Path(folder, "slow.toml")
        large.write_text(LARGE, encoding="utf-8")
        slow.write_text(slow_toml(), encoding="utf-8")
        attacks = {
            "ranges, 11 bits": lambda: ranges(small, asked.times),
            "ranges, 20,000 bits": lambda: ranges(large, asked.times),
            "idle connections": lambda: idle(small),
            "heads without end": lambda: endless(small),
            "SIGTERM during slow work": lambda: ended(slow, signal.SIGTERM),
            "SIGKILL during slow work": lambda: ended(slow, signal.SIGKILL),
        }
        told = {}
        for name, attack in attacks.items():
            told[name] = attack()
            print(f"{name}: {json.dumps(told[name])}", flush=True)
    if asked.output:
        asked.output.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
