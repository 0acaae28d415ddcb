"""The page of a classifier, in a real browser; skipped where there is none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from browsing import Seen, draw_a_four

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_four_is_drawn_and_proved(browser: Any, digits: str) -> None:
    found = Seen(browser, digits)
    page = found.open()
    draw_a_four(page)
    page.locator("#attack", has_text="A short attack needs a change of").wait_for()
    assert page.locator("#label").text_content() == "4"
    proved = re.search(r"L2 length ([\d.]+) or less", str(page.locator("#proof").text_content()))
    needed = re.search(r"a change of ([\d.]+) to make it 9", str(page.locator("#attack").text_content()))
    assert proved
    assert needed
    assert 0 < float(proved[1]) <= float(needed[1])
    page.get_by_role("button", name="Clear").click()
    page.locator("#label").wait_for(state="hidden")
    found.close()


def test_a_picture_is_chosen(browser: Any, digits: str) -> None:
    found = Seen(browser, digits)
    page = found.open()
    page.get_by_label("Choose a picture").set_input_files(EXAMPLES / "nine.png")
    page.locator("#label", has_text="9").wait_for()
    page.get_by_label("Choose a picture").set_input_files(EXAMPLES / "garden.toml")
    page.get_by_role("alert").filter(has_text="not a picture that can be read").wait_for()
    found.close()


def test_a_picture_is_chosen_by_keyboard(browser: Any, digits: str) -> None:
    """Nobody draws by keyboard; a picture can be chosen and cleared."""
    found = Seen(browser, digits)
    page = found.open()
    asked: list[Any] = []
    page.on("filechooser", lambda chooser: asked.append(chooser))  # early: the browser takes a while to know
    reached = []
    for _ in range(4):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent"))
    assert {"Clear", "Choose a picture"} <= set(reached)
    page.get_by_label("Choose a picture").focus()
    page.keyboard.press("Space")
    for _ in range(300):
        if asked:
            break
        page.wait_for_timeout(100)
    asked[0].set_files(EXAMPLES / "four.png")
    page.locator("#label", has_text="4").wait_for()
    page.get_by_role("button", name="Clear").focus()
    page.keyboard.press("Enter")
    page.locator("#label").wait_for(state="hidden")
    found.close()
