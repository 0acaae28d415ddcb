"""Slow questions in processes of their own: what they answer, how errors come back, how a killed one is replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import nbr
from nbr.app.serving.limits import Allowed
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
BODY = {"question": "x5", "given": "x0=1, x1..x4=0, x6..x10=1"}


@pytest.fixture(scope="module")
def apart() -> Iterator[httpx.Client]:
    allowed = Allowed(slow_workers=1)
    with (
        served(nbr.load(EXAMPLES / "majority.toml"), allowed=allowed, apart=True) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def workers() -> list[int]:
    """The processes that this one has started to work."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(place.read_text().rpartition(")")[2].split()[1])
            words = (place.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == os.getpid() and b"loky" in words and b"resource_tracker" not in words:
            found.append(int(place.parent.name))
    return found


def test_what_is_slow_is_done_elsewhere_and_says_the_same(apart: httpx.Client) -> None:
    before = set(workers())
    told = apart.post("/api/explain", json=BODY).json()
    assert set(workers()) - before
    with served(nbr.load(EXAMPLES / "majority.toml")) as address:
        assert httpx.post(f"{address}/api/explain", json=BODY, timeout=60).json() == told


def test_an_error_comes_back_with_its_place(apart: httpx.Client) -> None:
    found = apart.post("/api/explain", json={**BODY, "given": "x0=1, y"})
    assert (found.status_code, found.json()["field"], found.json()["at"]) == (400, "given", 7)


def test_a_killed_process_is_replaced(apart: httpx.Client) -> None:
    apart.post("/api/explain", json=BODY)
    for pid in workers():
        os.kill(pid, signal.SIGKILL)
    found = []
    for _ in range(20):
        found.append(apart.post("/api/explain", json=BODY).status_code)
        if found[-1] == 200:
            break
        time.sleep(0.1)
    assert set(found[:-1]) <= {503}
    assert found[-1] == 200
    assert apart.post("/api/ask", json=BODY).json()["belief"] == pytest.approx(2 / 3)
