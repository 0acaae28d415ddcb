"""Reports that are one HTML file, in a real browser: at two widths, light and dark, and judged by axe-core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nbr
from browsing import Seen, judged
from command import run
from nbr.paper import table1_report
from nbr.paper.table1 import TABLE_1, TrainedModel

ROOT = Path(__file__).parents[2]
WIDTHS = {"wide": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}
OUTSIDE = """() => [...document.querySelectorAll("main *")].filter((each) =>
    !each.closest(".table, figure") && each.getBoundingClientRect().right > window.innerWidth + 1
).map((each) => each.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One of each kind; those of Tables 2 and 3 are the ones that the documentation shows."""
    folder = tmp_path_factory.mktemp("reports")
    tables = [str(ROOT / "examples" / name) for name in ("survey.csv", "work.csv")]
    words = ["fit", *tables, "--rules", "clauses", "-o", str(folder / "m.nbr"), "--report", str(folder / "fit.html")]
    assert run(*words).returncode == 0
    model = nbr.load(ROOT / "examples" / "majority.toml")
    assert isinstance(model, nbr.Reasoner)
    answers = [question.exact for question in TABLE_1.questions]
    runs = [TrainedModel(name, seed, model, answers, 0.0, 1e-7, 20.0) for name in ("bits", "codes") for seed in (0, 1)]
    (folder / "table1.html").write_text(table1_report.page(runs), encoding="utf-8")
    committed = {name: ROOT / "docs" / "results" / f"{name}.html" for name in ("table2", "table3")}
    return {"fit": folder / "fit.html", "table1": folder / "table1.html", **committed}


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["fit", "table1", "table2", "table3"])
def test_a_report_fits_the_window_and_everybody_can_read_it(
    browser: Any, reports: dict[str, Path], name: str, scheme: str, size: str
) -> None:
    found = Seen(browser, reports[name].as_uri(), color_scheme=scheme, viewport=WIDTHS[size])
    page = found.page
    page.goto(found.address)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[size]["width"]
    assert page.evaluate(OUTSIDE) == []
    assert judged(page) == []
    page.keyboard.press("Tab")  # what is scrolled can be reached
    assert page.evaluate("document.activeElement.getAttribute('aria-label')")
    found.close()
