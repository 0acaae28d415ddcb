"""What tests of the server and its pages share: two servers and one browser, started once in a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import nbr
from browsing import Seen, chromium
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def majority() -> Iterator[str]:
    with served(nbr.load(EXAMPLES / "majority.toml"), "majority.toml") as address:
        yield address


@pytest.fixture(scope="session")
def digits() -> Iterator[str]:
    with served(nbr.load("mnist-4-9"), "mnist-4-9") as address:
        yield address


@pytest.fixture(scope="session")
def client(majority: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=majority, timeout=60) as found:
        yield found


@pytest.fixture(scope="session")
def classifier(digits: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=digits, timeout=120) as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def seen(browser: Any, majority: str) -> Iterator[Seen]:
    """The page of the paper's eleven bits."""
    found = Seen(browser, majority)
    yield found
    found.close()
