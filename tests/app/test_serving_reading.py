"""Pictures for the variables of a model that is served: what is read, and how questions change."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import nbr
from browsing import Seen, judged
from served import served

EXAMPLES = Path(__file__).parents[2] / "examples"


def picture(name: str) -> str:
    return base64.b64encode((EXAMPLES / name).read_bytes()).decode()


SEE = {"d1": picture("four.png"), "d2": picture("nine.png")}


@pytest.fixture(scope="module")
def numbers() -> Iterator[str]:
    with served(nbr.load(EXAMPLES / "check.toml"), "check.toml", path=EXAMPLES / "check.toml") as address:
        yield address


@pytest.fixture(scope="module")
def eyes(numbers: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=numbers, timeout=120) as found:
        yield found


def test_a_reading_is_that_of_python(eyes: httpx.Client) -> None:
    sensors = eyes.get("/api/model").json()["sensors"]
    assert {name: each["shape"] for name, each in sensors.items()} == {"d1": [28, 28], "d2": [28, 28]}
    seen = nbr.load(EXAMPLES / "check.toml").see(d1=EXAMPLES / "four.png", d2=EXAMPLES / "nine.png")
    for given in ("check=3", "check=8"):
        told = eyes.post("/api/read", json={"see": SEE, "given": given}).json()
        best = seen.best(given)
        assert told["point"] == best.point
        assert [each["rule"] for each in told["broken"]] == list(best.broken)
        assert told["radius"] == pytest.approx(seen.certified_radius(given=given))
        asked = [each["question"] for each in told["pictures"].values()]
        assert asked == [f"{name}={best.point[name]}" for name in SEE]
    assert told["corrected"] == ["d2"]
    assert told["broken"][0]["text"] == "d2!=4 (picture of d2, network 4 against 9)"
    assert (told["pictures"]["d2"]["alone"], told["pictures"]["d2"]["value"]) == ("9", "4")
    assert told["pictures"]["d2"]["shows"]["9"] == 1
    assert told["proved_of"] == "prepared picture"


def test_questions_are_asked_of_what_is_seen(eyes: httpx.Client) -> None:
    body = {"question": "d2=4", "given": "check=8", "see": SEE}
    told = eyes.post("/api/ask", json=body).json()
    model = nbr.load(EXAMPLES / "check.toml")
    right = model.see(d1=EXAMPLES / "four.png", d2=EXAMPLES / "nine.png").ask("d2=4", "check=8")
    assert told["belief"] == pytest.approx(right.belief)
    several = {"questions": ["d2=4"], "given": "check=8", "see": SEE}
    (many,) = eyes.post("/api/ask-many", json=several).json()["answers"]
    assert many["belief"] == pytest.approx(right.belief)
    why = eyes.post("/api/explain", json=body).json()
    assert "d2!=4 (picture of d2, network 4 against 9)" in {rule["text"] for rule in why["rules"]}
    without = eyes.post("/api/ask", json={**body, "off": [1]}).json()
    assert without["belief"] < 0.02  # without the rule a nine is a nine
    blind = eyes.post("/api/ask", json={"question": "d2=4"}).json()
    assert (blind["belief"], blind["plausibility"]) == (0, 1)


@pytest.mark.parametrize(
    ("see", "words"),
    [
        ({}, "there is nothing to see: give a picture of at least one variable"),
        ({"d3": SEE["d1"]}, "'d3' has no sensor that takes pictures; there are d1, d2"),
        ({"check": SEE["d1"]}, "'check' has no sensor that takes pictures"),
        ({"d1": "no base64!"}, "the picture of 'd1': the picture is not base64"),
        (
            {"d1": base64.b64encode(b"text").decode()},
            "the picture of 'd1': the picture: not a picture that can be read",
        ),
    ],
)
def test_pictures_that_make_no_sense(eyes: httpx.Client, see: dict[str, str], words: str) -> None:
    found = eyes.post("/api/read", json={"see": see})
    assert found.status_code == 400
    assert words in found.json()["error"]
    if see:
        asked = eyes.post("/api/ask", json={"question": "d1=4", "see": see})
        assert (asked.status_code, words in asked.json()["error"]) == (400, True)


def test_a_condition_that_no_reading_meets(eyes: httpx.Client) -> None:
    found = eyes.post("/api/read", json={"see": SEE, "given": "check=8, check=3"})
    assert found.status_code == 400
    assert "no point of the world meets it" in found.json()["error"]


def test_a_model_without_sensors_sees_nothing(client: httpx.Client) -> None:
    assert client.get("/api/model").json()["sensors"] == {}
    found = client.post("/api/read", json={"see": SEE})
    assert (found.status_code, "'d1' has no sensor" in found.json()["error"]) == (400, True)


def test_pictures_on_the_page(numbers: str, browser: Any) -> None:
    found = Seen(browser, numbers)
    page = found.open()
    files = [EXAMPLES / "four.png", EXAMPLES / "nine.png"]
    page.get_by_label("Choose a picture of d1").set_input_files(files)  # the second one goes to the next place
    page.locator("#reading", has_text="Read together: d1=4, d2=9, check=3").wait_for()
    page.locator(
        "#proof", has_text="not of the files: no change of all of them together of L2 length 1.03 or"
    ).wait_for()
    page.locator("#given").fill("check=8")
    page.keyboard.press("Enter")
    page.locator("[data-name='d2'].tile .bar[aria-label^='d2=4: belief 0.56, plausibility 0.56']").wait_for()
    page.get_by_text("The rules corrected d2: its picture alone shows 9, with the others it is 4.").wait_for()
    page.get_by_text("This reading goes against 1 rule; 0.01 of its plausibility is left").click()
    page.get_by_text("d2!=4 (picture of d2, network 4 against 9) belief 0.99").wait_for()
    page.locator("#question").fill("d2=4")
    page.keyboard.press("Enter")
    page.locator("#answer .belief b", has_text="0.56").wait_for()
    page.locator(".rule", has_text="d2!=4 (picture of d2, network 4 against 9)").filter(has_text="seen").wait_for()
    page.get_by_label("Clear the picture of d2").click()
    page.locator("#reading", has_text="Read together: d1=4, d2=4, check=8").wait_for()
    page.get_by_label("Clear the picture of d1").click()
    page.locator("#reading").wait_for(state="hidden")
    found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 860), (390, 844)])
def test_everybody_can_read_several_pictures(numbers: str, browser: Any, scheme: str, width: int, height: int) -> None:
    found = Seen(browser, numbers, color_scheme=scheme, viewport={"width": width, "height": height})
    page = found.open("/#q=d2%3D4&given=check%3D8")
    files = [EXAMPLES / "four.png", EXAMPLES / "nine.png"]
    page.get_by_label("Choose a picture of d1").set_input_files(files)
    page.get_by_text("The rules corrected d2: its picture alone shows 9, with the others it is 4.").wait_for()
    page.locator("#answer .belief b", has_text="0.56").wait_for()
    found.ready()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    past = """() => [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility() &&
        each.getBoundingClientRect().right > window.innerWidth + 1).map((each) => each.outerHTML.slice(0, 120))"""
    assert page.evaluate(past) == []
    assert judged(page) == []
    found.close()


def test_a_digit_is_drawn_for_a_variable(numbers: str, browser: Any) -> None:
    found = Seen(browser, numbers)
    page = found.open()
    box = page.locator("[data-name='d2'].tile canvas").bounding_box()
    for stroke in ([(95, 60), (80, 150), (195, 150)], [(185, 60), (180, 240)]):
        (first, *others) = [(box["x"] + x * box["width"] / 280, box["y"] + y * box["width"] / 280) for x, y in stroke]
        page.mouse.move(*first)
        page.mouse.down()
        for place in others:
            page.mouse.move(*place, steps=8)
        page.mouse.up()
    page.locator("[data-name='d2'].tile .read b", has_text="4").wait_for()
    found.close()
