"""Explanations as text for a terminal, and as a picture."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from nbr import plots
from nbr.app import screen
from nbr.asking.answer import Answer
from nbr.asking.explanation import Explanation, Point
from nbr.storage.atomic import write

SHOWN = 8  # lines of each list


def text(found: Explanation) -> str:
    """Words that a person reads first, then tables."""
    lines = [screen.answer(found.answer, found.probability), "", *(f"  {line}" for line in _wrapped(found.words()))]
    if found.effects:
        lines += ["", "  without rule                                     the answer would be"]
        computed = [effect for effect in found.effects if effect.computed(found.answer)]
        for effect in computed[:SHOWN]:
            without, said = effect.without, _short(effect.text, 36)
            numbers = f"[{without.belief:.4f}, {without.plausibility:.4f}], conflict {without.conflict:.4f}"
            lines.append(f"  {effect.rule:>4}  {effect.belief:.2f}  {said:<36} {numbers}")
        lines += _more(len(computed))
        if left := len(found.effects) - len(computed):
            lines.append(f"    {left} rule{'s' * (left > 1)} not looked at in time: give a larger --budget")
    lines += _sets("rules that together entail it", found.supports, found.supports_complete)
    lines += _sets("rules that cannot all hold", found.conflicts, found.conflicts_complete)
    lines += _point("possible, for example", found.witness) + _point("against, for example", found.counter)
    useful = [each for each in found.next if each.gap < found.answer.ignorance - 1e-9]
    if useful:
        lines += ["", "  to observe next                                  mean gap then"]
        lines += [f"    {each.variable:<46} {each.gap:.4f}" for each in useful[:SHOWN]] + _more(len(useful))
    if found.at_half:
        lines += ["", f"  in sets of rules, {_numbers(found.at_half)} counts as satisfied from grade 1/2 on"]
    return "\n".join(lines)


def draw(found: Explanation, path: Path) -> None:
    """The interval of the answer above those without each rule."""
    shown = [each for each in found.effects if each.computed(found.answer)][:12]
    given = f"   given   {found.answer.given}" if found.answer.given else ""
    rows = [("the answer", found.answer), *((f"without {e.rule}: {_short(e.text, 40)}", e.without) for e in shown)]
    draw_answers(rows, path, found.answer.question + given)


def draw_answers(rows: list[tuple[str, Answer]], path: Path, title: str = "") -> None:
    """Answers as bars from belief to plausibility, one below the other, the first one dark."""
    write(path, _picture(rows, title, path.suffix.lstrip(".").lower() or "png"))


def _picture(rows: list[tuple[str, Answer]], title: str, kind: str) -> bytes:
    with plots.drawing(9, 1.6 + 0.42 * len(rows)) as figure:
        axes: Any = figure.subplots()
        for place, (_, answer) in enumerate(rows):
            dark = plots.QUIET if place else plots.COLOURS[0]
            unknown = {"color": plots.PALE, "hatch": plots.HATCH, "edgecolor": dark}
            axes.barh(place, answer.belief, color=dark, height=0.6)
            axes.barh(place, answer.ignorance, left=answer.belief, height=0.6, **unknown)
            axes.text(1.01, place, f"[{answer.belief:.2f}, {answer.plausibility:.2f}]", va="center")
        axes.set_yticks(range(len(rows)), [name for name, _ in rows])
        axes.grid(axis="y", visible=False)
        axes.invert_yaxis()
        axes.set(title=title, xlim=(0, 1), xlabel="evidence for (solid), not known (hatched), evidence against (blank)")
        return plots.saved(figure, kind)


def _sets(title: str, sets: list[list[int]], complete: bool) -> list[str]:
    if not sets:
        return [] if complete else ["", f"  {title}: not found in time"]
    shown = [f"    {_numbers(each)}" for each in sets[:SHOWN]]
    rest = "" if complete else "   (there may be more)"
    return ["", f"  {title}, the most probable first{rest}", *shown, *_more(len(sets))]


def _numbers(rules: list[int] | tuple[int, ...]) -> str:
    if not rules:
        return "no rule: the condition alone"
    words = [str(rule) for rule in rules]
    return f"rule {words[0]}" if len(words) == 1 else f"rules {', '.join(words[:-1])} and {words[-1]}"


def _point(title: str, point: Point | None) -> list[str]:
    if point is None:
        return []
    broken = f"breaks {_numbers(point.breaks)}" if point.breaks else "breaks no rule"
    return ["", f"  {title} ({broken})", *(f"    {line}" for line in _wrapped(str(point)))]


def _more(count: int) -> list[str]:
    return [f"    and {count - SHOWN} more"] if count > SHOWN else []


def _short(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 3] + "..."


def _wrapped(words: str, width: int = 100) -> list[str]:
    return textwrap.wrap(words, width)
