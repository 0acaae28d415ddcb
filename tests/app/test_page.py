"""The page of `nbr serve`, driven in a real browser; skipped where there is none."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nbr
from nbr.app.serving.api import PAGE
from nbr.app.serving.security import Door
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_page_is_small_and_asks_nobody_else() -> None:
    files = {place.name: place.read_bytes() for place in PAGE.iterdir()}
    assert sum(map(len, files.values())) < 300_000
    for name, content in files.items():
        outside = re.findall(rb"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"']*", content)
        assert [each for each in outside if not each.startswith(b"http://www.w3.org/2000/svg")] == [], name


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="there is no browser: pip install 'nbr[browser]'")
    installed = shutil.which("chromium") or shutil.which("google-chrome")
    with playwright.sync_playwright() as tool:
        try:
            found = tool.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        except playwright.Error:
            pytest.skip("there is no browser: install chromium")
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


@pytest.fixture(scope="module")
def majority() -> Iterator[str]:
    with served(nbr.load(EXAMPLES / "majority.toml"), "majority.toml") as address:
        yield address


@pytest.fixture
def seen(browser: Any, majority: str) -> Iterator[Seen]:
    found = Seen(browser, majority)
    yield found
    found.page.context.close()
    assert found.complaints == []
    assert [url for url in found.asked if not url.startswith(majority)] == []


def test_bits_are_set_and_table_1_is_seen(seen: Seen) -> None:
    page = seen.open()
    assert page.title() == "majority.toml · nbr"
    page.get_by_role("button", name="x0 is 1").click()
    seen.wait_for("x10", "belief 0.00, plausibility 0.33")
    for bit in range(1, 6):
        page.get_by_role("button", name=f"x{bit} is 0").click()
    wanted = nbr.load(EXAMPLES / "majority.toml").ask("x10", "x0=1, x1..x5=0")
    assert wanted.conflict > 0.6
    seen.wait_for("x10", f"belief {wanted.belief:.2f}, plausibility {wanted.plausibility:.2f}")
    assert page.get_by_role("meter").get_attribute("aria-valuenow") == f"{wanted.conflict:.2f}"
    page.get_by_role("button", name="x0 is 1").click()  # again: not set
    page.get_by_role("button", name="Unset all").click()
    seen.wait_for("x10", "belief 0.00, plausibility 1.00")


def test_a_rule_is_switched_off_and_the_interval_changes(seen: Seen) -> None:
    page = seen.open("/#q=x10&set.x0=1")
    page.locator("#answer", has_text="plausibility 0.33").wait_for()
    page.get_by_role("switch", name="Rule 1").click()
    page.locator("#answer", has_text="plausibility 1.00").wait_for()
    assert page.get_by_role("switch", name="Rule 1").get_attribute("aria-checked") == "false"
    assert "off=1" in page.url
    page.get_by_role("switch", name="Rule 1").click()
    page.locator("#answer", has_text="plausibility 0.33").wait_for()


def test_a_wrong_name_is_told_under_its_character(seen: Seen) -> None:
    page = seen.open()
    page.get_by_role("combobox", name="Question").fill("x1 & rian")
    page.locator("#question-error", has_text="unknown variable 'rian'").wait_for()
    shown = page.locator(".ask .field").first.locator(".caret").text_content()
    assert shown == " " * 5 + "▲"
    field, mark = page.locator("#question"), page.locator(".caret").first
    starts = "element => parseFloat(getComputedStyle(element).paddingLeft) + element.getBoundingClientRect().left"
    assert abs(field.evaluate(starts) - mark.evaluate(starts)) < 2
    page.get_by_role("combobox", name="Question").fill("x1 & x10")
    page.locator("#answer", has_text="plausibility 1.00").wait_for()
    assert page.locator("#question-error").text_content() == ""


def test_back_and_forward(seen: Seen) -> None:
    page = seen.open()
    page.get_by_role("button", name="x0 is 1").click()
    seen.wait_for("x10", "plausibility 0.33")
    page.get_by_title("Ask about x10").click()
    page.locator("#answer", has_text="plausibility 0.33").wait_for()
    page.go_back()
    page.locator("#answer").wait_for(state="hidden")
    assert page.get_by_role("button", name="x0 is 1").get_attribute("aria-pressed") == "true"
    page.go_back()
    seen.wait_for("x10", "plausibility 1.00")
    assert page.get_by_role("button", name="x0 is 1").get_attribute("aria-pressed") == "false"
    page.go_forward()
    page.go_forward()
    page.locator("#answer", has_text="plausibility 0.33").wait_for()
    assert page.get_by_role("combobox", name="Question").input_value() == "x10"


def test_everything_by_keyboard(seen: Seen) -> None:
    page = seen.open()
    page.get_by_role("combobox", name="Question").focus()
    page.keyboard.type("majority(x1..x3) & x1")
    page.get_by_role("listbox").wait_for()  # x10 goes on from x1
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.get_by_role("combobox", name="Question").input_value() == "majority(x1..x3) & x10"
    page.keyboard.press("Enter")
    page.locator("#answer", has_text="belief").wait_for()
    page.get_by_role("switch", name="Rule 2").focus()
    page.keyboard.press("Space")
    page.locator("[role=switch][aria-checked=false]").wait_for()
    page.get_by_role("button", name="x3 is 1").focus()
    page.keyboard.press("Enter")
    page.locator("[data-name=x3].set").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "x3 is 1"


def test_a_condition_that_cannot_hold_is_told(seen: Seen) -> None:
    page = seen.open("/#set.x0=1&given=~x0")
    page.get_by_role("alert").filter(has_text="the condition cannot hold").first.wait_for()


def test_a_phone_needs_no_sideways_scrolling(browser: Any, majority: str) -> None:
    found = Seen(browser, majority, viewport={"width": 360, "height": 740})
    page = found.open("/#q=x10&set.x0=1")
    page.locator("#answer", has_text="plausibility 0.33").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.context.close()


def test_choices_and_numbers(browser: Any) -> None:
    world = nbr.World({"the sky": nbr.Choice("blue", "dark grey"), "temperature": nbr.Real(-20, 40)})
    rules = [nbr.Clause('"the sky"="dark grey" -> temperature<=10', 0.8)]
    with served(nbr.Reasoner(world, rules)) as address:
        found = Seen(browser, address)
        page = found.open()
        page.get_by_label("Set the sky").select_option("dark grey")
        found.wait_for("temperature", "belief 0.00, plausibility 1.00")
        page.get_by_label("temperature at least").fill("15")
        page.get_by_label("temperature at least").press("Enter")
        found.wait_for("temperature", "belief 0.00, plausibility 0.20")
        page.get_by_role("button", name="Unset all").click()
        page.get_by_label("Set temperature").fill(">=15")
        page.get_by_label("Set temperature").press("Enter")
        found.wait_for("the sky", "belief 0.00, plausibility 0.20", place=1)
        page.context.close()
        assert found.complaints == []


def test_two_hundred_variables_stay_usable(browser: Any) -> None:
    world = nbr.World({**{f"a{i}": nbr.Bit() for i in range(100)}, **{f"b{i}": nbr.Bit() for i in range(100)}})
    rules = [nbr.Clause(f"a{i} -> b{i}", 0.9) for i in range(20)]
    with served(nbr.Reasoner(world, rules)) as address:
        found = Seen(browser, address)
        page = found.open()
        assert page.locator(".group:visible").count() == 2
        page.get_by_role("button", name="a7 is 1").click()
        found.wait_for("b7", "belief 0.90, plausibility 1.00")
        found.ready()
        page.get_by_label("only what changed").check()
        page.locator("[role=status]", has_text="2 of 200 variables").wait_for()
        assert page.locator(".variable:visible").count() == 2
        page.get_by_label("only what changed").uncheck()
        page.get_by_label("Find a variable").fill("b19")
        page.locator("[role=status]", has_text="1 of 200 variables").wait_for()
        page.context.close()
        assert found.complaints == []


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


@pytest.fixture(scope="module")
def digits() -> Iterator[str]:
    with served(nbr.load("mnist-4-9"), "mnist-4-9") as address:
        yield address


def test_a_four_is_drawn_and_proved(browser: Any, digits: str) -> None:
    found = Seen(browser, digits)
    page = found.open()
    box = page.locator("#drawing").bounding_box()
    for stroke in ([(95, 60), (80, 150), (195, 150)], [(185, 60), (180, 240)]):
        (first, *others) = [(box["x"] + x * box["width"] / 280, box["y"] + y * box["width"] / 280) for x, y in stroke]
        page.mouse.move(*first)
        page.mouse.down()
        for place in others:
            page.mouse.move(*place, steps=8)
        page.mouse.up()
    page.locator("#attack", has_text="A short attack needs a change of").wait_for()
    assert page.locator("#label").text_content() == "4"
    proved = re.search(r"L2 length ([\d.]+) or less", str(page.locator("#proof").text_content()))
    needed = re.search(r"a change of ([\d.]+) to make it 9", str(page.locator("#attack").text_content()))
    assert proved
    assert needed
    assert 0 < float(proved[1]) <= float(needed[1])
    page.get_by_role("button", name="Clear").click()
    page.locator("#label").wait_for(state="hidden")
    page.context.close()
    assert found.complaints == []


def test_a_picture_is_chosen(browser: Any, digits: str) -> None:
    found = Seen(browser, digits)
    page = found.open()
    page.get_by_label("Choose a picture").set_input_files(EXAMPLES / "nine.png")
    page.locator("#label", has_text="9").wait_for()
    page.get_by_label("Choose a picture").set_input_files(EXAMPLES / "garden.toml")
    page.get_by_role("alert").filter(has_text="not a picture that can be read").wait_for()
    page.context.close()
    assert found.complaints == []
