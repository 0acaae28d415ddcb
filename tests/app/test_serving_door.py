"""`nbr serve`: who is let in."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import httpx
import pytest

import nbr
from command import run
from nbr.app.serving.security import Door
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "192.168.0.7", ""])
def test_another_host_is_refused(client: httpx.Client, host: str) -> None:
    """A page elsewhere may let its own name lead here; it must not read what it gets."""
    for path in ("/api/model", "/", "/healthz"):
        assert client.get(path, headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
    ],
)
def test_pages_from_elsewhere_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    found = client.get("/api/model", headers=headers)
    assert found.status_code == 403
    assert "access-control-allow-origin" not in found.headers
    assert client.post("/api/ask", json={"question": "x1"}, headers=headers).status_code == 403


def test_our_own_page_and_links_to_it_are_let_in(client: httpx.Client) -> None:
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/ask", json={"question": "x1"}, headers=own).status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    page = client.get("/", headers=link)
    assert page.status_code == 200
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    frame = {**link, "Sec-Fetch-Dest": "iframe"}
    assert client.get("/", headers=frame).status_code == 403


def test_a_form_elsewhere_cannot_ask(client: httpx.Client) -> None:
    """Forms and simple requests cannot say that their body is JSON."""
    found = client.post("/api/ask", content='{"question": "x1"}', headers={"Content-Type": "text/plain"})
    assert found.status_code == 415


def test_another_host_needs_the_token() -> None:
    door = Door.of("0.0.0.0", "a secret")
    with served(nbr.load(EXAMPLES / "garden.toml"), door=door) as address, httpx.Client(base_url=address) as client:
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "a secret"}, {"Authorization": "é"}):
            coded = {name: value.encode() for name, value in header.items()}
            assert client.get("/api/model", headers=coded).status_code == 401
            assert client.post("/api/ask", json={"question": "rain"}, headers=coded).status_code == 401
        right = {"Authorization": "Bearer a secret"}
        assert client.get("/api/model", headers=right).status_code == 200
        assert client.get("/api/model", headers={**right, "Host": "192.168.0.7:80"}).status_code == 200
        assert client.get("/api/model", headers={**right, "Host": "evil.example"}).status_code == 421
        assert client.get("/healthz").status_code == 200


def test_unknown_addresses_and_methods(client: httpx.Client) -> None:
    for path in ("/nothing", "/../pyproject.toml", "/api/classify", "/%2e%2e/serving/api.py", "/api.py"):
        assert client.post(path, json={}).status_code in (404, 405)
        assert client.get(path).status_code in (404, 405)
    assert client.get("/api/ask").status_code == 405


def test_another_host_gets_a_token_that_is_printed_once() -> None:
    with mock.patch("uvicorn.Server.run"):
        here, there, given = (
            run("serve", EXAMPLES / "garden.toml", "--port", "0", *options).stderr
            for options in ([], ["--host", "0.0.0.0"], ["--host", "0.0.0.0", "--token", "ours"])
        )
    assert "token" not in here
    made = re.search(r"#token=([\w-]{32}) ", there)
    assert made
    assert there.count(made[1]) == 1
    assert "/#token=ours " in given
