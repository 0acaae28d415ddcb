"""The page as a place to work, in a real browser: chips, order, rules written and saved; skipped without one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nbr
from browsing import Seen
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def garden(browser: Any, tmp_path: Path) -> Iterator[Seen]:
    """The page of a rule file that may be written."""
    place = tmp_path / "garden.toml"
    shutil.copy(EXAMPLES / "garden.toml", place)
    with served(nbr.load(place), "garden.toml", path=place) as address:
        found = Seen(browser, address)
        yield found
        found.close()


def chips(page: Any) -> list[str]:
    return [each.removesuffix("×") for each in page.locator(".given .chip").all_text_contents()]


def test_what_is_set_stands_on_top_and_beside_the_answer(garden: Seen) -> None:
    page = garden.open("/#q=sprinkler&set.rain=1")
    page.get_by_label("Set grass").select_option("dry")
    page.locator("#answer", has_text="plausibility 0.40").wait_for()
    assert chips(page) == ["rain=1", "grass=dry"]
    assert page.locator(".answer .under").text_content() == "sprinkler, given rain=1, grass=dry"
    assert page.locator(".set-here .under").text_content() == "intervals given rain=1, grass=dry"
    page.get_by_role("button", name="rain=1, take it away").click()
    page.locator("#answer", has_text="plausibility 1.00").wait_for()
    assert chips(page) == ["grass=dry"]
    page.get_by_role("combobox", name="Given also").fill("sprinkler | rain")
    page.get_by_role("combobox", name="Given also").press("Enter")
    page.locator(".given .chip").nth(1).wait_for()
    page.get_by_role("button", name="sprinkler | rain, take it away").click()
    page.locator(".given .chip").nth(1).wait_for(state="detached")
    assert page.get_by_role("combobox", name="Given also").input_value() == ""


def test_suspects_in_order(browser: Any) -> None:
    world = nbr.World({f"bad[{name}]": nbr.Bit() for name in "abcdef"} | {"sign": nbr.Bit(), "other": nbr.Bit()})
    rules = [nbr.Clause(f"sign -> ~bad[{name}]", belief) for name, belief in zip("abc", (0.2, 0.9, 0.5), strict=True)]
    with served(nbr.Reasoner(world, [*rules, nbr.Clause("sign -> bad[e]", 0.7)])) as address:
        found = Seen(browser, address)
        page = found.open("/#set.sign=1")
        names = page.locator(".variable .name")
        assert names.all_text_contents()[:3] == ["bad[a]", "bad[b]", "bad[c]"]
        page.get_by_label("Order of the variables").select_option("plausibility")
        shown = names.all_text_contents()
        assert shown[0] == "bad[e]"
        assert [each for each in shown if each[4:5] in "abc" and each.startswith("bad")] == [
            "bad[a]",
            "bad[c]",
            "bad[b]",
        ]
        assert shown[-1] == "sign"
        page.get_by_label("Find a variable").fill("bad[b]")
        page.locator("[role=status]", has_text="1 of 8 variables").wait_for()
        found.close()


def test_a_group_folds_away(browser: Any) -> None:
    world = nbr.World({**{f"a[{i}]": nbr.Bit() for i in range(15)}, **{f"b[{i}]": nbr.Bit() for i in range(15)}})
    with served(nbr.Reasoner(world)) as address:
        found = Seen(browser, address)
        page = found.open()
        page.get_by_role("button", name="a (15)").click()
        assert page.locator(".variable:visible").count() == 15
        page.get_by_label("grouped").uncheck()
        assert page.locator(".variable:visible").count() == 30
        found.close()


def test_a_rule_is_rewritten_added_and_saved(garden: Seen, tmp_path: Path) -> None:
    page = garden.open("/#q=rain&set.grass=wet")
    page.locator("#answer", has_text="belief 0.00").wait_for()
    page.get_by_role("button", name="Edit rule 2").click()
    page.get_by_role("combobox", name="Statement").fill("grass=wet -> rian")
    page.get_by_role("button", name="Apply").click()
    page.locator(".editing .error", has_text="did you mean 'rain'").first.wait_for()
    page.get_by_role("combobox", name="Statement").fill("grass=wet -> rain")
    page.get_by_label("Belief, from 0 to 1").fill("0.55")
    page.get_by_role("button", name="Apply").click()
    page.locator("#answer", has_text="belief 0.55").wait_for()
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_role("combobox", name="Statement").fill("rain")
    page.get_by_label("Belief, from 0 to 1").fill("0.2")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("#answer", has_text="belief 0.64").wait_for()
    assert page.locator(".saving").text_content().startswith("2 changes not in garden.toml")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.locator("#answer", has_text="belief 0.64").wait_for()
    before = (tmp_path / "garden.toml").read_text()
    page.get_by_role("switch", name="Rule 3").click()
    page.get_by_role("button", name="Save").click()
    page.locator(".saving").wait_for(state="hidden")
    page.locator("#answer", has_text="belief 0.64").wait_for()
    saved = nbr.load(tmp_path / "garden.toml")
    assert [(rule.describe(), rule.degree) for rule in saved.rules] == [
        ("rain -> grass=wet", 0.9),
        ("grass=wet -> rain", 0.55),
        ("sprinkler -> ~rain", 0.0),
        ("rain", 0.2),
    ]
    text = (tmp_path / "garden.toml").read_text()
    assert "belief = 0  # switched off, was 0.6" in text
    assert [line for line in before.splitlines() if line not in text.splitlines()] == [
        'rule = "grass=wet -> rain | sprinkler"',
        "belief = 0.7",
        "belief = 0.6",
    ]
    assert "rules=" not in page.url


def test_a_change_is_undone(garden: Seen) -> None:
    page = garden.open("/#q=rain&set.grass=wet")
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_role("combobox", name="Statement").fill("rain")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("#answer", has_text="belief 0.80").wait_for()
    page.get_by_role("button", name="Remove rule 4").click()
    page.locator("#answer", has_text="belief 0.00").wait_for()
    assert page.locator(".saving").is_hidden()


def test_the_page_follows_its_file(garden: Seen, tmp_path: Path) -> None:
    page = garden.open("/#q=grass%3Dwet&set.rain=1")
    page.locator("#answer", has_text="belief 0.90").wait_for()
    place = tmp_path / "garden.toml"
    text = place.read_text()
    place.write_text(text.replace("belief = 0.9", "belief = 0.35"))
    page.locator("#answer", has_text="belief 0.35").wait_for()
    place.write_text(text.replace("rain ->", "rian ->"))
    page.get_by_role("alert").filter(has_text="did you mean 'rain'").first.wait_for()
    place.write_text(text)
    page.locator("#answer", has_text="belief 0.90").wait_for()
    assert page.locator("#trouble").is_hidden()


def test_a_choice_is_explained_as_it_is_ranked(garden: Seen) -> None:
    page = garden.open("/#q=grass&set.rain=1")
    page.get_by_role("heading", name="Why wet comes first").wait_for()
    page.locator(".why .words", has_text="grass=wet").wait_for()
    assert page.locator(".rule").first.locator("code").text_content() == "rain -> grass=wet"
