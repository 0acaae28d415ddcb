"""The public names of the package."""

from __future__ import annotations

import importlib
import re
import tomllib
from pathlib import Path
from unittest import mock

import pytest

import nbr
from nbr.errors import DISTRIBUTION, NbrError

ROOT = Path(__file__).parents[1]
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]


def test_every_public_name_is_there() -> None:
    assert all(getattr(nbr, name) is not None for name in nbr.__all__)
    assert set(nbr.__all__) <= set(dir(nbr))


@pytest.mark.parametrize(
    ("name", "missing", "extra"),
    [
        ("fit", "scipy", "learn"),
        ("Predictor", "sklearn", "learn,classify"),
        ("RobustClassifier", "sklearn", "classify"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(name: str, missing: str, extra: str) -> None:
    gone = ModuleNotFoundError(f"No module named {missing!r}", name=missing)
    with (
        mock.patch.object(importlib, "import_module", side_effect=gone),
        pytest.raises(NbrError, match=rf"nbr\.{name} needs {missing}: pip install 'neural-belief-reasoner\[{extra}\]'"),
    ):
        nbr.__getattr__(name)


def test_hints_install_this_project() -> None:
    """`nbr` on the package index is another project: no hint may name it."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == DISTRIBUTION
    wrong = [
        path.name
        for path in WRITTEN
        if re.search(r"pip install \W*nbr\b|\bnbr\[[a-z]", path.read_text(encoding="utf-8"))
    ]
    assert not wrong
