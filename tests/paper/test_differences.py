"""Every figure of the paper has a reason for the case that ours differs, and the report says it beside the figure."""

from __future__ import annotations

import re

import pytest

from nbr.paper import attack_report, table2, table3
from nbr.paper.differences import WHY, differences


def row(name: str, paper: dict[str, float], off: float) -> dict[str, object]:
    ours = {figure: min(100.0, max(0.0, value + off)) for figure, value in paper.items()}
    left = {figure: value for figure, value in ours.items() if figure not in ("natural", "attacked")}
    told = {"classifier": name, "images": 1991, "natural": ours["natural"], "left_by": left, "proved": 0.0}
    return {**told, "attacked": ours["attacked"], "paper": paper}


@pytest.mark.parametrize("paper", [table2.PAPER, table3.PAPER])
def test_every_figure_of_the_paper_has_a_reason(paper) -> None:
    for name, figures in paper.items():
        if name == "NBR":
            assert set(figures) <= set(WHY[name])
        else:
            assert set(figures) == set(WHY[name])


def test_figures_that_differ_by_more_than_chance_have_a_number_and_a_reason() -> None:
    near = row("Madry", table2.PAPER["Madry"], 0.1)
    far = row("vanilla", {**table2.PAPER["vanilla"], "natural": 90.0}, 5.0)
    found = differences([near, far])
    assert {(each.classifier, each.figure) for each in found} == {("vanilla", name) for name in far["paper"]}
    page = attack_report.page("Table 2", [near, far], [], [], "how")
    numbers = re.findall(r'href="#differs-(\d+)"', page)
    assert numbers == [str(number) for number in range(1, len(found) + 1)]
    assert all(f'id="differs-{number}"' in page for number in numbers)
    assert "vanilla, without attack</b>: 95.0, in the paper 90.0; another network" in page
    assert "vanilla, all attacks</b>: 5.0, in the paper 0.0" in page


def test_without_a_difference_the_page_says_so() -> None:
    page = attack_report.page("Table 2", [row("Madry", table2.PAPER["Madry"], 0.0)], [], [], "how")
    assert "No figure differs from the paper" in page
    assert "differs-1" not in page
