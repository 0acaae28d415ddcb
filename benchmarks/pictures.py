"""The pictures of docs/pictures, made anew: those that nbr draws, and the pages of nbr serve in a real browser.

python benchmarks/pictures.py            all of them
python benchmarks/pictures.py drawn      without a browser
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbr
from nbr.app import drawn
from nbr.plots import intervals

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT / "tests"))


def main(wanted: list[str]) -> None:
    draw()
    if "drawn" not in wanted:
        look()


def draw() -> None:
    """What `nbr ask`, `explain` and `show` draw; six answers in one picture."""
    garden = nbr.load(ROOT / "examples" / "garden.toml")
    majority = nbr.load(ROOT / "examples" / "majority.toml")
    assert isinstance(garden, nbr.Reasoner)
    assert isinstance(majority, nbr.Reasoner)
    quarrel = "x0=1, x1..x4=0, x6..x10=1"
    bars = [
        garden.ask("rain").bar("nothing is known"),
        garden.ask("rain", "grass=wet, ~sprinkler").bar("evidence for"),
        garden.ask("rain", "grass=dry").bar("evidence against"),
        majority.ask("x5", quarrel).bar("evidence for and against"),
        garden.ask("sprinkler", "grass=dry, rain").bar("conflict 0.90"),
        intervals.IntervalBar("not computed in time", (0.2, 0.35), (0.6, 0.8), often=0.45),
    ]
    drawn.intervals(bars, "", PICTURES / "intervals.svg")
    why = garden.explain("sprinkler", "grass=dry, rain")
    drawn.intervals(why.bars(), why.title, PICTURES / "explained.svg")
    drawn.rules(garden, PICTURES / "rules.svg")


def look() -> None:
    """Every page: light, dark, and on a phone."""
    from browsing import chromium, draw_a_four
    from served import served

    wide, narrow = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
    shapes = {"light": ("light", wide), "dark": ("dark", wide), "phone": ("light", narrow)}
    car = "#q=bad%5Bbattery%5D&set.starts=0&set.crank=slow&set.lights=dim"
    pages = {
        "reasoner": (
            nbr.load(ROOT / "examples" / "garden.toml"),
            "garden.toml",
            "#q=sprinkler&set.rain=1&set.grass=dry",
        ),
        "car": (nbr.load(ROOT / "examples" / "car.toml"), "car.toml", car),
        "wall": (customers(), "customers.nbr", "#set.city=Faro&q=member"),
        "classifier": (nbr.load("mnist-4-9"), "mnist-4-9", ""),
        "readings": (nbr.load(ROOT / "examples" / "check.toml"), "check.toml", "#q=d2%3D4&given=check%3D8"),
    }
    with chromium() as browser:
        for name, (model, title, rest) in pages.items():
            with served(model, title) as address:
                for shape, (scheme, size) in shapes.items():
                    page = browser.new_context(color_scheme=scheme, viewport=size, device_scale_factor=1).new_page()
                    page.set_default_timeout(120_000)
                    page.goto(f"{address}/{rest}")
                    if name == "classifier":
                        page.locator("#drawing").wait_for()
                        draw_a_four(page)
                        page.locator("#attack", has_text="A short attack needs a change of").wait_for()
                    elif name == "readings":
                        files = [ROOT / "examples" / "four.png", ROOT / "examples" / "nine.png"]
                        page.get_by_label("Choose a picture of d1").set_input_files(files)
                        page.get_by_text("The rules corrected d2").wait_for()
                    if name != "classifier":
                        page.locator(".why .words", has_text=".").wait_for()
                        page.locator("main:not([aria-busy]):not(:has([aria-busy]))").wait_for()
                    if name == "car" and shape != "phone":
                        page.get_by_label("Order of the variables").select_option("plausibility")
                    page.screenshot(path=PICTURES / f"{name}-{shape}.png")
                    page.context.close()


def customers() -> nbr.Reasoner:
    """A model learned from a table that is made up: labels, numbers, dates and holes."""
    import numpy as np
    import pandas as pd

    draw, rows = np.random.default_rng(0), 600
    city = draw.choice(["Lisbon", "Porto", "Braga", "Faro"], rows, p=[0.4, 0.3, 0.2, 0.1])
    age = np.clip(draw.normal(44, 14, rows), 18, 90).round().astype(int)
    member = draw.random(rows) < np.where(city == "Faro", 0.85, np.where(age > 50, 0.6, 0.25))
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(draw.integers(0, 1600, rows), "D")
    table = pd.DataFrame({"city": city, "age": age, "member": np.where(member, "yes", "no")})
    table["income"] = np.exp(draw.normal(7.4 + 0.25 * (city == "Lisbon"), 0.35)).round(-1)
    table["visits"] = draw.poisson(np.where(member, 6, 2))
    table["joined"] = days.strftime("%Y-%m-%d")
    table.loc[draw.random(rows) < 0.2, "income"] = None
    return nbr.fit(table, rules="clauses", seed=0)


if __name__ == "__main__":
    main(sys.argv[1:])
