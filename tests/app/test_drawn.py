"""Pictures without the page: what commands write, what notebooks show, figures of matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command import run as nbr
from nbr import load, plots
from nbr.plots import intervals

GARDEN = Path(__file__).parents[2] / "examples" / "garden.toml"


def test_notebooks_show_bars() -> None:
    model = load(GARDEN)
    answer = model.ask("rain", "grass=wet, ~sprinkler")
    assert "width:70.00%" in answer._repr_html_()
    assert "because of rule 2" in model.explain("rain", "grass=wet, ~sprinkler")._repr_html_()
    assert "<code>rain -&gt; grass=wet</code>" in model._repr_html_()
    ranked = model.rank("grass", "rain")._repr_html_()
    assert ranked.index("wet") < ranked.index("dry")


def test_figures_of_matplotlib() -> None:
    """Solid up to belief, hatched up to plausibility, and what each rule changes below."""
    model, given = load(GARDEN), "grass=wet, ~sprinkler"
    (axes,) = model.ask("rain", given).plot().axes
    assert [(bar.get_x(), round(bar.get_width(), 9), bar.get_hatch()) for bar in axes.patches] == [
        (0, 0.7, None),
        (0.7, 0.3, "///"),
    ]
    (axes,) = model.explain("rain", given).plot().axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["the answer", "without 2: grass=wet -> rain | sprinkler"]
    (axes,) = model.rank("grass", "rain").plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["wet", "dry"]


def test_what_was_not_computed_is_drawn_apart() -> None:
    (axes,) = intervals.show([intervals.IntervalBar("x", (0.1, 0.2), (0.6, 0.9), often=0.5)]).axes
    drawn = [(bar.get_x(), round(bar.get_x() + bar.get_width(), 9), bar.get_hatch()) for bar in axes.patches]
    assert drawn == [(0, 0.1, None), (0.1, 0.2, "|||"), (0.2, 0.6, "///"), (0.6, 0.9, "|||")]
    assert "not computed (upright lines), probability (line)" in axes.get_xlabel()
    crossed = intervals.IntervalBar("x", (0.1, 0.7), (0.6, 0.9))  # nothing is sure to be ignorance
    assert crossed.pieces == (0.1, 0.9, 0.9, 0.9)


def test_a_picture_of_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.svg"
    assert nbr("show", GARDEN, "--plot", path).returncode == 0
    text = path.read_text()
    assert all(words in text for words in ("sprinkler -&gt; ~rain", "belief", "reads", "grass"))
    refused = nbr("show", "mnist-4-9", "--plot", tmp_path / "c.svg")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "c.svg").exists()


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures_are_in_the_one_style(ending: str, start: bytes, tmp_path) -> None:
    path = tmp_path / f"a.{ending}"
    done = nbr("ask", GARDEN, "rain", "--given", "grass=wet", "--plot", path)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes().startswith(start)
    if ending == "svg":
        assert plots.COLOURS[0] in path.read_text()


def test_a_picture_of_another_kind_is_refused(tmp_path) -> None:
    done = nbr("ask", GARDEN, "rain", "--plot", tmp_path / "a.docx")
    assert done.returncode == 2
    assert "a picture is saved as .png, .svg or .pdf, not as .docx" in done.stderr


def test_a_verdict_in_a_notebook() -> None:
    classifier = load("mnist-4-9")
    verdict = classifier.verdict(np.zeros((21, 784)))
    shown = verdict._repr_html_()
    assert "<td style='text-align:left'>4</td>" in shown
    assert "and 1 more" in shown
    assert "more" not in classifier.verdict(np.zeros((20, 784)))._repr_html_()
    assert f"{verdict.radius[0]:.4f}" in shown
