"""`nbr serve`: connections that say nothing, too much, too slowly, or are too many, keep nobody out."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import nbr
from nbr.app.serving.limits import Allowed
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
ASK = {"question": "rain", "given": "grass=wet, ~sprinkler"}
HEAD = b"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SHORT = Allowed(first_byte=0.6, head=0.6, upload=0.3, kept_alive=0.6)


@pytest.fixture(scope="module")
def garden() -> Iterator[str]:
    with served(nbr.load(EXAMPLES / "garden.toml")) as address:
        yield address


@pytest.fixture(scope="module")
def hurried() -> Iterator[str]:
    with served(nbr.load(EXAMPLES / "garden.toml"), allowed=SHORT) as address:
        yield address


def line_to(address: str, words: bytes = b"") -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    line = socket.create_connection((host, int(port)), timeout=20)
    line.sendall(words)
    return line


def heard(line: socket.socket) -> bytes:
    """All that is said until the end."""
    said = b""
    with contextlib.suppress(ConnectionError):
        while part := line.recv(1 << 16):
            said += part
    line.close()
    return said


def asked(address: str) -> float:
    """Seconds that a quick question takes."""
    start = time.monotonic()
    found = httpx.post(f"{address}/api/ask", json=ASK, timeout=20)
    assert (found.status_code, found.json()["belief"]) == (200, 0.7)
    return time.monotonic() - start


def test_six_hundred_idle_connections_keep_nobody_out(garden: str) -> None:
    asked(garden)
    lines = [line_to(garden, b"GET / HTTP/1.1\r\nHost: lo"[: number % 25]) for number in range(600)]
    assert asked(garden) < 2.0
    closed = select.select(lines, [], [], 1.0)[0]
    assert len(closed) >= 600 - Allowed().of_one_address
    for line in lines:
        line.close()


def test_who_was_answered_stays_longer_than_who_said_nothing(garden: str) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    known = line_to(garden, request)
    assert known.recv(1 << 16).startswith(b"HTTP/1.1 200")
    lines = [line_to(garden) for _ in range(200)]
    asked(garden)
    known.sendall(request)
    assert known.recv(1 << 16).startswith(b"HTTP/1.1 200")
    for line in (known, *lines):
        line.close()


def test_there_is_room_for_all_addresses_together() -> None:
    allowed = Allowed(connections=10, of_one_address=6)
    with served(nbr.load(EXAMPLES / "garden.toml"), allowed=allowed) as address:
        host, port = address.removeprefix("http://").split(":")
        lines = [
            socket.create_connection((host, int(port)), source_address=(f"127.0.0.{last}", 0))
            for last in (2, 3, 4)
            for _ in range(6)
        ]
        time.sleep(0.2)
        closed = select.select(lines, [], [], 1.0)[0]
        assert len(lines) - len(closed) == 10
        assert all(line in closed for line in lines[:6])
        asked(address)
        for line in lines:
            line.close()


def test_work_keeps_its_place_and_what_is_beyond_is_told() -> None:
    def grade(points):
        time.sleep(0.5)
        return points[:, 0]

    model = nbr.Reasoner(nbr.World.bits(1), [nbr.Fuzzy(grade, belief=0.5)])
    body = b'{"question": "x0"}'
    request = HEAD.replace(b"/ask", b"/explain") + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body
    with served(model, allowed=Allowed(of_one_address=2, slow_workers=2)) as address:
        working = [line_to(address, request) for _ in range(2)]
        time.sleep(0.2)
        assert heard(line_to(address, b"GET /healthz HTTP/1.1\r\n")).startswith(b"HTTP/1.1 503")
        assert [heard(line)[:12] for line in working] == [b"HTTP/1.1 200"] * 2
        assert httpx.get(f"{address}/healthz").status_code == 200


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"", b""),
        (b"\r\n\r\n", b""),
        (b"GET / HTT", b"408"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"408"),
        (HEAD + b"Content-Length: 50\r\n\r\n{", b"408"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n", b"408"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"200"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\r\n", b"200"),
        (HEAD.replace(b"localhost", b"elsewhere") + b"Content-Length: 50\r\n\r\n{", b"421"),
    ],
)
def test_who_does_not_come_to_an_end_is_left(hurried: str, words: bytes, status: bytes) -> None:
    """Also one that was turned away and goes on sending its body, a byte now and then."""
    start = time.monotonic()
    line = line_to(hurried, words)
    if status == b"421":
        with contextlib.suppress(ConnectionError):
            for _ in range(60):
                line.sendall(b" " if time.monotonic() - start > 0.2 else b"")
                time.sleep(0.05)
                if select.select([line], [], [], 0)[0] and not line.recv(1 << 16, socket.MSG_PEEK):
                    break
    said = heard(line)
    assert said[9:12] == status
    assert 0.25 < time.monotonic() - start < 6


@pytest.mark.parametrize(
    ("begin", "more", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X-More: " + b"a" * 1_000 + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ", b"a" * 1_000, b"431"),
        (b"GET /", b"a" * 1_000, b"431"),
        (b"", b"\r\n" * 500, b"431"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-More: " + b"a" * 1_000 + b"\r\n", b"431"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-Long: ", b"a" * 1_000, b"431"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"a" * 1_000, b"431"),
        (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"200"),
    ],
)
def test_endless_words_end(garden: str, begin: bytes, more: bytes, status: bytes) -> None:
    """Whatever has no end is cut off before a megabyte of it was taken, or is answered as it comes."""
    line, sent = line_to(garden, begin), 0
    line.setblocking(False)
    said = b""
    with contextlib.suppress(ConnectionError):
        while sent < 1 << 22 and (status != b"200" or sent < 1 << 16):
            readable, writable, _ = select.select([line], [line], [], 10)
            if readable:
                part = line.recv(1 << 16)
                said += part
                if not part:
                    break
            if writable:
                sent += line.send(more * 20)
    line.close()
    assert said[9:12] in (status, b"")
    assert status == b"200" or sent < 1 << 22
    assert asked(garden) < 2.0


def test_a_head_of_many_fields_in_one_piece_is_refused(garden: str) -> None:
    start = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    assert heard(line_to(garden, start + b"X: y\r\n" * 200 + b"\r\n"))[9:12] == b"431"
    assert heard(line_to(garden, start + b"X: " + b"y" * 40_000 + b"\r\n\r\n"))[9:12] == b"431"
    assert heard(line_to(garden, start + b"X: y\r\n" * 50 + b"Connection: close\r\n\r\n"))[9:12] == b"200"
