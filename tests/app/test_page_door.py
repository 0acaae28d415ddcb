"""Who may open the page, in a real browser; skipped where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbr
from browsing import Seen
from nbr.app.serving.security import Door
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_token_opens_the_page(browser: Any) -> None:
    with served(nbr.load(EXAMPLES / "garden.toml"), "garden.toml", Door.of("0.0.0.0", "a-secret")) as address:
        found = Seen(browser, address)
        page = found.page
        page.goto(address)
        page.get_by_label("This server needs the token").fill("a-secret")
        page.get_by_role("button", name="Go on").click()
        page.locator("[data-name=rain]").wait_for()
        other = Seen(browser, address)
        other.open("/#token=a-secret")
        other.page.locator("[data-name=rain]").wait_for()
        assert "secret" not in other.page.url
        page.context.close()
        other.page.context.close()


def test_a_page_elsewhere_can_neither_ask_nor_read(browser: Any, majority: str) -> None:
    """The garden's server plays the page elsewhere: the same computer, another origin."""
    with served(nbr.load(EXAMPLES / "garden.toml")) as elsewhere:
        found = Seen(browser, elsewhere)
        page = found.open()
        told = page.evaluate(
            """async (address) => {
                const ask = (path, options) => fetch(address + path, options).then((r) => r.text(), () => "refused");
                const body = JSON.stringify({question: "x1"});
                return Promise.all([
                    ask("/api/model"),
                    ask("/api/ask", {method: "POST", body, headers: {"Content-Type": "application/json"}}),
                    ask("/api/ask", {method: "POST", body}),
                ]);
            }""",
            majority,
        )
        assert told == ["refused"] * 3
        page.context.close()
