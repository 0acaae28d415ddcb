"""The command that asks for all values of all variables, and its screen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbr.app import screen
from nbr.app.opening import opened
from nbr.asking import AskSettings, Everything, Weighed, every_value
from nbr.errors import NbrError

NAME, VALUE = 14, 18  # columns of the screen at most
NUMBER, ENDS = 6, 16  # and those of numbers: 0.1234, [0.1234, 0.1234]
BAR = 16
LACKING = "-"


def answered(
    model: Path,
    whole: bool,
    others: Mapping[str, object],
    given: str | None,
    belief: bool,
    settings: dict[str, Any],
    as_json: bool,
    see: list[str] | None = None,
) -> str:
    """All values of all variables; `others` is what else was asked for, which does not go together."""
    if not whole:
        raise NbrError("--belief needs --all; a single question always shows its belief")
    for what, value in others.items():
        if value is not None:
            raise NbrError(f"--all shows the values of all variables, and cannot be combined with {what}")
    reasoner = opened(model, see)
    (found,) = every_value(reasoner.model, [given], belief, AskSettings(**settings))
    if as_json:
        return json.dumps(found.as_json())
    return shown(found, belief, base_rates=reasoner.model.prior is not None)


def shown(found: Everything, belief: bool, *, base_rates: bool) -> str:
    """A line for each value, within 80 columns; the bar is of belief and plausibility where they are asked for."""
    name = min(NAME, max(map(len, found.variables)))
    width = min(VALUE, max(len(each.value) for values in found.variables.values() for each in values))
    kinds = "probability and [belief, plausibility]" if belief else "probability"
    lines = [kinds + (f"   given   {found.given}" if found.given else ""), ""]
    for variable, values in found.variables.items():
        for number, each in enumerate(values):
            head = f"  {_cut('' if number else variable, name):<{name}}  {_cut(each.value, width):<{width}}"
            lines.append(f"{head}  {_numbers(each, belief)}".rstrip())
    if any(LACKING in line[name + width + 4 :].split() for line in lines[2:]):
        lines += ["", "  (-: not computed)"]
    notes = [*found.notes, *([] if base_rates else ["no base rates: rules apart, all points count equally"])]
    return "\n".join([*lines, *([""] if notes else []), *(f"  ({note})" for note in notes)])


def _numbers(each: Weighed, belief: bool) -> str:
    likely = LACKING if each.probability is None else f"{each.probability:.4f}"
    if not belief:
        share = (each.probability or 0.0,) * 2
        ends = "" if each.range is None else f"{each.range[0]:.4f} to {each.range[1]:.4f}"
        bar = screen.cells(share, share, BAR if ends else 2 * BAR)
        return f"{likely:<{NUMBER}}  {ends and f'{ends}  '}{'' if each.probability is None else bar}"
    if each.answer is None or each.belief is None or each.plausibility is None:
        return f"{likely:<{NUMBER}}  {LACKING:<{ENDS}}  {screen.cells((0.0, 1.0), (0.0, 1.0), BAR)}"
    ends = f"[{each.belief:.4f}, {each.plausibility:.4f}]"
    return (
        f"{likely:<{NUMBER}}  {ends}  {screen.cells(each.answer.bounds.belief, each.answer.bounds.plausibility, BAR)}"
    )


def _cut(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 1] + "…"
