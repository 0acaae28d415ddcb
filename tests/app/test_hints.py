"""Every hint that the program prints about installing: the distribution is ours, and the extra exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from hints import printed
from nbr.errors import DISTRIBUTION, install

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
SOURCE = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src" / "nbr").rglob("*.py")}
NO_EXTRA = ("pip install problog)",)  # what no extra brings: a package that only reads programs written for it


def test_every_extra_that_a_hint_names_exists() -> None:
    found = printed()
    ours = {hint.removeprefix(f"pip install '{DISTRIBUTION}[").removesuffix("]'") for hint in found if "[" in hint}
    named = {extra for each in ours for extra in each.split(",")}
    assert named >= {"cli", "learn", "solve", "classify", "attack", "plot", "serve", "mcp", "database"}
    assert named <= set(EXTRAS)
    assert {hint for hint in found if "[" not in hint} == {
        "pip install problog"
    }  # it only reads what is written for it


def test_no_hint_installs_another_project() -> None:
    for path, text in SOURCE.items():
        for hint in re.findall(r"pip install [^\n]*", text):
            ours = DISTRIBUTION in hint or "DISTRIBUTION" in hint
            assert ours or hint.startswith(NO_EXTRA), (path, hint)
    assert install("serve") == f"pip install '{DISTRIBUTION}[serve]'"
