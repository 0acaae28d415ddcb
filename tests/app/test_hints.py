"""Every hint that the program prints about installing: the distribution is ours, and the extra exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from nbr.errors import DISTRIBUTION, install

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
SOURCE = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src" / "nbr").rglob("*.py")}
NO_EXTRA = ("pip install problog)",)  # what no extra brings: a package that only reads programs written for it


def test_every_extra_that_a_hint_names_exists() -> None:
    named = {extra for text in SOURCE.values() for extra in re.findall(r"""install\(["'](\w+)["']\)""", text)}
    named |= {extra for text in SOURCE.values() for extra in re.findall(rf"{DISTRIBUTION}\[(\w+)\]", text)}
    assert len(named) > 4
    assert named <= set(EXTRAS)


def test_no_hint_installs_another_project() -> None:
    for path, text in SOURCE.items():
        for hint in re.findall(r"pip install [^\n]*", text):
            ours = DISTRIBUTION in hint or "DISTRIBUTION" in hint
            assert ours or hint.startswith(NO_EXTRA), (path, hint)
    assert install("serve") == f"pip install '{DISTRIBUTION}[serve]'"
