"""Whether people who cannot see or point can use the pages, as axe-core judges; skipped where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nbr
from browsing import Seen, draw_a_four, judged
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("settings", [{"color_scheme": "dark"}, {"viewport": PHONE}], ids=["dark", "phone"])
def test_the_page_of_a_reasoner(browser: Any, majority: str, settings: dict[str, Any]) -> None:
    found = Seen(browser, majority, **settings)
    page = found.open("/#q=x10&set.x0=1&off=2")
    page.locator("#answer", has_text="belief").wait_for()
    assert judged(page) == []
    found.close()


def test_a_mistake_on_it(browser: Any, majority: str) -> None:
    found = Seen(browser, majority)
    page = found.open()
    page.get_by_role("combobox", name="Question").fill("x1 & rian")
    page.locator("#question-error", has_text="unknown variable 'rian'").wait_for()
    assert judged(page) == []
    found.close()


def test_choices_rankings_and_conflict(browser: Any) -> None:
    with served(nbr.load(EXAMPLES / "garden.toml"), "garden.toml") as address:
        found = Seen(browser, address)
        page = found.open("/#q=grass&set.rain=1")
        page.locator("#answer", has_text="wet").wait_for()
        assert judged(page) == []
        found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_classifier(browser: Any, digits: str, scheme: str) -> None:
    found = Seen(browser, digits, color_scheme=scheme)
    page = found.open()
    draw_a_four(page)
    page.locator("#attack", has_text="A short attack needs a change of").wait_for()
    assert judged(page) == []
    found.close()
