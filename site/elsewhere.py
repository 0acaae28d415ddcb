"""Pages that live beside docs/, and links between both: in the site docs/ is the top, in the repository it is not."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
TAKEN = [
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "examples/car.md",
    "examples/cellar.md",
    "examples/incident.md",
    "examples/two_tables.md",
]
COPIED = [
    "examples/garden.toml",
    "examples/majority.toml",
    "examples/car.toml",
    "examples/cellar.toml",
    "examples/incident.toml",
    "examples/two_tables.py",
]
OUTSIDE = re.compile(r"""<(?:script|link|img|iframe|video|source)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*""")
LINK = re.compile(r"(\]\()(?!\w+:|#)([^)\s#]+)")


def on_files(files: Files, config: Any, **_: Any) -> Files:
    for name in TAKEN:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    for name in COPIED:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links as the repository has them, turned into links of the site."""
    here = page.file.src_uri
    place = here if here in TAKEN else f"docs/{here}"

    def moved(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(place), found[2]))
        there = target.removeprefix("docs/")
        there = there.removesuffix(".ipynb") + ".md" if there.endswith(".ipynb") else there  # run, as a page
        return found[1] + posixpath.relpath(there, posixpath.dirname(here) or ".")

    return LINK.sub(moved, markdown)


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """A reader's browser asks nobody but the place that the site comes from."""
    if found := OUTSIDE.search(output):
        raise PluginError(f"{page.file.src_uri}: something is fetched from elsewhere: {found[0]}")
    return output
