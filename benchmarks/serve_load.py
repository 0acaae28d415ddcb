"""Load on `nbr serve` with the 11-bit model: questions come at their own times, answered or not.

    python benchmarks/serve_load.py [--rate 200] [--seconds 60] [-o docs/results/serve-load.json]

Two phases: quick questions alone; then the same beside a client that sends garbage, bodies too large, requests that
break off half-way and slow questions. Latency counts from the moment a question was due: a server that stalls is not
spared. Server, both clients and this script share the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CONNECTIONS = 64
HEAD = "POST /api/{} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
HOSTILE = 20.0  # seconds of the second phase


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    command = [sys.executable, "-m", "nbr", "serve", str(ROOT / "examples" / "majority.toml"), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r":(\d+)/", server.stderr.readline())
        assert found
        port = int(found[1])
        try:
            asyncio.run(load(port, server.pid, asked.rate, 2.0))  # what is loaded at first use
            alone = asyncio.run(load(port, server.pid, asked.rate, asked.seconds))
            bad = subprocess.Popen([sys.executable, __file__, "--hostile", str(port)], stdout=subprocess.PIPE)
            beside = asyncio.run(load(port, server.pid, asked.rate, HOSTILE))
            bad.terminate()
            sent = json.loads((bad.communicate()[0] or b"{}").splitlines()[-1])
        finally:
            server.terminate()
    told = {
        "rate": asked.rate,
        "cores": os.cpu_count(),
        "alone": alone,
        "beside a hostile client": {**beside, "sent": sent},
    }
    print(json.dumps(told, indent=2))
    if asked.output:
        asked.output.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


async def load(port: int, pid: int, rate: float, seconds: float) -> dict[str, Any]:
    """Questions at a rate for so many seconds: errors, latencies in ms, and the memory of the server in MB."""
    draw, free = random.Random(0), asyncio.Queue[Any]()
    for _ in range(CONNECTIONS):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    took: list[float] = []
    wrong: list[str] = []
    start, memory, spent, before = time.perf_counter(), [resident(pid)], computing(pid), busy()

    async def one(due: float) -> None:
        line = await free.get()
        try:
            status, body = await ask(line, question(draw))
            took.append(1000 * (time.perf_counter() - due))
            if status != 200 or not 0 <= json.loads(body)["belief"] <= 1:
                wrong.append(f"{status} {body[:80]!r}")
        except (OSError, asyncio.IncompleteReadError) as error:
            wrong.append(repr(error))
            line = await asyncio.open_connection("127.0.0.1", port)
        free.put_nowait(line)

    waiting, mine = [], computing(os.getpid())
    for number in range(int(rate * seconds)):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        waiting.append(asyncio.create_task(one(due)))
        if number % int(rate) == 0:
            memory.append(resident(pid))
    await asyncio.gather(*waiting)
    while not free.empty():
        free.get_nowait()[1].close()
    parts = statistics.quantiles(took, n=1000)
    tail = memory[len(memory) // 6 :]
    return {
        "questions": len(waiting),
        "errors": len(wrong),
        "first errors": wrong[:3],
        "median ms": round(parts[499], 2),
        "99% ms": round(parts[989], 2),
        "99.9% ms": round(parts[998], 2),
        "largest ms": round(max(took), 2),
        "client's and server's share of a core": round(
            (computing(pid) - spent + computing(os.getpid()) - mine) / (time.perf_counter() - start), 2
        ),
        "server's computing, ms a question": round(1000 * (computing(pid) - spent) / len(waiting), 2),
        "cores busy, on average": round((busy() - before) / (time.perf_counter() - start), 2),
        "seconds": round(time.perf_counter() - start, 2),
        "memory MB": {"start": memory[0], "after a sixth": tail[0], "end": tail[-1], "largest": max(memory)},
    }


def question(draw: random.Random) -> dict[str, str]:
    """A bit, given some others: hardly ever the same twice."""
    bits = draw.sample(range(11), draw.randint(2, 8))
    return {"question": f"x{bits[0]}", "given": ", ".join(f"x{bit}={draw.randint(0, 1)}" for bit in bits[1:])}


async def ask(line: Any, body: dict[str, str]) -> tuple[int, bytes]:
    """One request on a connection that is kept; written out, so that the client costs little."""
    reader, writer = line
    content = json.dumps(body).encode()
    writer.write(HEAD.format("ask", len(content)).encode() + content)
    told = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", told)
    assert length
    return int(told.split(b" ", 2)[1]), await reader.readexactly(int(length[1]))


def resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


def computing(pid: int) -> float:
    """Seconds of processor time that the server has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy() -> float:
    """Seconds that all cores together have worked, for whomever."""
    user, nice, system, _, _, irq, softirq = map(
        int, Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=8)[1:8]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def hostile(port: int) -> None:
    """One client that does everything wrong, one thing after the other, as fast as it can."""
    import signal
    import socket

    sent = dict.fromkeys(("garbage", "too large", "half a request", "slow", "answers"), 0)
    stopped: list[bool] = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    open_ones: list[socket.socket] = []
    explain = json.dumps({"question": "x5", "given": "x0=1, x1..x4=0", "budget": 10}).encode()
    sample = json.dumps({"count": 10_000}).encode()
    kinds = [
        ("garbage", os.urandom(2_000)),
        ("garbage", HEAD.format("ask", 9).encode() + b'{"a": [[['),
        ("too large", HEAD.format("ask", 1 << 20).encode() + b" " * (1 << 20)),
        ("half a request", HEAD.format("ask", 50).encode() + b'{"quest'),
        ("slow", HEAD.format("explain", len(explain)).encode() + explain),
        ("slow", HEAD.format("sample", len(sample)).encode() + sample),
    ]
    while not stopped:
        for name, content in kinds:
            try:
                line = socket.create_connection(("127.0.0.1", port), timeout=0.2)
                line.sendall(content)
                sent[name] += 1
                if name == "half a request":
                    open_ones.append(line)
                    if len(open_ones) > 100:
                        open_ones.pop(0).close()
                    continue
                sent["answers"] += bool(line.recv(1 << 16))
                line.close()
            except OSError:
                pass
    print(json.dumps(sent), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--hostile"]:
        hostile(int(sys.argv[2]))
    else:
        main()
