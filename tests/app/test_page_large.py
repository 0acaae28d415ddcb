"""Models of other kinds and sizes on the page, in a real browser; skipped where there is none."""

from __future__ import annotations

from typing import Any

import nbr
from browsing import Seen
from served import served


def test_a_phone_needs_no_sideways_scrolling(browser: Any, majority: str) -> None:
    found = Seen(browser, majority, viewport={"width": 360, "height": 740})
    page = found.open("/#q=x10&set.x0=1")
    page.locator("#answer", has_text="plausibility 0.33").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found.close()


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
        found.close()


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
        found.close()


def test_names_alike_are_grouped_and_the_rest_is_together(browser: Any) -> None:
    world = nbr.World({**{f"bad[part {i}]": nbr.Bit() for i in range(20)}, **{name: nbr.Bit() for name in "pqrstuvw"}})
    with served(nbr.Reasoner(world)) as address:
        found = Seen(browser, address)
        page = found.open()
        assert page.locator(".group").all_text_contents() == ["bad (20)", "others (8)"]
        page.get_by_label("Find a variable").fill("bad")
        page.locator(".group", has_text="others").wait_for(state="hidden")
        found.close()
