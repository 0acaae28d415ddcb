"""A real browser for tests and pictures: one that is started once, and pages that remember all they did."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
MISSING = "no browser: install Debian's chromium, and pip install '.[browser]'"


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Chromium, driven by playwright; a test that wants it is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason=MISSING)
    installed = shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as tool:
        try:
            found = tool.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip(MISSING)
        yield found
        found.close()


class Seen:
    """A page in the browser, and all that it asked for and complained of."""

    def __init__(self, browser: Any, address: str, **settings: Any) -> None:
        self.page = browser.new_context(**settings).new_page()
        self.page.set_default_timeout(60_000)
        self.address, self.asked, self.complaints = address, [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._heard)

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning") and "400 (Bad Request)" not in message.text:
            self.complaints.append(message.text)

    def open(self, rest: str = "/") -> Any:
        self.page.goto(self.address + rest)
        self.ready()
        return self.page

    def ready(self) -> None:
        self.page.locator("main:not([aria-busy]):not(:has([aria-busy]))").wait_for()

    def wait_for(self, name: str, words: str, place: int = 0) -> None:
        """Until the words for a bar of a variable end like that."""
        bar = self.page.locator(f"[data-name='{name}'] .interval").nth(place).locator(f".bar[aria-label$='{words}']")
        bar.wait_for()

    def close(self) -> None:
        """No page may complain, or ask anybody but its own server."""
        self.page.context.close()
        assert not self.complaints, self.complaints
        assert [url for url in self.asked if not url.startswith((self.address, "data:", "blob:"))] == []


def draw_a_four(page: Any) -> None:
    """Two strokes of the mouse."""
    box = page.locator("#drawing").bounding_box()
    for stroke in ([(95, 60), (80, 150), (195, 150)], [(185, 60), (180, 240)]):
        (first, *others) = [(box["x"] + x * box["width"] / 280, box["y"] + y * box["width"] / 280) for x, y in stroke]
        page.mouse.move(*first)
        page.mouse.down()
        for place in others:
            page.mouse.move(*place, steps=8)
        page.mouse.up()


def judged(page: Any) -> list[str]:
    """What axe-core finds, of any level: the rule, and where it is broken."""
    if not AXE.exists():
        pytest.skip("no axe-core: make .venv/browser fetches it with npm")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 10
    return [f"{each['id']}: {node['html']}" for each in found["violations"] for node in each["nodes"]]
