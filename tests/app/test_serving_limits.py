"""`nbr serve`: what is too much, what is garbage, and that nothing holds up a quick question."""

from __future__ import annotations

import base64
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nbr
from nbr.app.serving.limits import Allowed
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
JSON = {"Content-Type": "application/json"}
REASONER = ["ask", "ask-many", "explain", "probability", "sample"]
EVERY = [*REASONER, "classify", "certify", "attack"]


def test_too_much_is_refused(client: httpx.Client) -> None:
    def status(path: str, **body: object) -> int:
        return client.post(f"/api/{path}", json=body).status_code

    assert client.post("/api/ask", content=b" " * (1 << 19), headers=JSON).status_code == 413
    assert client.post("/api/ask", content=iter([b" " * (1 << 17)] * 5), headers=JSON).status_code == 413
    assert status("ask", question="x1 " * 2_000) == 422
    assert status("ask-many", questions=["x1"] * 501) == 422
    assert status("sample", count=10_001) == 422
    assert status("ask", question="x1", budget=-1) == 422
    assert status("ask", question="x1", bugdet=1) == 422  # a misspelt setting is told, not ignored


def test_a_body_that_does_not_come_is_given_up() -> None:
    with served(nbr.load(EXAMPLES / "garden.toml"), allowed=Allowed(upload=0.2)) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as line:
            head = ["POST /api/ask HTTP/1.1", f"Host: {host}", "Content-Type: application/json", "Content-Length: 50"]
            line.sendall("\r\n".join([*head, "", '{"question"']).encode())
            line.settimeout(10)
            assert line.recv(1 << 16).startswith(b"HTTP/1.1 408")


def slow_world() -> nbr.Reasoner:
    """A model in which a moment passes whenever a point with slow=1 is graded."""

    def grade(points):
        if bool((points[:, 0] == 1).any()):
            time.sleep(0.4)
        return points[:, 1]

    return nbr.Reasoner(nbr.World(slow=nbr.Bit(), x=nbr.Bit()), [nbr.Fuzzy(grade, belief=0.5)])


def test_a_slow_question_does_not_hold_up_a_quick_one() -> None:
    allowed = Allowed(seconds=5.0, slow_workers=1)
    with served(slow_world(), allowed=allowed) as address, httpx.Client(base_url=address, timeout=60) as client:

        def explain(_: int) -> int:
            return client.post("/api/explain", json={"question": "x", "given": "slow=1"}).status_code

        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(explain, number) for number in range(2)]
            time.sleep(0.3)
            start = time.monotonic()
            told = client.post("/api/ask", json={"question": "x", "given": "slow=0"}).json()
            took = time.monotonic() - start
            still = sum(not each.done() for each in waiting)
            assert [each.result() for each in waiting] == [200] * 2
    assert told["belief"] == 0.5
    assert still >= 1
    assert took < 0.9


def test_more_work_than_the_server_takes_on_is_turned_away() -> None:
    allowed = Allowed(slow_workers=1, slow_waiting=0)
    with served(slow_world(), allowed=allowed) as address:
        body = {"question": "x", "given": "slow=1"}
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(httpx.post, f"{address}/api/explain", json=body, timeout=60)
            time.sleep(0.3)
            second = httpx.post(f"{address}/api/explain", json=body)
            assert (second.status_code, second.headers["retry-after"]) == (503, "1")
            assert first.result().status_code == 200


def test_a_question_that_cannot_be_settled_gets_bounds_in_time() -> None:
    """A function of six reals: no engine settles that in half a second."""
    world = nbr.World({f"y{i}": nbr.Real(0, 1) for i in range(6)})
    rule = nbr.Fuzzy(lambda points: torch.sigmoid(points.sum(dim=1) - 3), belief=0.7)
    with served(nbr.Reasoner(world, [rule]), allowed=Allowed(seconds=0.5)) as address:
        start = time.monotonic()
        told = httpx.post(f"{address}/api/ask", json={"question": "y0>=0.5", "budget": 100}, timeout=60).json()
        took = time.monotonic() - start
    assert told["exact"] is False
    assert told["bounds"]["plausibility"][0] <= told["plausibility"]
    assert took < 10


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
QUERY = st.text("x01259 &|~()=<>-.,{}\"'inorcount", max_size=30)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "question": QUERY | values,
        "questions": st.lists(QUERY, max_size=3) | values,
        "given": QUERY | values,
        "off": st.lists(st.integers(0, 4), max_size=3) | values,
        "seed": st.integers(-1, 3) | values,
        "count": st.integers(-1, 3) | values,
        "picture": st.binary(max_size=40).map(lambda raw: base64.b64encode(raw).decode()) | values,
        "numbers": st.lists(st.floats(), max_size=3) | values,
        "other": values,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.sampled_from(REASONER), body=BODIES.map(lambda body: {**body, "budget": 0.2}))
def test_garbage_is_never_a_fault_of_the_server(client: httpx.Client, path: str, body: dict[str, object]) -> None:
    found = client.post(f"/api/{path}", content=json.dumps(body).encode(), headers=JSON)
    assert found.status_code in (200, 400, 422), (body, found.text)
    assert found.status_code == 200 or set(found.json()) == {"error", "field", "at"}


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[",
        b"[" * 100_000,
        b"null",
        b"\xff\xfe",
        b'{"question": "\\ud800"}',
        b'{"question": ' + b"9" * 5_000 + b"}",
        b'{"question": "x1", "seed": 1e400}',
        b'{"question": "x1", "budget": NaN}',
        b'{"count": true}',
        b'{"picture": "\\u00e9"}',
        b'{"picture": "AAAA", "numbers": [1]}',
        b'{"numbers": [Infinity]}',
    ],
)
def test_broken_bodies(client: httpx.Client, classifier: httpx.Client, path: str, raw: bytes) -> None:
    found = (client if path in REASONER else classifier).post(f"/api/{path}", content=raw, headers=JSON)
    assert found.status_code in (400, 422)
    assert set(found.json()) == {"error", "field", "at"}


def test_what_a_client_that_left_has_asked_for_is_not_worked_out() -> None:
    """The only slow thread is busy; a question behind it leaves the queue with its client, and makes room."""
    allowed = Allowed(seconds=5.0, slow_workers=1, slow_waiting=1)
    body = {"question": "x", "given": "slow=1"}
    with served(slow_world(), allowed=allowed) as address, ThreadPoolExecutor(1) as pool:
        first = pool.submit(httpx.post, f"{address}/api/explain", json=body, timeout=60)
        time.sleep(0.2)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{address}/api/explain", json=body, timeout=0.1)
        time.sleep(0.1)
        second = httpx.post(f"{address}/api/explain", json=body, timeout=60)
        assert (first.result().status_code, second.status_code) == (200, 200)
