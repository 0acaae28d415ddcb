"""The public names of the package."""

from __future__ import annotations

import importlib
from unittest import mock

import pytest

import nbr


def test_every_public_name_is_there() -> None:
    assert all(getattr(nbr, name) is not None for name in nbr.__all__)
    assert set(nbr._HOME) == set(nbr.__all__)


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
        pytest.raises(nbr.NbrError, match=rf"nbr\.{name} needs {missing}: pip install 'nbr\[{extra}\]'"),
    ):
        nbr.__getattr__(name)
