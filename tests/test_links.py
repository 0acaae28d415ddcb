"""Every link between pages of the repository leads somewhere, to its heading too; `make docs` checks the site."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """Headings as a site and a forge both name them: small letters, no punctuation, blanks as dashes."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if re.match(r"\w+:", target):
            continue
        place, _, heading = target.partition("#")
        there = (page.parent / place).resolve() if place else page
        assert there.exists(), f"{page.name}: {target}"
        if heading:
            assert heading in anchors(there), f"{page.name}: {target}"


def test_every_page_is_reached_from_the_first() -> None:
    """By links of pages, or by the list at the side of the site."""
    listed = (ROOT / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        assert str(page.relative_to(ROOT / "docs")) in listed, f"{page.name} belongs into nav of site/mkdocs.yml"
