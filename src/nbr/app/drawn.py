"""Pictures that commands write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbr.errors import NbrError
from nbr.plots import intervals as bars
from nbr.plots import rules as reads
from nbr.reasoner import Reasoner
from nbr.storage import write


def intervals(shown: Sequence[bars.IntervalBar], title: str, path: Path) -> None:
    """Answers as bars from belief to plausibility, one below the other."""
    write(path, bars.picture(shown, title, _kind(path)))


def rules(model: Any, path: Path) -> None:
    """How far each rule is believed, and which variables it reads."""
    if not isinstance(model, Reasoner):
        raise NbrError("--plot shows the rules of a reasoner; for a classifier, nbr classify shows which rules counted")
    shown = [reads.RuleLine(rule.name or rule.describe(), rule.degree, frozenset(rule.inputs)) for rule in model.rules]
    write(path, reads.picture(shown, list(model.latent.variables), _kind(path)))


def _kind(path: Path) -> str:
    return path.suffix.lstrip(".").lower() or "png"
