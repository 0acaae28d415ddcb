"""Notes on stderr about what was asked or written that cannot be meant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nbr.errors import NbrError
from nbr.language import outside_domain, parse

if TYPE_CHECKING:
    from nbr.reasoner import Reasoner

MOST = 5


def noted(reasoner: Reasoner, model: Path, *statements: str | None) -> None:
    """Say which comparisons, in statements and in rules written by hand, no value or every value of a number meets."""
    said: list[tuple[int | None, str]] = [(None, words) for words in statements if words]
    if model.suffix.lower() == ".toml":
        said += [
            (number, rule.describe()) for number, rule in enumerate(reasoner.rules, 1) if hasattr(rule, "expression")
        ]
    notes = []
    for number, words in said:
        try:
            found = outside_domain(parse(words, reasoner.world), reasoner.world)
        except NbrError:  # told by whoever asks
            continue
        notes += [f"nbr: note: {'' if number is None else f'rule {number}: '}{note}" for note in found]
    for note in notes[:MOST]:
        print(note, file=sys.stderr)
