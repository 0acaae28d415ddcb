"""The page of `nbr serve`, driven in a real browser; skipped where there is none."""

from __future__ import annotations

import re
from pathlib import Path

import nbr
from browsing import Seen
from nbr.app.serving.api import PAGE

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_page_is_small_and_asks_nobody_else() -> None:
    files = {place.name: place.read_bytes() for place in PAGE.iterdir()}
    assert sum(map(len, files.values())) < 400_000
    for name, content in files.items():
        outside = re.findall(rb"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"']*", content)
        assert [each for each in outside if not each.startswith(b"http://www.w3.org/2000/svg")] == [], name


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


def test_a_conflict_that_is_not_known_is_a_range(seen: Seen) -> None:
    page = seen.open()
    script = """async () => {
      const { gauge } = await import("/common.js");
      const made = gauge();
      made.show(1, [0.25, 1]);
      const range = [made.textContent, made.classList.contains("high")];
      made.show(0.75);
      return [...range, made.textContent, made.classList.contains("high")];
    }"""
    assert page.evaluate(script) == ["conflict0.25 to 1.00, not computed", False, "conflict0.75", True]


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
