"""The rules of a model: how far each is believed, and which variables it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbr.plots import style

MOST = 60  # rules that are drawn
NAMED = 60  # variables that have room for their names
WIDE = 44  # letters of a rule


@dataclass(frozen=True)
class RuleLine:
    """A rule in words, its belief, and the variables that it reads."""

    words: str
    belief: float
    reads: frozenset[str]


def picture(rules: Sequence[RuleLine], variables: Sequence[str], kind: str) -> bytes:
    """The content of a file: png, svg or pdf."""
    shown, left = rules[:MOST], len(rules) - MOST
    high = 1.6 + 0.27 * max(1, len(shown))
    with style.drawing(7.5 + 0.2 * min(NAMED, len(variables)), high) as figure:
        axes: Any = figure.subplots(1, 2, sharey=True, width_ratios=[1, max(0.8, 0.09 * min(NAMED, len(variables)))])
        believed, matrix = axes
        believed.barh(range(len(shown)), [rule.belief for rule in shown], color=style.COLOURS[0], height=0.6)
        names = [f"{_short(rule.words)}   {place}" for place, rule in enumerate(shown, 1)]
        believed.set_yticks(range(len(shown)), names)
        believed.set(xlim=(0, 1), xlabel="belief", ylim=(len(shown) - 0.4, -0.6))
        believed.grid(axis="y", visible=False)
        column = {name: place for place, name in enumerate(variables)}
        dots = [(column[name], place) for place, rule in enumerate(shown) for name in sorted(rule.reads)]
        size = 36 if len(variables) <= NAMED else 6
        matrix.scatter([x for x, _ in dots], [y for _, y in dots], s=size, color=style.COLOURS[1])
        matrix.set(
            xlim=(-0.6, len(variables) - 0.4), xlabel="reads" + (f"   (and {left} more rules)" if left > 0 else "")
        )
        matrix.tick_params(axis="y", length=0)
        if len(variables) <= NAMED:
            matrix.set_xticks(range(len(variables)), variables, rotation=90)
        return style.saved(figure, kind)


def _short(words: str) -> str:
    return words if len(words) <= WIDE else words[: WIDE - 3] + "..."
