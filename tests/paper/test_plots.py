"""Plots: every line can be told from the others without colour, and the file needs nothing else."""

from __future__ import annotations

import builtins
import re
import xml.etree.ElementTree as ElementTree

import matplotlib
import pytest

from nbr import NbrError, plots
from nbr.paper.curves import accuracy_curves

RADII = [0.0, 1.0, 2.0]


def rows(count: int) -> dict[str, list[float]]:
    return {f"kind {number}": [1.0, 0.5, number / 100] for number in range(count)}


def test_every_line_has_its_own_kind() -> None:
    kinds = list(zip(plots.COLOURS, plots.DASHES * 2, plots.MARKS, strict=False))
    in_grey = {(str(dash), mark) for _, dash, mark in kinds}
    assert len(in_grey) == len(plots.COLOURS) == 10


def test_curves_are_a_picture_on_their_own() -> None:
    drawn = accuracy_curves("title", RADII, rows(10), 100)
    ElementTree.fromstring(drawn)
    for words in ("title", "kind 0", "kind 9", "L2 length of the change"):
        assert words in drawn
    assert not re.search(r"(src|href|url\()=?.{0,2}http", drawn)
    assert drawn == accuracy_curves("title", RADII, rows(10), 100)


def test_few_lines_have_their_bands() -> None:
    few, many = (accuracy_curves("t", RADII, rows(count), 100).count("FillBetween") for count in (4, 5))
    assert (few, many) == (4, 0)


def test_the_callers_style_stays() -> None:
    before = dict(matplotlib.rcParams)
    accuracy_curves("t", RADII, rows(2), 100)
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    true = builtins.__import__

    def missing(name: str, *rest: object, **more: object) -> object:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name=name)
        return true(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(NbrError, match=r"pip install 'neural-belief-reasoner\[plot\]'"):
        accuracy_curves("t", RADII, rows(2), 100)
