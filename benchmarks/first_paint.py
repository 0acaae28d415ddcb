"""When the page of `nbr serve` is first painted, and when it shows the model: real Chromium, an empty cache each time.

    python benchmarks/first_paint.py [MODEL ...] [--times 15]

Milliseconds from the start of the navigation; the longest is printed, since one slow page is what a person meets.
On a busy machine everything is late: beside it stands how soon the browser paints /healthz, a dozen characters.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from browsing import chromium  # noqa: E402

PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("models", nargs="*", default=[str(ROOT / "examples" / "car.toml"), "mnist-4-9"])
    asked.add_argument("--times", type=int, default=15)
    told = asked.parse_args()
    with chromium() as browser:
        for model in told.models:
            seen = painted(browser, model, told.times)
            for what, place in (("painted", 0), ("model shown", 1), ("a dozen characters", 4)):
                each = sorted(round(found[place]) for found in seen)
                middle = round(statistics.median(each))
                print(f"{Path(model).name}, {what}: median {middle} ms, longest {each[-1]} ms, each {each}")
            print(f"{Path(model).name}: {seen[0][2] / 1000:.0f} KB in {seen[0][3]:.0f} requests")


def painted(browser: Any, model: str, times: int) -> list[tuple[float, float, float, float, float]]:
    """Of each visit: first paint, the model shown, bytes, requests, and the first paint of the short page."""
    command = [sys.executable, "-m", "nbr", "serve", model, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"http://127.0.0.1:\d+/", server.stderr.readline())
        assert found is not None
        try:
            return [visited(browser, found[0]) for _ in range(times)]
        finally:
            server.terminate()


def visited(browser: Any, address: str) -> tuple[float, float, float, float, float]:
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    page.locator("main.two").wait_for()
    shown = page.evaluate("performance.now()")
    size = page.evaluate("performance.getEntries().reduce((sum, each) => sum + (each.transferSize || 0), 0)")
    requests = page.evaluate("performance.getEntriesByType('resource').length") + 1
    paint = page.evaluate(PAINT)
    context.close()
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}healthz")
    while not page.evaluate(PAINT.replace("[0].startTime", ".length")):
        page.wait_for_timeout(20)
    short = page.evaluate(PAINT)
    context.close()
    return paint, shown, size, requests, short


if __name__ == "__main__":
    main()
