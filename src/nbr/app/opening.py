"""Models as commands open them: with the pictures that they are to see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nbr.errors import NbrError
from nbr.kinds import load_reasoner
from nbr.reasoner import Reasoner

Files = dict[str, str]


def opened(model: Path, see: list[str] | None) -> Reasoner:
    """A model that has seen the pictures of `--see NAME=FILE`, if there are any."""
    reasoner = load_reasoner(model)
    if not see:
        return reasoner
    found = reasoner.see(named(see))
    assert isinstance(found, Reasoner)
    return found


def named(see: Sequence[str]) -> Files:
    """The file of each variable."""
    found: Files = {}
    for each in see:
        name, equals, path = each.partition("=")
        if not equals or not name.strip() or not path:
            raise NbrError(f"--see takes a variable and its picture, such as --see d1=four.png, not {each!r}")
        if name.strip() in found:
            raise NbrError(f"--see gives two pictures of {name.strip()!r}")
        found[name.strip()] = path
    return found
