"""Requests that mean no good, one after the other: each is refused, soon, and the server goes on."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

import nbr
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = ["Host: localhost"]
TYPED = [*HERE, "Content-Type: application/json"]
RANGES = ", ".join(["x0..x19999"] * 332)
NESTED = "[" * 50_000


def asking(question: object, **more: object) -> bytes:
    return json.dumps({"question": question, **more}).encode()


# what is wrong with it: method, target, headers, body, and the statuses that may come back
CORPUS: dict[str, tuple[str, str, list[str], bytes, set[int]]] = {
    "no host": ("GET", "/", [], b"", {400, 421}),
    "two hosts": ("GET", "/", [*HERE, "Host: evil.example"], b"", {400}),
    "two hosts, ours last": ("GET", "/", ["Host: evil.example", *HERE], b"", {400}),
    "the same host twice": ("GET", "/", [*HERE, *HERE], b"", {400}),
    "a host that goes on after an address": ("GET", "/", ["Host: [::1].evil.com"], b"", {421}),
    "a port that goes on": ("GET", "/", ["Host: localhost:80.evil.com"], b"", {421}),
    "an address without its end": ("GET", "/", ["Host: [::1"], b"", {421}),
    "a user before the host": ("GET", "/", ["Host: evil.com@localhost"], b"", {421}),
    "two names in a host": ("GET", "/", ["Host: localhost evil.com"], b"", {421}),
    "a list of hosts": ("GET", "/", ["Host: localhost, evil.com"], b"", {421}),
    "an odd letter in a host": ("GET", "/", ["Host: localhost\xe9"], b"", {400, 421}),
    "a whole address": ("GET", "http://evil.example/api/model", HERE, b"", {400}),
    "a star": ("OPTIONS", "*", HERE, b"", {400}),
    "a tunnel": ("CONNECT", "evil.example:443", HERE, b"", {400}),
    "two origins": (
        "GET",
        "/api/model",
        [*HERE, "Origin: http://localhost", "Origin: http://evil.example"],
        b"",
        {400},
    ),
    "an origin elsewhere": ("GET", "/api/model", [*HERE, "Origin: http://evil.example"], b"", {403}),
    "a websocket": ("GET", "/", [*HERE, "Upgrade: websocket", "Connection: Upgrade"], b"", {200, 400, 404}),
    "an odd method": ("BREW", "/", HERE, b"", {400, 405}),
    "a method that goes on": ("G" * 5_000, "/", HERE, b"", {400, 431}),
    "a path upwards": ("GET", "/../../etc/passwd", HERE, b"", {404}),
    "a path upwards, in code": ("GET", "/%2e%2e%2f%2e%2e%2fetc/passwd", HERE, b"", {404}),
    "a zero in a path": ("GET", "/%00", HERE, b"", {404}),
    "a path that goes on": ("GET", "/" + "a" * 60_000, HERE, b"", {404, 414, 431}),
    "many fields": ("GET", "/", [*HERE, *["X: y"] * 5_000], b"", {431}),
    "a long field": ("GET", "/", [*HERE, "X: " + "y" * 300_000], b"", {431}),
    "a zero in a field": ("GET", "/", [*HERE, "X: \0"], b"", {400}),
    "a field without a name": ("GET", "/", [*HERE, ": y"], b"", {400}),
    "a blank before a colon": ("GET", "/", [*HERE, "X : y"], b"", {400}),
    "two lengths": ("POST", "/api/ask", [*TYPED, "Content-Length: 2", "Content-Length: 3"], b"{}", {400}),
    "a length and chunks": (
        "POST",
        "/api/ask",
        [*TYPED, "Content-Length: 2", "Transfer-Encoding: chunked"],
        b"{}",
        {400},
    ),
    "a length below 0": ("POST", "/api/ask", [*TYPED, "Content-Length: -1"], b"", {400}),
    "a huge length": ("POST", "/api/ask", [*TYPED, f"Content-Length: {1 << 62}"], b"", {413}),
    "a length beyond numbers": ("POST", "/api/ask", [*TYPED, "Content-Length: " + "9" * 40], b"", {400, 413}),
    "chunks that are none": ("POST", "/api/ask", [*TYPED, "Transfer-Encoding: chunked"], b"zz\r\n", {400}),
    "a chunk without end": (
        "POST",
        "/api/ask",
        [*TYPED, "Transfer-Encoding: chunked"],
        b"f" * 40 + b"\r\n",
        {400, 413},
    ),
    "another coding": ("POST", "/api/ask", [*TYPED, "Transfer-Encoding: gzip"], b"{}", {400}),
    "a form": ("POST", "/api/ask", [*HERE, "Content-Type: text/plain"], asking("x1"), {415}),
    "two types": ("POST", "/api/ask", [*TYPED, "Content-Type: text/plain"], asking("x1"), {400}),
    "ranges": ("POST", "/api/ask", TYPED, asking(RANGES[:4_000].rstrip(", ")), {400}),
    "ranges as a condition": ("POST", "/api/ask", TYPED, asking("x1", given=RANGES[:3_900].rstrip(", ")), {400}),
    "a range and many values": ("POST", "/api/ask", TYPED, asking("x0..x10 in {" + "1, " * 900 + "9}"), {400}),
    "a count times a billion": ("POST", "/api/ask", TYPED, asking("1e9*count(x1)>=2"), {400}),
    "a range to explain": ("POST", "/api/explain", TYPED, asking("x0..x19999"), {400}),
    "signs without end": ("POST", "/api/ask", TYPED, asking("~" * 3_900 + "x1"), {400}),
    "brackets without end": ("POST", "/api/ask", TYPED, asking("(" * 3_900), {400}),
    "arrows without end": ("POST", "/api/ask", TYPED, asking("x1 -> " * 600 + "x1"), {400}),
    "a name without end": ("POST", "/api/ask", TYPED, asking("y" * 3_999), {400}),
    "a zero in a question": ("POST", "/api/ask", TYPED, asking("x1\0"), {400}),
    "half a letter": ("POST", "/api/ask", TYPED, b'{"question": "\\ud800"}', {400, 422}),
    "codes for a terminal": ("POST", "/api/ask", TYPED, asking("\x1b[2Jx1"), {400}),
    "too long a question": ("POST", "/api/ask", TYPED, asking("x1 " * 2_000), {422}),
    "no text": ("POST", "/api/ask", TYPED, asking(["x1"]), {422}),
    "an unknown entry": ("POST", "/api/ask", TYPED, asking("x1", __class__=1), {422}),
    "a rule that is not there": ("POST", "/api/ask", TYPED, asking("x1", off=[10**30]), {400, 422}),
    "too many rules": ("POST", "/api/ask", TYPED, asking("x1", off=[1] * 100_001), {413, 422}),
    "no time": ("POST", "/api/ask", TYPED, asking("x1", budget=0), {422}),
    "a negative seed": ("POST", "/api/ask", TYPED, asking("x1", seed=-1), {422}),
    "a huge seed": ("POST", "/api/ask", TYPED, asking("x1", seed=1 << 80), {422}),
    "no number": ("POST", "/api/ask", TYPED, b'{"question": "x1", "budget": NaN}', {422}),
    "lists in lists": ("POST", "/api/ask", TYPED, NESTED.encode(), {400, 422}),
    "a number without end": ("POST", "/api/ask", TYPED, b'{"question": ' + b"9" * 200_000 + b"}", {400, 422}),
    "a body too large": ("POST", "/api/ask", TYPED, b" " * 300_000, {413}),
    "too many questions": ("POST", "/api/ask-many", TYPED, json.dumps({"questions": ["x1"] * 501}).encode(), {422}),
    "too many rows": ("POST", "/api/sample", TYPED, b'{"count": 1000000000}', {422}),
    "an address of a classifier": ("POST", "/api/classify", TYPED, b'{"numbers": [1]}', {404}),
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served(nbr.load(EXAMPLES / "majority.toml")) as found:
        httpx.post(f"{found}/api/ask", json={"question": "x1"}, timeout=60)  # what is loaded at first use
        yield found


@pytest.mark.parametrize("name", CORPUS)
def test_it_is_refused_and_the_server_goes_on(address: str, name: str) -> None:
    method, target, headers, body, wanted = CORPUS[name]
    known = any(line.lower().startswith(("content-length", "transfer-encoding")) for line in headers)
    length = [] if known or method == "GET" else [f"Content-Length: {len(body)}"]
    head = "\r\n".join([f"{method} {target} HTTP/1.1", *headers, *length, "Connection: close", "", ""])
    at = urlsplit(address)
    start, said = time.monotonic(), b""
    with socket.create_connection((at.hostname, at.port), timeout=20) as line, contextlib.suppress(ConnectionError):
        line.sendall(head.encode("latin-1") + body)
        while part := line.recv(1 << 16):
            said += part
    took = time.monotonic() - start
    assert int(said[9:12] or b"400") in wanted, said[:300]
    assert took < 3.0
    if said and said[9:10] == b"4" and b"application/json" in said:
        told = json.loads(said.partition(b"\r\n\r\n")[2])
        assert set(told) == {"error", "field", "at"}
        assert "\n" not in told["error"]
    found = httpx.post(f"{address}/api/ask", json={"question": "x10", "given": "x0=1"}, timeout=20)
    assert found.json()["plausibility"] == pytest.approx(1 / 3)
