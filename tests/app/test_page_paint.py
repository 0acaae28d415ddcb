"""That the page is there before its answers, in a real browser; skipped where there is none."""

from __future__ import annotations

import re
from typing import Any

import httpx

from browsing import Seen
from nbr.app.serving.api import PAGE


def test_one_request_is_enough_to_paint_and_no_module_waits_for_another(client: httpx.Client) -> None:
    for path, first in (("/", "main.js"), ("/docs", "docs.js")):
        page = client.get(path).text
        assert "<style>" in page
        assert 'rel="stylesheet"' not in page
        assert set(re.findall(r'"modulepreload" href="/([\w.]+)"', page)) == modules(first)


def modules(name: str) -> set[str]:
    """All that a module imports, and what those import."""
    named = re.findall(r'from "\./([\w.]+)"', (PAGE / name).read_text(encoding="utf-8"))
    return set(named).union(*map(modules, named))


def test_a_style_from_elsewhere_is_not_taken(seen: Seen) -> None:
    page = seen.open()
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"
    page.evaluate(
        "document.head.append(Object.assign(document.createElement('style'), {textContent: 'body{margin:9px}'}))"
    )
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"
    assert all("Content Security Policy" in each for each in seen.complaints)
    seen.complaints.clear()


def test_the_page_is_painted_before_anything_is_answered(browser: Any, majority: str) -> None:
    """No answer is let through: variables and rules stand there all the same."""
    found = Seen(browser, majority)
    page = found.page
    held: list[Any] = []
    letting: list[bool] = []
    page.route("**/api/ask*", lambda route: route.continue_() if letting else held.append(route))
    page.goto(majority)
    page.locator("[data-name=x10] .waiting").wait_for()
    assert page.locator(".variable").count() == 11
    page.get_by_role("switch", name="Rule 2").wait_for()
    assert page.evaluate("performance.getEntriesByName('first-contentful-paint').length") == 1
    page.get_by_role("button", name="x0 is 1").click()  # what was asked before is not wanted any more
    page.wait_for_function("document.querySelector('[data-name=x0].set')")
    page.wait_for_timeout(50)
    letting.append(True)
    held[-1].continue_()
    found.wait_for("x10", "belief 0.00, plausibility 0.33")
    assert len(held) >= 2
    found.close()
