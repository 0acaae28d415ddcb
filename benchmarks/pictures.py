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
        intervals.Bar("not computed in time", (0.2, 0.35), (0.6, 0.8), often=0.45),
    ]
    drawn.intervals(bars, "", PICTURES / "intervals.svg")
    why = garden.explain("sprinkler", "grass=dry, rain")
    drawn.intervals(why.bars(), why.title, PICTURES / "explained.svg")
    drawn.rules(garden, PICTURES / "rules.svg")


def look() -> None:
    """Both pages: light, dark, and on a phone."""
    from browsing import chromium, draw_a_four
    from served import served

    wide, narrow = {"width": 1240, "height": 860}, {"width": 390, "height": 844}
    shapes = {"light": ("light", wide), "dark": ("dark", wide), "phone": ("light", narrow)}
    with chromium() as browser:
        for model, name in (("examples/garden.toml", "reasoner"), ("mnist-4-9", "classifier")):
            loaded = nbr.load(ROOT / model if model.endswith(".toml") else model)
            with served(loaded, Path(model).name) as address:
                for shape, (scheme, size) in shapes.items():
                    page = browser.new_context(color_scheme=scheme, viewport=size, device_scale_factor=1.5).new_page()
                    if name == "reasoner":
                        page.goto(f"{address}/#q=sprinkler&set.rain=1&set.grass=dry")
                        page.locator("#answer", has_text="plausibility 0.40").wait_for()
                    else:
                        page.goto(address)
                        draw_a_four(page)
                        page.locator("#attack", has_text="A short attack needs a change of").wait_for()
                    page.locator("main:not([aria-busy]):not(:has([aria-busy]))").wait_for()
                    page.screenshot(path=PICTURES / f"{name}-{shape}.png", full_page=True)
                    page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
