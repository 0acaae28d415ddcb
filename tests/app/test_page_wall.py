"""A learned model as a wall of distributions, and pages at two widths; in a real browser, if there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nbr
from browsing import Seen, draw_a_four, judged
from nbr.app.serving import bodies
from nbr.app.serving.reasoning import ReasonerApi
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"
WIDTHS = {"wide": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def learned() -> nbr.Reasoner:
    """Numbers, whole numbers, dates, labels and holes."""
    draw = np.random.default_rng(0)
    city = draw.choice(["Lisbon", "a town with a rather long name", "Faro"], 300, p=[0.5, 0.3, 0.2])
    member = np.where(draw.random(300) < np.where(city == "Faro", 0.95, 0.2), "yes", "no")
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 700, 300), "D")
    table = pd.DataFrame({"city": city, "member": member, "joined": days.strftime("%Y-%m-%d")})
    table["income"] = np.exp(draw.normal(7.5, 0.4, 300)).round(1)
    table["visits"] = draw.poisson(np.where(member == "yes", 9, 2))
    return nbr.fit(table, rules="clauses", seed=0)


@pytest.fixture(scope="module")
def wall(learned: nbr.Reasoner) -> Iterator[str]:
    with served(learned, "customers.nbr") as address:
        yield address


def shares(page: Any, name: str) -> dict[str, float]:
    labels = page.locator(f"[data-name={name}] button[data-set]").evaluate_all("all => all.map(each => each.title)")
    found = [re.search(rf"{name} (.*?): <?(\d+)%", label) for label in labels]
    assert None not in found, labels
    return {each[1]: int(each[2]) / 100 for each in found if each}


def test_all_columns_move_when_a_bar_is_clicked(browser: Any, wall: str, learned: nbr.Reasoner) -> None:
    found = Seen(browser, wall)
    page = found.open()
    base = learned.probability("member").value
    assert shares(page, "member")["1"] == pytest.approx(base, abs=0.006)
    page.locator("[data-name=city] [data-value=Faro]").click()
    page.locator(".given .chip", has_text="city=Faro").wait_for()
    found.ready()
    wanted = learned.probability("member", given="city=Faro").value
    assert wanted > base + 0.2
    assert shares(page, "member")["1"] == pytest.approx(wanted, abs=0.006)
    assert shares(page, "city")["Faro"] == 1
    assert "without a condition" in page.locator("[data-name=member] [data-value='1']").get_attribute("title")
    assert page.locator("[data-name=city] [data-value=Faro]").get_attribute("aria-pressed") == "true"
    page.locator("[data-name=visits] .piece").last.click()
    page.locator(".given .chip").nth(1).wait_for()
    found.ready()
    page.get_by_role("button", name="List").click()
    page.get_by_label("Set visits").wait_for()
    found.close()


def test_bars_are_the_probabilities_of_what_they_set(learned: nbr.Reasoner) -> None:
    asked = ReasonerApi(learned, "model")
    told = asked.marginals(bodies.Marginals(given="member"), 20.0)
    assert told["exact"]
    for variable in told["variables"]:
        assert sum(bar["probability"] for bar in variable["bars"]) == pytest.approx(1, abs=1e-6)
    joined = next(each for each in told["variables"] if each["name"] == "joined")
    low, high = joined["bars"][2]["set"].split("..")
    wanted = learned.probability(f"joined>={low} & joined<{high}", given="member").value
    assert joined["bars"][2]["probability"] == pytest.approx(wanted, abs=1e-6)
    low, high = joined["bars"][2]["range"]
    assert low < wanted < high
    rows = 300 * learned.probability("member").value / learned.model.seen.dispersion
    assert joined["rows"] == pytest.approx(rows, rel=1e-6)


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("page", ["car", "customers", "digits"])
def test_nothing_is_wider_than_the_window(browser: Any, wall: str, digits: str, page: str, size: str) -> None:
    def look(address: str) -> None:
        found = Seen(browser, address, viewport=WIDTHS[size])
        shown = found.page
        shown.goto(address + ("/#q=crank&set.starts=0&set.resting=%3E%3D12" if page == "car" else "/"))
        if page == "digits":
            found.ready()
            draw_a_four(shown)
            shown.locator("#attack", has_text="A short attack needs a change of").wait_for()
        else:
            shown.locator(".variable .interval, .card .fill").first.wait_for(state="attached")
            if page == "car":
                shown.locator("#answer .number").first.wait_for()
            found.ready()  # intervals need more room than what waits for them
        assert shown.evaluate("document.documentElement.scrollWidth") <= WIDTHS[size]["width"]
        out = """() => [...document.querySelectorAll(".panel, .card, .given")].flatMap((card) => {
            const edge = card.getBoundingClientRect().right;
            const inside = [...card.querySelectorAll(".number, .interval, button, input, select, .legend, code")];
            return inside.filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > edge + 1)
                .map((each) => each.outerHTML.slice(0, 120));
        })"""
        assert shown.evaluate(out) == []
        hidden = """() => [...document.querySelectorAll(".label .threshold")].filter((each) =>
            each.checkVisibility() &&
            each.getBoundingClientRect().right > each.parentElement.getBoundingClientRect().right + 1
        ).map((each) => each.getAttribute("aria-label"))"""
        assert shown.evaluate(hidden) == []  # a field in a label that is cut off cannot be used
        found.close()

    if page == "car":
        with served(nbr.load(EXAMPLES / "car.toml"), "car.toml") as address:
            look(address)
    else:
        look(wall if page == "customers" else digits)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_the_wall(browser: Any, wall: str, scheme: str) -> None:
    found = Seen(browser, wall, color_scheme=scheme)
    page = found.open("/#set.member=1&q=city")
    page.locator("#answer .number").first.wait_for()
    assert judged(page) == []
    found.close()


def test_a_sample_to_start_from(browser: Any, digits: str) -> None:
    found = Seen(browser, digits)
    page = found.open()
    page.get_by_role("button", name="Example of 9, number 6").click()
    page.locator("#label", has_text="9").wait_for()
    page.locator("#attack", has_text="A short attack").wait_for()
    assert "pixels from 0 to 1" in str(page.locator("#proof").text_content())
    assert judged(page) == []
    found.close()
